//! What runs in this process now: one entry for each live attempt, and a way to stop it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use baton_core::id::AttemptId;
use tokio::sync::watch;

/// Shared by the dispatcher, which fills it, the rescuer, which renews what is in it, and the outbox, which stops it.
#[derive(Clone, Default)]
pub struct Running(Arc<Inner>);

#[derive(Default)]
struct Inner {
    attempts: Mutex<BTreeMap<AttemptId, watch::Sender<bool>>>,
    /// Counts up whenever an attempt ends.
    ended: watch::Sender<u64>,
}

/// Held while the attempt runs. Dropping it, however that comes about, frees the place.
pub struct Place {
    attempt: AttemptId,
    running: Running,
    stop: watch::Receiver<bool>,
}

impl Running {
    pub fn enter(&self, attempt: AttemptId) -> Place {
        let (sender, stop) = watch::channel(false);
        self.attempts().insert(attempt, sender);
        Place { attempt, running: self.clone(), stop }
    }

    pub fn ids(&self) -> Vec<AttemptId> {
        self.attempts().keys().copied().collect()
    }

    pub fn count(&self) -> usize {
        self.attempts().len()
    }

    /// Asks the attempt to stop. One that does not run here is somebody else's, or over.
    pub fn stop(&self, attempt: AttemptId) -> bool {
        self.attempts().get(&attempt).is_some_and(|sender| sender.send(true).is_ok())
    }

    pub fn stop_all(&self) {
        for sender in self.attempts().values() {
            // Nobody listens any more: it has just ended.
            let _ = sender.send(true);
        }
    }

    /// Changes whenever an attempt ends here.
    pub fn ends(&self) -> watch::Receiver<u64> {
        self.0.ended.subscribe()
    }

    /// Waits until the attempt does not run here, if it does.
    pub async fn gone(&self, attempt: AttemptId) {
        let mut ends = self.ends();
        while self.attempts().contains_key(&attempt) {
            if ends.changed().await.is_err() {
                return;
            }
        }
    }

    fn attempts(&self) -> MutexGuard<'_, BTreeMap<AttemptId, watch::Sender<bool>>> {
        self.0.attempts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    pub const fn attempt(&self) -> AttemptId {
        self.attempt
    }

    /// Turns true when somebody asked for a stop.
    pub fn stop_signal(&self) -> watch::Receiver<bool> {
        self.stop.clone()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.running.attempts().remove(&self.attempt);
        self.running.0.ended.send_modify(|count| *count += 1);
    }
}
