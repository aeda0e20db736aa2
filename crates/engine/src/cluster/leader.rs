//! Leader election: of all servers on a shared store, one does what must be done once: notices, timers, loops, recycling.
//!
//! The lead is a lock in the store with a short life. A leader that dies or is cut off is succeeded once the lock has
//! expired on the store's clock; one that is not sure it still holds the lock stops acting as the leader.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use baton_core::schedule::worker::WorkerDuty;
use baton_store::Store;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::base::supervisor::{Round, Service, ServiceError};
use crate::cluster::node::Node;

const LOCK: &str = "steward";
/// After this long without a renewal another server takes the lead.
const LOCK_MS: i64 = 10_000;
const LOCK_FOR: Duration = Duration::from_secs(10);
/// After a day a worker that took no leave is taken off the list.
const WORKER_GONE_MS: i64 = 24 * 3_600_000;
/// How often the leader looks for such workers.
const FORGET_EVERY: Duration = Duration::from_mins(10);

/// Whether this process leads. Cheap to clone; clones share what they know.
#[derive(Clone)]
pub struct Leadership(Arc<LeadershipState>);

struct LeadershipState {
    /// Alone on its store, a process always leads.
    is_alone: bool,
    held_until: Mutex<Option<Instant>>,
    changed: watch::Sender<u64>,
}

impl Leadership {
    pub fn new(node: &Node) -> Self {
        let is_alone = !node.is_shared;
        Self(Arc::new(LeadershipState {
            is_alone,
            held_until: Mutex::default(),
            changed: watch::Sender::new(0),
        }))
    }

    pub fn is_held(&self) -> bool {
        // The answer of the store may have been long on its way.
        self.0.is_alone || self.held_until().is_some_and(|until| Instant::now() < until)
    }

    /// Changes whenever the lead is won or lost.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.0.changed.subscribe()
    }

    fn hold_until(&self, until: Option<Instant>) {
        let before = self.is_held();
        *self.held_until() = until;
        if before != self.is_held() {
            self.0.changed.send_modify(|count| *count += 1);
        }
    }

    fn held_until(&self) -> MutexGuard<'_, Option<Instant>> {
        self.0.held_until.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes and renews the lock.
pub struct LeaderElection {
    store: Store,
    node: Node,
    leadership: Leadership,
    forgot_at: Option<Instant>,
}

impl LeaderElection {
    /// How often the lock is renewed, which leaves time for a try that fails.
    pub const PERIOD: Duration = Duration::from_secs(3);

    pub fn new(store: Store, node: Node, leadership: Leadership) -> Self {
        Self { store, node, leadership, forgot_at: None }
    }

    /// Whether this process may lead at all. A worker never does, and alone on a store there is no election.
    pub fn is_candidate(node: &Node) -> bool {
        node.is_shared && node.duty != WorkerDuty::Worker
    }

    /// A machine that has not been heard of for a day is not listed any more; it joins again by itself.
    async fn forget_gone_workers(&mut self) -> Result<(), ServiceError> {
        if self.forgot_at.is_some_and(|at| at.elapsed() < FORGET_EVERY) {
            return Ok(());
        }
        let store = &self.store;
        let now = store.now().await?;
        for seen in store.workers().await? {
            if now.ms().saturating_sub(seen.seen_at.ms()) > WORKER_GONE_MS {
                store.forget_worker(&seen.worker.name).await?;
            }
        }
        self.forgot_at = Some(Instant::now());
        Ok(())
    }
}

impl Service for LeaderElection {
    async fn run_once(&mut self) -> Result<Round, ServiceError> {
        let asked_at = Instant::now();
        let is_held = self.store.lock(LOCK, &self.node.name, LOCK_MS).await?;
        self.leadership.hold_until(is_held.then(|| asked_at + LOCK_FOR));
        if is_held {
            self.forget_gone_workers().await?;
        }
        Ok(Round::default())
    }

    /// Lets another server succeed at once.
    async fn close(&mut self) -> Result<(), ServiceError> {
        if self.leadership.is_held() {
            self.store.unlock(LOCK, &self.node.name).await?;
            self.leadership.hold_until(None);
        }
        Ok(())
    }
}
