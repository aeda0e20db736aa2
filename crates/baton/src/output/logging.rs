//! Sends log lines to standard error and spans to the trace collector.

use crate::telemetry::Spans;

/// Prints log lines to standard error. `BATON_LOG` sets the level: `info`, or `baton_server=debug`. Spans go to the
/// trace collector whatever that level is.
pub(crate) fn show_logs(spans: Option<Spans>) {
    use tracing_subscriber::Layer;
    use tracing_subscriber::filter::{LevelFilter, Targets};
    use tracing_subscriber::layer::SubscriberExt;
    use tracing_subscriber::util::SubscriberInitExt;
    let wanted = std::env::var("BATON_LOG").ok().and_then(|text| text.parse::<Targets>().ok());
    let printed = wanted.unwrap_or_else(|| Targets::new().with_default(LevelFilter::WARN));
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false);
    let exported = Targets::new().with_target("baton_server", LevelFilter::INFO);
    let layers = tracing_subscriber::registry()
        .with(lines.with_filter(printed))
        .with(spans.map(|spans| spans.with_filter(exported)));
    // Fails if a subscriber is already set, as in tests.
    let _ = layers.try_init();
}
