//! How many runs of the checks this machine has room for at once, over all lanes.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Cheap to clone; clones share the room.
#[derive(Clone)]
pub struct CheckRoom(Arc<Semaphore>);

/// Left when it is dropped.
pub(crate) struct CheckPlace(#[expect(dead_code, reason = "held, never read")] Option<OwnedSemaphorePermit>);

impl CheckRoom {
    pub fn new(places: usize) -> Self {
        Self(Arc::new(Semaphore::new(places)))
    }

    /// Waits for a place.
    pub(crate) async fn enter(&self) -> CheckPlace {
        // Nobody closes it, and without it the checks would merely run.
        CheckPlace(self.0.clone().acquire_owned().await.ok())
    }

    /// None if all places are taken.
    pub(crate) fn enter_now(&self) -> Option<CheckPlace> {
        self.0.clone().try_acquire_owned().ok().map(|permit| CheckPlace(Some(permit)))
    }
}
