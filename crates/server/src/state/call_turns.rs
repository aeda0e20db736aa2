//! Calls that are the same take turns, so that the second finds the answer to the first.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

/// Forgotten entries are removed when there are more.
const CLEANED_AT: usize = 256;

#[derive(Default)]
pub(crate) struct CallTurns(Mutex<HashMap<String, Weak<AsyncMutex<()>>>>);

impl CallTurns {
    /// Waits until no other call of this name is being carried out. The turn ends when it is dropped.
    pub(crate) async fn turn(&self, name: String) -> OwnedMutexGuard<()> {
        let turns = {
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if known.len() >= CLEANED_AT {
                known.retain(|_, turns| turns.strong_count() > 0);
            }
            let current = known.get(&name).and_then(Weak::upgrade);
            current.unwrap_or_else(|| {
                let new = Arc::new(AsyncMutex::new(()));
                known.insert(name, Arc::downgrade(&new));
                new
            })
        };
        turns.lock_owned().await
    }
}
