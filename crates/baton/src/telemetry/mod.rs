//! Traces for a collector elsewhere, by OTLP over HTTP. Off unless `[telemetry] otlp` names one.
//!
//! Requests never wait for it: spans go into a bounded queue, what does not fit is counted and dropped, and a collector
//! that is away costs a line in the log.

mod exporter;
mod span;
mod spans;

use std::time::Duration;

use baton_server::client::Address;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::error::CliError;
use crate::telemetry::exporter::Exporter;
pub use crate::telemetry::spans::Spans;

/// Spans that wait to be sent. One request makes one.
const WAITING_MAX: usize = 2_048;
/// How long the end of the program waits for the last of them.
const ENDING_PATIENCE: Duration = Duration::from_secs(3);

/// What carries the spans away; ended last, so that the last requests are told of too.
pub struct Telemetry {
    stop: watch::Sender<bool>,
    sending: JoinHandle<()>,
}

impl Telemetry {
    /// For the collector at `endpoint`, such as `http://localhost:4318`.
    pub fn start(endpoint: &str, namespace: &str) -> Result<(Spans, Self), CliError> {
        let (address, path) = split(endpoint)?;
        let (sender, waiting) = mpsc::channel(WAITING_MAX);
        let spans = Spans::new(sender);
        let (stop, stopping) = watch::channel(false);
        let exporter = Exporter::new(address, path, namespace, spans.dropped());
        let sending = tokio::spawn(exporter.run(waiting, stopping));
        Ok((spans, Self { stop, sending }))
    }

    pub async fn end(self) {
        let _ = self.stop.send(true);
        // Whoever ends waits for nobody for long; what is left then is lost, as it may be.
        let _ = timeout(ENDING_PATIENCE, self.sending).await;
    }
}

/// Where the collector is, and where in it traces go.
fn split(endpoint: &str) -> Result<(Address, String), CliError> {
    let rest = endpoint.trim_end_matches('/').strip_prefix("http://").unwrap_or_default();
    let (authority, folder) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let address = Address::new(&format!("http://{authority}"), None).map_err(|_| {
        CliError::usage(
            format!("\"{endpoint}\" is not the address of a collector"),
            "it looks like http://localhost:4318; for https, run a collector here that passes traces on",
        )
    })?;
    Ok((address, format!("{folder}/v1/traces")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_http_with_or_without_a_path() {
        for (endpoint, path) in [
            ("http://localhost:4318", "/v1/traces"),
            ("http://localhost:4318/", "/v1/traces"),
            ("http://collector/otel/", "/otel/v1/traces"),
        ] {
            assert_eq!(split(endpoint).unwrap().1, path, "{endpoint}");
        }
        for bad in ["", "localhost:4318", "https://localhost:4318", "http://", "http://a b"] {
            assert_eq!(split(bad).unwrap_err().code, crate::error::USAGE, "{bad}");
        }
    }
}
