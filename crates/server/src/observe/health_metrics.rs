//! Metrics that others keep and `/metrics` only copies: the latency of the store and the restarts of services.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;

#[derive(Debug, Clone, Default)]
pub struct HealthReadings {
    pub store: Vec<OperationSeconds>,
    /// By the name of the service.
    pub service_restarts: Vec<(&'static str, u64)>,
}

/// How long the calls of one operation of the store took.
#[derive(Debug, Clone)]
pub struct OperationSeconds {
    pub operation: &'static str,
    pub sum: f64,
    /// The upper bound of each bucket and how many calls fell into it, not cumulative; the last bound is infinite.
    pub buckets: Vec<(f64, u64)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OperationLabel {
    operation: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ServiceLabel {
    service: &'static str,
}

/// The last readings. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct HealthMetrics(Arc<Mutex<HealthReadings>>);

impl HealthMetrics {
    pub(crate) fn set(&self, readings: HealthReadings) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = readings;
    }
}

impl Collector for HealthMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let readings = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if !readings.store.is_empty() {
            let help = "How long calls of the store took";
            let mut family = encoder.encode_descriptor("store_seconds", help, None, MetricType::Histogram)?;
            for OperationSeconds { operation, sum, buckets } in &readings.store {
                let label = OperationLabel { operation };
                let count = buckets.iter().map(|(_, count)| count).sum();
                family.encode_family(&label)?.encode_histogram::<NoLabelSet>(*sum, count, buckets, None)?;
            }
        }
        if !readings.service_restarts.is_empty() {
            let help = "Restarts of background services after a failure";
            let mut family =
                encoder.encode_descriptor("service_restarts", help, None, MetricType::Counter)?;
            for (service, restarts) in &readings.service_restarts {
                ConstCounter::new(*restarts).encode(family.encode_family(&ServiceLabel { service })?)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use prometheus_client::encoding::text::encode;
    use prometheus_client::registry::Registry;

    use super::*;

    #[test]
    fn a_snapshot_is_encoded_as_one_family_for_each_metric() {
        let metrics = HealthMetrics::default();
        let mut registry = Registry::with_prefix("baton");
        registry.register_collector(Box::new(metrics.clone()));
        let buckets = vec![(0.001, 2), (f64::INFINITY, 1)];
        metrics.set(HealthReadings {
            store: vec![OperationSeconds { operation: "commit", sum: 1.5, buckets }],
            service_restarts: vec![("outbox", 3)],
        });
        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        insta::assert_snapshot!(text, @r#"
        # HELP baton_store_seconds How long calls of the store took
        # TYPE baton_store_seconds histogram
        baton_store_seconds_sum{operation="commit"} 1.5
        baton_store_seconds_count{operation="commit"} 3
        baton_store_seconds_bucket{le="0.001",operation="commit"} 2
        baton_store_seconds_bucket{le="+Inf",operation="commit"} 3
        # HELP baton_service_restarts Restarts of background services after a failure
        # TYPE baton_service_restarts counter
        baton_service_restarts_total{service="outbox"} 3
        # EOF
        "#);
    }
}
