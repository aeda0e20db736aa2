//! The state of every service of this process, for health, pages and metrics.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use baton_store::Store;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::error::ServiceError;
use super::failpoint;
use super::guarded::catch_panic;
use super::items::{Failures, Items};
use super::name::ServiceName;
use super::service::Round;

/// Failures in a row after which a service counts as failing. A restart may fix fewer.
const FAILING_AFTER: u32 = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServiceState {
    Running,
    /// The last round failed, and the next has not ended yet.
    Restarting,
    /// Several rounds in a row failed. It is still retried.
    Failing,
}

impl ServiceState {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Restarting => "restarting",
            Self::Failing => "failing",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ServiceStatus {
    pub name: ServiceName,
    pub state: ServiceState,
    /// Of its last failure, even after it recovered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    pub restarts: u64,
    pub rounds: u64,
    pub items_done: u64,
    pub items_failed: u64,
    /// Items that wait for a retry.
    pub items_failing: u64,
}

/// All services of this process. Cheap to clone; clones share their state.
#[derive(Clone, Default)]
pub struct Services(Arc<ServicesState>);

#[derive(Default)]
struct ServicesState {
    entries: Mutex<BTreeMap<ServiceName, Arc<ServiceEntry>>>,
    /// Incremented whenever a service changes its state.
    changed: watch::Sender<u64>,
}

#[derive(Default)]
struct ServiceEntry {
    counts: Mutex<ServiceCounts>,
    failures: Arc<Failures>,
}

#[derive(Default)]
struct ServiceCounts {
    is_started: bool,
    failures_in_a_row: u32,
    last_error: Option<String>,
    restarts: u64,
    rounds: u64,
    items_done: u64,
    items_failed: u64,
}

impl ServiceCounts {
    const fn state(&self) -> ServiceState {
        match self.failures_in_a_row {
            0 => ServiceState::Running,
            failures if failures < FAILING_AFTER => ServiceState::Restarting,
            _ => ServiceState::Failing,
        }
    }
}

impl Services {
    /// Every service that was started, sorted by name.
    pub fn snapshot(&self) -> Vec<ServiceStatus> {
        let entries = self.0.entries.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let report = |(name, entry): (ServiceName, Arc<ServiceEntry>)| {
            let counts = entry.counts();
            counts.is_started.then(|| ServiceStatus {
                name,
                state: counts.state(),
                last_error: counts.last_error.clone(),
                restarts: counts.restarts,
                rounds: counts.rounds,
                items_done: counts.items_done,
                items_failed: counts.items_failed,
                items_failing: entry.failures.count(),
            })
        };
        entries.into_iter().filter_map(report).collect()
    }

    /// The services that are failing.
    pub fn failing(&self) -> Vec<ServiceStatus> {
        let mut failing = self.snapshot();
        failing.retain(|report| report.state == ServiceState::Failing);
        failing
    }

    /// A signal whenever a service changes its state.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.0.changed.subscribe()
    }

    /// Registers a service and returns its monitor.
    pub fn monitor(&self, name: ServiceName) -> Monitor {
        let entry = self.entry(name);
        entry.counts().is_started = true;
        Monitor { name, entry, changed: self.0.changed.clone() }
    }

    /// The items of a service, including its failing ones.
    pub fn items(&self, name: ServiceName, store: &Store) -> Items {
        Items::new(name, store.clone(), Arc::clone(&self.entry(name).failures))
    }

    fn entry(&self, name: ServiceName) -> Arc<ServiceEntry> {
        let mut entries = self.0.entries.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(entries.entry(name).or_default())
    }
}

impl ServiceEntry {
    fn counts(&self) -> MutexGuard<'_, ServiceCounts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Records the results of one service's rounds.
#[derive(Clone)]
pub struct Monitor {
    name: ServiceName,
    entry: Arc<ServiceEntry>,
    changed: watch::Sender<u64>,
}

impl Monitor {
    pub const fn name(&self) -> ServiceName {
        self.name
    }

    /// Runs `work` as one round and records its result. Catches panics.
    pub async fn observe<T, E>(
        &self,
        work: impl Future<Output = Result<T, E>> + Send,
    ) -> Result<T, ServiceError>
    where
        E: Into<ServiceError>,
    {
        let done = catch_panic(async {
            failpoint::service(self.name)?;
            work.await.map_err(Into::<ServiceError>::into)
        })
        .await;
        match &done {
            Ok(_) => {
                self.succeeded(&Round::default());
            }
            Err(error) => {
                self.failed(error);
            }
        }
        done
    }

    /// Records a successful round. Returns the state before it.
    pub fn succeeded(&self, round: &Round) -> ServiceState {
        let before = {
            let mut counts = self.entry.counts();
            let before = counts.state();
            counts.failures_in_a_row = 0;
            counts.rounds += 1;
            counts.items_done += round.items_done;
            counts.items_failed += round.items_failed;
            before
        };
        if before != ServiceState::Running {
            tracing::info!(service = %self.name, "service recovered");
            self.changed.send_modify(|count| *count += 1);
        }
        before
    }

    /// Records a failed round. Returns the state before and after it.
    pub fn failed(&self, error: &ServiceError) -> (ServiceState, ServiceState) {
        let (before, after, is_new) = {
            let mut counts = self.entry.counts();
            let before = counts.state();
            let error = error.to_string();
            let is_new = before == ServiceState::Running || counts.last_error.as_ref() != Some(&error);
            counts.failures_in_a_row = counts.failures_in_a_row.saturating_add(1);
            counts.last_error = Some(error);
            counts.restarts += 1;
            counts.rounds += 1;
            (before, counts.state(), is_new)
        };
        // A repeated error is one line in the log, not hundreds.
        if is_new {
            tracing::warn!(service = %self.name, %error, "service failed; restarting");
        } else {
            tracing::debug!(service = %self.name, %error, "service failed again");
        }
        if before != after {
            self.changed.send_modify(|count| *count += 1);
        }
        (before, after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_fails_after_several_failures_in_a_row_and_recovers_with_one_success() {
        let services = Services::default();
        let monitor = services.monitor(ServiceName::Outbox);
        let state = || services.snapshot()[0].state;
        assert_eq!(state(), ServiceState::Running);
        monitor.failed(&ServiceError::new("no store"));
        assert_eq!(state(), ServiceState::Restarting);
        for _ in 1..FAILING_AFTER {
            monitor.failed(&ServiceError::new("no store"));
        }
        assert_eq!((state(), services.failing().len()), (ServiceState::Failing, 1));
        monitor.succeeded(&Round::default());
        let report = &services.snapshot()[0];
        assert_eq!((report.state, report.restarts), (ServiceState::Running, u64::from(FAILING_AFTER)));
        assert_eq!(report.last_error.as_deref(), Some("no store"));
    }
}
