//! How many of the store's threads still hold a connection. Closing waits until there are none.

use std::sync::Arc;

use tokio::sync::watch;

#[derive(Clone)]
pub(crate) struct Alive(Arc<watch::Sender<usize>>);

/// One thread's presence; it ends with the value.
pub(crate) struct Here(Arc<watch::Sender<usize>>);

impl Alive {
    pub(crate) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(0)))
    }

    pub(crate) fn one_more(&self) -> Here {
        self.0.send_modify(|count| *count += 1);
        Here(Arc::clone(&self.0))
    }

    pub(crate) async fn all_gone(&self) {
        // Cannot fail: the sender is here.
        let _ = self.0.subscribe().wait_for(|count| *count == 0).await;
    }
}

impl Drop for Here {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}
