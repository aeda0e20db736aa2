//! The log on standard error: how much of it (`BATON_LOG`), and in which form.

use std::io;

use clap::ValueEnum;
use tracing_opentelemetry::OpenTelemetryLayer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, fmt};

use super::Telemetry;
use crate::error::CliError;
use crate::output;

/// What is shown where nobody asked for more.
const DEFAULT: &str = "warn";
/// Libraries that say much at debug level that explains nothing of Baton's. Named in `BATON_LOG`, they speak too.
const QUIET: &str = "hyper=info,hyper_util=info,opentelemetry=info,opentelemetry_otlp=info,opentelemetry_sdk=info,\
                     reqwest=info,rmcp=info,rustls=info,tokio_postgres=info";

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Lines for people
    #[default]
    Text,
    /// One JSON object per line, for programs; everything on standard error is one
    Json,
}

/// Starts the log. `BATON_LOG` is a level or a list such as `info,baton_engine=debug` or `[{task=TASK-1}]=debug`. Spans go
/// to the collector, too, where there is one, however little is shown here.
pub(crate) fn show_logs(format: LogFormat, telemetry: Option<&Telemetry>) -> Result<(), CliError> {
    let wanted = std::env::var("BATON_LOG").ok().filter(|text| !text.trim().is_empty());
    let filter = filter(wanted.as_deref().unwrap_or(DEFAULT))?;
    let lines = fmt::layer().with_writer(io::stderr).with_ansi(false);
    let lines = match format {
        LogFormat::Text => lines.with_filter(filter).boxed(),
        LogFormat::Json => lines.json().flatten_event(true).with_filter(output::spoken_in(filter)).boxed(),
    };
    let spans = telemetry.map(|telemetry| {
        OpenTelemetryLayer::new(telemetry.tracer())
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_tracked_inactivity(false)
            .with_filter(Targets::new().with_target("baton", LevelFilter::INFO))
    });
    // Fails when another server in this process was first, as in tests.
    let _ = tracing_subscriber::registry().with(lines).with(spans).try_init();
    if format == LogFormat::Json {
        output::speak_json();
    }
    Ok(())
}

fn filter(wanted: &str) -> Result<EnvFilter, CliError> {
    EnvFilter::builder().parse(format!("{QUIET},{wanted}")).map_err(|error| {
        CliError::usage(
            format!("BATON_LOG is \"{wanted}\": {error}"),
            "use a level such as debug, or a list such as info,baton_engine=debug",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_targets_and_fields_filter_and_mistakes_are_named() {
        for good in ["debug", "info,baton_engine=debug", "warn,[{task=TASK-1}]=debug", "hyper=trace"] {
            filter(good).unwrap();
        }
        let fault = filter("baton_engine=loud").unwrap_err();
        assert!(fault.message.contains("baton_engine=loud"), "{}", fault.message);
    }
}
