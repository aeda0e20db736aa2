//! Latency histograms of store calls, for metrics.

use std::array;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The upper bounds of the buckets, in microseconds. One more bucket holds what took longer.
pub const LATENCY_BOUNDS_US: [u64; 14] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
    5_000_000,
];

const BUCKETS: usize = LATENCY_BOUNDS_US.len() + 1;

/// The latency of one operation since the store was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationLatency {
    /// The name of the call, such as `commit`.
    pub operation: &'static str,
    pub count: u64,
    pub sum: Duration,
    /// How many calls fell into each bucket, not cumulative: one for each of [`LATENCY_BOUNDS_US`] and one beyond.
    pub buckets: [u64; BUCKETS],
}

/// Lock-free; a snapshot may miss calls that are being recorded.
pub(crate) struct Histogram {
    buckets: [AtomicU64; BUCKETS],
    sum_us: AtomicU64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { buckets: array::from_fn(|_| AtomicU64::new(0)), sum_us: AtomicU64::new(0) }
    }
}

impl Histogram {
    pub(crate) fn record(&self, elapsed: Duration) {
        let us = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX);
        let bucket = LATENCY_BOUNDS_US.partition_point(|bound| *bound < us);
        if let Some(bucket) = self.buckets.get(bucket) {
            bucket.fetch_add(1, Ordering::Relaxed);
        }
        self.sum_us.fetch_add(us, Ordering::Relaxed);
    }

    pub(crate) fn snapshot(&self, operation: &'static str) -> OperationLatency {
        let buckets = array::from_fn(|index| {
            self.buckets.get(index).map_or(0, |bucket| bucket.load(Ordering::Relaxed))
        });
        let sum = Duration::from_micros(self.sum_us.load(Ordering::Relaxed));
        OperationLatency { operation, count: buckets.iter().sum(), sum, buckets }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_latency_counts_in_the_bucket_whose_bound_it_does_not_exceed() {
        let histogram = Histogram::default();
        for us in [0, 100, 101, 5_000_000, 5_000_001] {
            histogram.record(Duration::from_micros(us));
        }
        let latency = histogram.snapshot("commit");
        assert_eq!(latency.count, 5);
        assert_eq!(latency.sum, Duration::from_micros(10_000_202));
        let filled: Vec<(usize, u64)> =
            latency.buckets.into_iter().enumerate().filter(|(_, count)| *count > 0).collect();
        assert_eq!(filled, [(0, 2), (1, 1), (13, 1), (14, 1)]);
    }
}
