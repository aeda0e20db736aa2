//! One item's failure stays with that item: it is recorded, retried with back-off, and the round goes on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use baton_core::base::id::{SessionId, TaskId};
use baton_core::base::text::NonBlank;
use baton_core::people::actor::Actor;
use baton_core::records::change::Change;
use baton_core::records::event::{Event, EventBody};
use baton_store::Store;
use tokio::time::Instant;

use super::error::ServiceError;
use super::failpoint;
use super::guarded::guarded;
use super::name::{ItemKind, ServiceName};
use super::service::Round;

/// The pause after an item's first failure; it doubles with each one after that.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// And never grows beyond this.
const LONGEST_PAUSE: Duration = Duration::from_mins(2);

/// One thing a service works on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    pub kind: ItemKind,
    /// Which one it is, among its kind.
    pub key: String,
    /// Whose history tells of its failure.
    pub task: Option<TaskId>,
    pub session: Option<SessionId>,
    /// A failure that is likely to end any moment is retried at least this often.
    pub pause_max: Duration,
}

impl Item {
    pub fn new(kind: ItemKind, key: &(impl ToString + ?Sized)) -> Self {
        Self { kind, key: key.to_string(), task: None, session: None, pause_max: LONGEST_PAUSE }
    }

    #[must_use]
    pub fn of_task(self, task: TaskId) -> Self {
        Self { task: Some(task), ..self }
    }

    #[must_use]
    pub fn of_session(self, session: SessionId) -> Self {
        Self { session: Some(session), ..self }
    }

    /// Retried at least this often, however often it failed.
    #[must_use]
    pub const fn retried_every(mut self, pause_max: Duration) -> Self {
        self.pause_max = pause_max;
        self
    }

    fn name(&self) -> String {
        format!("{} {}", self.kind, self.key)
    }
}

/// What became of an item in this round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attempted<T> {
    Done(T),
    /// It failed now, for the `tries`th time in a row.
    Failed {
        tries: u32,
        error: ServiceError,
    },
    /// It failed before, and its pause is not over.
    Waiting,
}

impl<T> Attempted<T> {
    pub fn done(self) -> Option<T> {
        match self {
            Self::Done(done) => Some(done),
            Self::Failed { .. } | Self::Waiting => None,
        }
    }
}

/// The failing items of one service. They outlive its restarts, so that one error is not told at each of them.
#[derive(Default)]
pub(super) struct Failures(Mutex<Known>);

#[derive(Default)]
struct Known {
    failing: BTreeMap<String, Failing>,
    seen: BTreeSet<String>,
    round: Round,
    /// When the first of the items that wait or failed in this round is due again.
    next: Option<Instant>,
}

struct Failing {
    tries: u32,
    error: ServiceError,
    not_before: Instant,
}

impl Known {
    fn look_at(&mut self, at: Instant) {
        self.next = Some(self.next.map_or(at, |next| next.min(at)));
    }
}

impl Failures {
    pub(super) fn count(&self) -> u64 {
        self.known().failing.len() as u64
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The items of one service. Cheap to clone; clones share what they know.
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

    /// Does `work` for one item, unless its pause is not over. Its error or panic is recorded on the item. Fails only when
    /// that cannot be written down, which means that the store is away for everyone.
    pub fn attempt<T, E>(
        &self,
        item: &Item,
        work: impl Future<Output = Result<T, E>> + Send,
    ) -> impl Future<Output = Result<Attempted<T>, ServiceError>> + Send
    where
        T: Send,
        E: Into<ServiceError>,
    {
        let work = Self::isolated(item, work);
        async move {
            if !self.is_due(item) {
                return Ok(Attempted::Waiting);
            }
            match work.await {
                Ok(done) => {
                    self.succeeded(item);
                    Ok(Attempted::Done(done))
                }
                Err(error) => {
                    let tries = self.failed(item, &error).await?;
                    Ok(Attempted::Failed { tries, error })
                }
            }
        }
    }

    /// Only runs it, for work whose result is noted later.
    pub fn isolated<T, E>(
        item: &Item,
        work: impl Future<Output = Result<T, E>> + Send,
    ) -> impl Future<Output = Result<T, ServiceError>> + Send
    where
        E: Into<ServiceError>,
    {
        guarded(async {
            failpoint::item(item.kind, &item.key)?;
            work.await.map_err(Into::<ServiceError>::into)
        })
    }

    /// Whether the pause after its last failure is over.
    pub fn is_due(&self, item: &Item) -> bool {
        let mut known = self.failures.known();
        known.seen.insert(item.name());
        let Some(not_before) = known.failing.get(&item.name()).map(|failing| failing.not_before) else {
            return true;
        };
        let is_due = not_before <= Instant::now();
        if !is_due {
            known.look_at(not_before);
        }
        is_due
    }

    pub fn succeeded(&self, item: &Item) {
        let mut known = self.failures.known();
        known.round.items_done += 1;
        if known.failing.remove(&item.name()).is_some() {
            tracing::info!(service = %self.service, item = item.name(), "item recovered");
        }
    }

    /// Notes a failure and says so on the item, once for each distinct error. Returns how often it failed in a row.
    pub async fn failed(&self, item: &Item, error: &ServiceError) -> Result<u32, ServiceError> {
        let (tries, is_new) = {
            let mut known = self.failures.known();
            known.round.items_failed += 1;
            let before = known.failing.get(&item.name());
            let tries = before.map_or(0, |failing| failing.tries).saturating_add(1);
            let is_new = before.is_none_or(|failing| failing.error != *error);
            let not_before = Instant::now() + pause_after(tries).min(item.pause_max);
            known.seen.insert(item.name());
            known.look_at(not_before);
            known.failing.insert(item.name(), Failing { tries, error: error.clone(), not_before });
            (tries, is_new)
        };
        if is_new {
            tracing::warn!(service = %self.service, item = item.name(), %error, tries, "item failed");
            self.record(item, error, tries).await?;
        }
        Ok(tries)
    }

    /// It is over, one way or the other.
    pub fn forget(&self, item: &Item) {
        self.failures.known().failing.remove(&item.name());
    }

    /// The end of a round. Failing items that it did not come upon are gone.
    pub fn end_round(&self) -> Round {
        let mut known = self.failures.known();
        let seen = std::mem::take(&mut known.seen);
        known.failing.retain(|name, _| seen.contains(name));
        let next = known.next.take();
        std::mem::take(&mut known.round).again_at(next)
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
    FIRST_PAUSE.saturating_mul(1 << tries.saturating_sub(1).min(16)).min(LONGEST_PAUSE)
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
