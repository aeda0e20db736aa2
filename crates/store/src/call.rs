//! One call of a store: how long it took, how many rows it returned, and whether that is worth a warning.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use baton_core::base::time::Timestamp;
use tracing::{Span, debug, warn};

use crate::error::StoreError;
use crate::latency::Histogram;
use crate::model::commit::Commit;
use crate::model::query::{Page, PruneResult};

/// Calls and transactions that take longer are logged as warnings.
const SLOW: Duration = Duration::from_millis(250);

/// Operations that take as long as the store is large.
const EXPECTED_SLOW: [&str; 2] = ["store.backup", "store.close"];

pub(crate) struct StoreCall<'h> {
    operation: &'static str,
    histogram: &'h Histogram,
    started: Instant,
}

impl<'h> StoreCall<'h> {
    pub(crate) fn start(operation: &'static str, histogram: &'h Histogram) -> Self {
        Self { operation, histogram, started: Instant::now() }
    }

    pub(crate) fn finish<T: RowCount>(self, span: &Span, result: &Result<T, StoreError>) {
        let elapsed = self.started.elapsed();
        self.histogram.record(elapsed);
        let (operation, duration_ms) = (self.operation, millis(elapsed));
        if elapsed > SLOW && !EXPECTED_SLOW.contains(&operation) {
            warn!(parent: span, operation, duration_ms, "slow store call");
        }
        if span.is_disabled() {
            return;
        }
        span.record("duration_ms", duration_ms);
        match result {
            Ok(value) => {
                let rows = value.row_count();
                span.record("rows", rows);
                debug!(parent: span, operation, rows, duration_ms, "store call");
            }
            Err(error) => debug!(parent: span, operation, %error, duration_ms, "store call failed"),
        }
    }
}

/// Logs a transaction that was committed for `jobs` callers.
pub(crate) fn report_transaction(doing: &'static str, jobs: usize, elapsed: Duration) {
    let duration_ms = millis(elapsed);
    if elapsed > SLOW {
        warn!(doing, jobs, duration_ms, "slow transaction");
    } else {
        debug!(doing, jobs, duration_ms, "transaction committed");
    }
}

fn millis(elapsed: Duration) -> u64 {
    u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
}

/// How many rows a result holds, for traces.
pub(crate) trait RowCount {
    fn row_count(&self) -> u64;
}

impl<T> RowCount for Vec<T> {
    fn row_count(&self) -> u64 {
        self.len() as u64
    }
}

impl<K, V> RowCount for BTreeMap<K, V> {
    fn row_count(&self) -> u64 {
        self.len() as u64
    }
}

impl<T> RowCount for Page<T> {
    fn row_count(&self) -> u64 {
        self.items.len() as u64
    }
}

impl<T> RowCount for Option<T> {
    fn row_count(&self) -> u64 {
        u64::from(self.is_some())
    }
}

impl RowCount for PruneResult {
    fn row_count(&self) -> u64 {
        self.events
    }
}

impl RowCount for Commit {
    fn row_count(&self) -> u64 {
        u64::from(matches!(self, Self::Written { .. }))
    }
}

macro_rules! single_row {
    ($($kind:ty),*) => {
        $(impl RowCount for $kind {
            fn row_count(&self) -> u64 {
                1
            }
        })*
    };
}

single_row!((), bool, u64, Timestamp);
