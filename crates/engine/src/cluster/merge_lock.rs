//! A turn at what only one machine may do at a time: a lock in the store, kept alive while it is held.

use crate::cluster::error::LockError;
use std::time::Duration;

use baton_store::Store;
use tokio::time::{Instant, sleep};

use crate::base::error::EngineError;
use crate::base::ids::Ids;
use crate::cluster::node::Node;

/// Longer than a merge and its push take. A machine that dies in the middle holds the others up for this long.
const TURN_MS: i64 = 15_000;
/// Between two looks whether it is free.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// A caller that waits this long gets an error instead.
const WAIT_MAX: Duration = Duration::from_mins(2);

pub struct MergeLock {
    name: String,
    holder: String,
}

impl MergeLock {
    /// Waits for the turn. Each one has a holder of its own, so that two of one process take turns as well.
    pub async fn take(store: &Store, node: &Node, name: String) -> Result<Self, EngineError> {
        let turn = Self { holder: format!("{} {}", node.name, Ids::secret()), name };
        let started = Instant::now();
        while !store.lock(&turn.name, &turn.holder, TURN_MS).await? {
            if started.elapsed() > WAIT_MAX {
                return Err(LockError::Held { name: turn.name }.into());
            }
            sleep(LOOK_EVERY).await;
        }
        Ok(turn)
    }

    pub async fn end(self, store: &Store) -> Result<(), EngineError> {
        Ok(store.unlock(&self.name, &self.holder).await?)
    }
}
