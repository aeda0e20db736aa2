//! What Baton tells of itself: traces for a collector, logs for programs, metrics for Prometheus.

mod logs;
mod metrics;
mod open_metrics;
pub mod receiver;
mod traces;
