//! Counts the threads that still hold a connection. Closing the store waits until there are none.

use std::sync::Arc;

use tokio::sync::watch;

#[derive(Clone)]
pub(crate) struct ThreadCount(Arc<watch::Sender<usize>>);

/// Counts one thread until it is dropped.
pub(crate) struct ThreadGuard(Arc<watch::Sender<usize>>);

impl ThreadCount {
    pub(crate) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(0)))
    }

    pub(crate) fn enter(&self) -> ThreadGuard {
        self.0.send_modify(|count| *count += 1);
        ThreadGuard(Arc::clone(&self.0))
    }

    pub(crate) async fn wait_for_none(&self) {
        // Cannot fail: `self` owns the sender.
        let _ = self.0.subscribe().wait_for(|count| *count == 0).await;
    }
}

impl Drop for ThreadGuard {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}
