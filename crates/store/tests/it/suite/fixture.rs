//! A place where a store can be: empty at first, opened as often as a test likes.

use baton_store::Backend;

/// Each value is its own empty place, gone with it. Two fixtures share nothing: they are two namespaces.
pub trait Fixture: Send + Sync + Sized + 'static {
    type Store: Backend;

    /// An empty place of its own.
    fn fresh() -> impl Future<Output = Self> + Send;

    /// A handle onto the rows there, with connections of its own: as another process would have it. Called
    /// again after `close` it is a restart.
    fn open(&self) -> impl Future<Output = Self::Store> + Send;

    /// Moves the store's clock on. Leases must follow it; a backend whose clock is not its own to move waits.
    fn advance(&self, ms: i64) -> impl Future<Output = ()> + Send;

    /// Why tests cannot run on this backend here, where they cannot.
    fn missing() -> Option<String> {
        None
    }
}
