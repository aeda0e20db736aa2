//! A place for a store: empty at first, opened as often as a test likes.

use baton_store::Backend;

/// Each value is a separate empty place, removed on drop.
pub(crate) trait Fixture: Send + Sync + Sized + 'static {
    type Store: Backend;

    fn fresh() -> impl Future<Output = Self> + Send;

    /// A handle with its own connections, like another process's. Called again after `close` it is a restart.
    fn open(&self) -> impl Future<Output = Self::Store> + Send;

    /// Moves the store's clock forward. A backend whose clock cannot be moved waits for it.
    fn advance(&self, ms: i64) -> impl Future<Output = ()> + Send;

    /// Why tests cannot run on this backend here, if they cannot.
    fn missing() -> Option<String> {
        None
    }
}
