//! Telemetry: traces for a collector, JSON logs, metrics for Prometheus.

mod logs;
mod metrics;
mod open_metrics;
pub(crate) mod receiver;
mod traces;
