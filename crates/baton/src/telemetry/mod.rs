//! Logs on standard error, and traces for a collector by OTLP over HTTP.
//!
//! Without a collector no trace code runs. With one, spans go into a bounded queue that a thread of the SDK sends in
//! batches: a collector that is slow or away costs dropped spans and a line in the log, never time of the work.

mod exporter;
mod logs;
mod task_trace;
mod transport;

use std::path::Path;
use std::time::Duration;

use baton_engine::base::http_client;
use opentelemetry::KeyValue;
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::resource::{EnvResourceDetector, TelemetryResourceDetector};
use opentelemetry_sdk::trace::SdkTracerProvider;
use reqwest::Url;

use self::exporter::Exporter;
pub(crate) use self::logs::{LogFormat, show_logs};
use self::task_trace::{TaskIdGenerator, TaskTracer};
use self::transport::OtlpTransport;
use crate::error::CliError;

/// For one delivery, from connecting to the response.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the end of the program waits for the last spans.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);

/// Ended last, so that the spans of the last requests are sent too.
pub(crate) struct Telemetry {
    provider: SdkTracerProvider,
    namespace: String,
}

impl Telemetry {
    /// Starts sending to the collector, if there is one: `otlp` is its address from the settings, such as
    /// `http://localhost:4318`. `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` names the whole address and wins over it.
    /// `OTEL_EXPORTER_OTLP_HEADERS`, `_CERTIFICATE`, `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_BSP_*` and the other variables
    /// of the specification count as well.
    pub(crate) fn start(otlp: Option<&str>, namespace: &str) -> Result<Option<Self>, CliError> {
        if variable(&["OTEL_SDK_DISABLED"]).is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            return Ok(None);
        }
        let endpoint = match (variable(&["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"]), otlp) {
            (Some(whole), _) => checked(&whole)?,
            (None, Some(base)) => checked(&format!("{}/v1/traces", base.trim_end_matches('/')))?,
            (None, None) => return Ok(None),
        };
        let root = variable(&["OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE", "OTEL_EXPORTER_OTLP_CERTIFICATE"]);
        let unusable = |why: String| CliError::usage(why, "check the OTEL_EXPORTER_OTLP_… variables");
        let client = http_client::build(EXPORT_TIMEOUT, root.as_deref().map(Path::new)).map_err(unusable)?;
        let exporter = SpanExporter::builder()
            .with_http()
            .with_endpoint(endpoint)
            .with_http_client(OtlpTransport::new(client))
            .build()
            .map_err(|error| unusable(error.to_string()))?;
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(Exporter::new(exporter))
            .with_id_generator(TaskIdGenerator::default())
            .with_resource(resource(namespace))
            .build();
        Ok(Some(Self { provider, namespace: namespace.to_owned() }))
    }

    fn tracer(&self) -> TaskTracer {
        TaskTracer::new(self.provider.tracer("baton"), self.namespace.clone())
    }

    /// Sends what is left, for as long as that may take at the end of the program.
    pub(crate) async fn end(self) {
        // It blocks, and sends through the runtime this runs in.
        let shutdown = move || self.provider.shutdown_with_timeout(SHUTDOWN_TIMEOUT);
        if let Ok(Err(error)) = tokio::task::spawn_blocking(shutdown).await {
            tracing::warn!(%error, "some traces were not sent");
        }
    }
}

/// The first of these environment variables that is set and not empty.
fn variable(names: &[&str]) -> Option<String> {
    names.iter().filter_map(|name| std::env::var(name).ok()).find(|value| !value.is_empty())
}

fn resource(namespace: &str) -> Resource {
    let own = [
        KeyValue::new("service.name", "baton"),
        KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
        KeyValue::new("service.namespace", namespace.to_owned()),
    ];
    // What people set wins over what Baton says of itself.
    let builder = Resource::builder_empty()
        .with_detector(Box::new(TelemetryResourceDetector))
        .with_attributes(own)
        .with_detector(Box::new(EnvResourceDetector::new()));
    match variable(&["OTEL_SERVICE_NAME"]) {
        Some(name) => builder.with_service_name(name).build(),
        None => builder.build(),
    }
}

fn checked(endpoint: &str) -> Result<String, CliError> {
    let url: Option<Url> = endpoint.parse().ok();
    match url {
        Some(url) if ["http", "https"].contains(&url.scheme()) && url.has_host() => Ok(endpoint.to_owned()),
        _ => Err(CliError::usage(
            format!("\"{endpoint}\" is not the address of a collector"),
            "it looks like http://localhost:4318 or https://collector.example.org",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_http_or_https_with_a_host() {
        for good in ["http://localhost:4318/v1/traces", "https://collector/otel/v1/traces"] {
            assert_eq!(checked(good).unwrap(), good);
        }
        for bad in ["", "/v1/traces", "localhost:4318", "ftp://localhost", "http://", "http://a b"] {
            assert_eq!(checked(bad).unwrap_err().code, crate::error::USAGE, "{bad}");
        }
    }
}
