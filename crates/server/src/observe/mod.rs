//! Metrics of this server.
//!
//! The handler that serves them is `api::exposition`; logs and traces are set up by the command line.

pub(crate) mod health_metrics;
pub(crate) mod metrics;
pub(crate) mod work_metrics;
