//! Sends log lines to standard error and spans to the trace collector.

use crate::telemetry::Spans;

/// Lets the server's log be seen on standard error. `BATON_LOG` says how much: `info`, or `baton_server=debug`. Spans
/// go to the collector, too, where there is one, however little is seen here.
pub fn show_logs(spans: Option<Spans>) {
    use tracing_subscriber::Layer;
    use tracing_subscriber::filter::{LevelFilter, Targets};
    use tracing_subscriber::layer::SubscriberExt;
    use tracing_subscriber::util::SubscriberInitExt;
    let wanted = std::env::var("BATON_LOG").ok().and_then(|text| text.parse::<Targets>().ok());
    let seen = wanted.unwrap_or_else(|| Targets::new().with_default(LevelFilter::WARN));
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false);
    let told = Targets::new().with_target("baton_server", LevelFilter::INFO);
    let layers = tracing_subscriber::registry()
        .with(lines.with_filter(seen))
        .with(spans.map(|spans| spans.with_filter(told)));
    // It is set already when somebody else in this process was first.
    let _ = layers.try_init();
}
