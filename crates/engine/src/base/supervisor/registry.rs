//! How every service of this process is, for health, pages, metrics and people.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use baton_store::Store;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::error::ServiceError;
use super::failpoint;
use super::guarded::guarded;
use super::items::{Failures, Items};
use super::name::ServiceName;
use super::service::Round;

/// Failures in a row after which a service counts as failing. Before that a restart may well have been enough.
const FAILING_AFTER: u32 = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServiceState {
    Running,
    /// The last round failed; the next one has not ended yet.
    Restarting,
    /// Several rounds in a row failed. It is tried again all the same.
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

/// One service as it is now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ServiceReport {
    pub name: ServiceName,
    pub state: ServiceState,
    /// Of its last failure, also after it recovered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    pub restarts: u64,
    pub rounds: u64,
    pub items_done: u64,
    pub items_failed: u64,
    /// Items that fail now and are tried again later.
    pub items_failing: u64,
}

/// All services of this process. Cheap to clone; clones share what they know.
#[derive(Clone, Default)]
pub struct Services(Arc<Inner>);

#[derive(Default)]
struct Inner {
    entries: Mutex<BTreeMap<ServiceName, Arc<Entry>>>,
    /// Counts up whenever a service changes its state.
    changed: watch::Sender<u64>,
}

#[derive(Default)]
struct Entry {
    counts: Mutex<Counts>,
    failures: Arc<Failures>,
}

#[derive(Default)]
struct Counts {
    is_started: bool,
    failures_in_a_row: u32,
    last_error: Option<String>,
    restarts: u64,
    rounds: u64,
    items_done: u64,
    items_failed: u64,
}

impl Counts {
    const fn state(&self) -> ServiceState {
        match self.failures_in_a_row {
            0 => ServiceState::Running,
            failures if failures < FAILING_AFTER => ServiceState::Restarting,
            _ => ServiceState::Failing,
        }
    }
}

impl Services {
    /// Every service that runs here, by name.
    pub fn snapshot(&self) -> Vec<ServiceReport> {
        let entries = self.0.entries.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let report = |(name, entry): (ServiceName, Arc<Entry>)| {
            let counts = entry.counts();
            counts.is_started.then(|| ServiceReport {
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

    /// The services that fail now.
    pub fn failing(&self) -> Vec<ServiceReport> {
        let mut failing = self.snapshot();
        failing.retain(|report| report.state == ServiceState::Failing);
        failing
    }

    /// Changes whenever a service changes its state.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.0.changed.subscribe()
    }

    /// Lists a service that is driven from elsewhere; whoever drives it reports here.
    pub fn monitor(&self, name: ServiceName) -> Monitor {
        let entry = self.entry(name);
        entry.counts().is_started = true;
        Monitor { name, entry, changed: self.0.changed.clone() }
    }

    /// The items of a service, with what is known of those that fail.
    pub fn items(&self, name: ServiceName, store: &Store) -> Items {
        Items::new(name, store.clone(), Arc::clone(&self.entry(name).failures))
    }

    fn entry(&self, name: ServiceName) -> Arc<Entry> {
        let mut entries = self.0.entries.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(entries.entry(name).or_default())
    }
}

impl Entry {
    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where one service reports how its rounds end.
#[derive(Clone)]
pub struct Monitor {
    name: ServiceName,
    entry: Arc<Entry>,
    changed: watch::Sender<u64>,
}

impl Monitor {
    pub const fn name(&self) -> ServiceName {
        self.name
    }

    /// Does `work` and reports how it ended, for a service that others drive. Neither its error nor its panic gets further.
    pub async fn observe<T, E>(
        &self,
        work: impl Future<Output = Result<T, E>> + Send,
    ) -> Result<T, ServiceError>
    where
        E: Into<ServiceError>,
    {
        let done = guarded(async {
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

    /// A round went well. Returns the state before it.
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

    /// A round failed, and the service is restarted. Returns the state before and after it.
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
        // The same error round after round is one line, not hundreds.
        if is_new {
            tracing::warn!(service = %self.name, %error, "service failed, it is restarted");
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
    fn a_service_fails_after_several_failures_in_a_row_and_recovers_with_one_good_round() {
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
