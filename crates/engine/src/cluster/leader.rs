//! Stewardship: of all servers on a shared store, one sees to what must be done once: notices, timers, loops, recycling.
//!
//! It is a lock in the store with a short life. A steward that dies or is cut off is succeeded once the lock has run out
//! on the store's clock; one that is not sure it still has it stops acting as if it had.

use std::time::{Duration, Instant};

use baton_core::schedule::worker::WorkerDuty;

use crate::base::error::EngineError;
use crate::workshop::Workshop;

const LOCK: &str = "steward";
/// After this long without a word the steward is succeeded.
const LOCK_MS: i64 = 10_000;
const LOCK_FOR: Duration = Duration::from_secs(10);
/// The steward renews its lock this often, which leaves time for a try that fails.
const RENEW_EVERY: Duration = Duration::from_secs(3);

pub struct LeaderElection {
    shop: Workshop,
    /// Since when the lock is surely ours: before it was asked for.
    held_since: Option<Instant>,
    asked_at: Option<Instant>,
}

impl LeaderElection {
    pub fn new(shop: Workshop) -> Self {
        Self { shop, held_since: None, asked_at: None }
    }

    /// Whether this process is the steward now. Alone on its store it always is; a worker never is.
    pub async fn is_held(&mut self) -> Result<bool, EngineError> {
        if !self.shop.place.store.is_shared() {
            return Ok(true);
        }
        if self.shop.node.duty == WorkerDuty::Worker {
            return Ok(false);
        }
        if self.asked_at.is_none_or(|at| at.elapsed() >= RENEW_EVERY) {
            let asked_at = Instant::now();
            let is_held = self.shop.tasks.store.lock(LOCK, &self.shop.worker, LOCK_MS).await?;
            self.asked_at = Some(asked_at);
            self.held_since = is_held.then_some(asked_at);
        }
        // The answer itself may have been long on its way.
        Ok(self.held_since.is_some_and(|since| since.elapsed() < LOCK_FOR))
    }

    /// Lets another server succeed at once.
    pub async fn hand_over(&self) -> Result<(), EngineError> {
        if self.held_since.is_some() {
            self.shop.tasks.store.unlock(LOCK, &self.shop.worker).await?;
        }
        Ok(())
    }
}
