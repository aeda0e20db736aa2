//! Isolates the failure of one item: it is recorded and retried with back-off, and the round continues.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use baton_core::base::id::{SessionId, TaskId};
use baton_core::base::text::NonBlank;
use baton_core::people::actor::Actor;
use baton_core::records::change::Change;
use baton_core::records::event::{Event, EventBody};
use baton_store::Store;
use baton_store::crash_point::CrashPoint;
use tokio::time::Instant;

use super::error::ServiceError;
use super::failpoint;
use super::guarded::catch_panic;
use super::name::{ItemKind, ServiceName};
use super::service::Round;

/// The pause after an item's first failure; doubled after each further one.
const PAUSE_MIN: Duration = Duration::from_millis(500);
const PAUSE_MAX: Duration = Duration::from_mins(2);

/// One thing a service works on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    pub kind: ItemKind,
    /// Unique within its kind.
    pub key: String,
    /// The task in whose history the failure is recorded.
    pub task: Option<TaskId>,
    pub session: Option<SessionId>,
    /// The longest pause between retries.
    pub pause_max: Duration,
}

impl Item {
    pub fn new(kind: ItemKind, key: &(impl ToString + ?Sized)) -> Self {
        Self { kind, key: key.to_string(), task: None, session: None, pause_max: PAUSE_MAX }
    }

    #[must_use]
    pub fn for_task(self, task: TaskId) -> Self {
        Self { task: Some(task), ..self }
    }

    #[must_use]
    pub fn for_session(self, session: SessionId) -> Self {
        Self { session: Some(session), ..self }
    }

    /// Limits the pause between retries, for failures that are likely to end soon.
    #[must_use]
    pub const fn with_pause_max(mut self, pause_max: Duration) -> Self {
        self.pause_max = pause_max;
        self
    }

    fn name(&self) -> String {
        format!("{} {}", self.kind, self.key)
    }
}

/// The result of working on an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ItemResult<T> {
    Done(T),
    /// It failed for the `tries`th time in a row.
    Failed {
        tries: u32,
        error: ServiceError,
    },
    /// It failed before and waits for its next retry.
    Waiting,
}

impl<T> ItemResult<T> {
    pub fn done(self) -> Option<T> {
        match self {
            Self::Done(done) => Some(done),
            Self::Failed { .. } | Self::Waiting => None,
        }
    }
}

/// The failing items of one service. They survive its restarts, so that an error is reported once.
#[derive(Default)]
pub(super) struct Failures(Mutex<ItemFailures>);

#[derive(Default)]
struct ItemFailures {
    failing: BTreeMap<String, Failing>,
    seen: BTreeSet<String>,
    round: Round,
    /// When the next retry is due.
    next: Option<Instant>,
}

struct Failing {
    tries: u32,
    error: ServiceError,
    not_before: Instant,
}

impl ItemFailures {
    fn retry_at(&mut self, at: Instant) {
        self.next = Some(self.next.map_or(at, |next| next.min(at)));
    }
}

impl Failures {
    pub(super) fn count(&self) -> u64 {
        self.lock().failing.len() as u64
    }

    fn lock(&self) -> MutexGuard<'_, ItemFailures> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The items of one service. Cheap to clone; clones share their state.
#[derive(Clone)]
pub struct Items {
    service: ServiceName,
    store: Store,
    failures: Arc<Failures>,
}

impl Items {
    pub(super) fn new(service: ServiceName, store: Store, failures: Arc<Failures>) -> Self {
        Self { service, store, failures }
    }

    /// Runs `work` for one item, unless it waits for a retry. An error or panic is recorded on the item. Fails only if the
    /// store cannot record it.
    pub fn attempt<T, E>(
        &self,
        item: &Item,
        work: impl Future<Output = Result<T, E>> + Send,
    ) -> impl Future<Output = Result<ItemResult<T>, ServiceError>> + Send
    where
        T: Send,
        E: Into<ServiceError>,
    {
        let work = Self::isolate(item, work);
        async move {
            if !self.is_due(item) {
                return Ok(ItemResult::Waiting);
            }
            match work.await {
                Ok(done) => {
                    self.succeeded(item);
                    Ok(ItemResult::Done(done))
                }
                Err(error) => {
                    let tries = self.failed(item, &error).await?;
                    Ok(ItemResult::Failed { tries, error })
                }
            }
        }
    }

    /// Runs `work` and catches panics, for work whose result is recorded later.
    pub fn isolate<T, E>(
        item: &Item,
        work: impl Future<Output = Result<T, E>> + Send,
    ) -> impl Future<Output = Result<T, ServiceError>> + Send
    where
        E: Into<ServiceError>,
    {
        catch_panic(async {
            failpoint::item(item.kind, &item.key)?;
            let point = CrashPoint::named(&format!("item: {}", item.kind.as_str()));
            point.before();
            let done = work.await.map_err(Into::<ServiceError>::into);
            point.after();
            done
        })
    }

    /// Whether the item does not wait for a retry.
    pub fn is_due(&self, item: &Item) -> bool {
        let mut state = self.failures.lock();
        state.seen.insert(item.name());
        let Some(not_before) = state.failing.get(&item.name()).map(|failing| failing.not_before) else {
            return true;
        };
        let is_due = not_before <= Instant::now();
        if !is_due {
            state.retry_at(not_before);
        }
        is_due
    }

    pub fn succeeded(&self, item: &Item) {
        let mut state = self.failures.lock();
        state.round.items_done += 1;
        if state.failing.remove(&item.name()).is_some() {
            tracing::info!(service = %self.service, item = item.name(), "item recovered");
        }
    }

    /// Records a failure: on the item once for each distinct error. Returns the number of failures in a row.
    pub async fn failed(&self, item: &Item, error: &ServiceError) -> Result<u32, ServiceError> {
        let (tries, is_new) = {
            let mut state = self.failures.lock();
            state.round.items_failed += 1;
            let before = state.failing.get(&item.name());
            let tries = before.map_or(0, |failing| failing.tries).saturating_add(1);
            let is_new = before.is_none_or(|failing| failing.error != *error);
            let not_before = Instant::now() + pause_after(tries).min(item.pause_max);
            state.seen.insert(item.name());
            state.retry_at(not_before);
            state.failing.insert(item.name(), Failing { tries, error: error.clone(), not_before });
            (tries, is_new)
        };
        if is_new {
            tracing::warn!(service = %self.service, item = item.name(), %error, tries, "item failed");
            self.record(item, error, tries).await?;
        }
        Ok(tries)
    }

    /// Drops the item's failure; the item is finished.
    pub fn forget(&self, item: &Item) {
        self.failures.lock().failing.remove(&item.name());
    }

    /// Ends a round. Failing items that were not seen in it are dropped.
    pub fn end_round(&self) -> Round {
        let mut state = self.failures.lock();
        let seen = std::mem::take(&mut state.seen);
        state.failing.retain(|name, _| seen.contains(name));
        let next = state.next.take();
        std::mem::take(&mut state.round).again_at(next)
    }

    async fn record(&self, item: &Item, error: &ServiceError, tries: u32) -> Result<(), ServiceError> {
        let body = EventBody::ItemFailed {
            service: NonBlank::new(self.service.as_str())?,
            item: NonBlank::new(item.name())?,
            error: NonBlank::new(error.to_string())?,
            tries,
            task: item.task,
            session: item.session.clone(),
        };
        let mut change = Change::new();
        change.events.push(Event { at: self.store.now().await?, by: Actor::Baton, body });
        self.store.commit(change).await?;
        Ok(())
    }
}

fn pause_after(tries: u32) -> Duration {
    PAUSE_MIN.saturating_mul(1 << tries.saturating_sub(1).min(16)).min(PAUSE_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_limit() {
        let pauses: Vec<u128> = (1..=10).map(|tries| pause_after(tries).as_millis()).collect();
        assert_eq!(pauses, [500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 120_000, 120_000]);
    }
}
