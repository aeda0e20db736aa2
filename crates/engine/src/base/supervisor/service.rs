//! The shape of a background service.

use tokio::time::Instant;

use super::error::ServiceError;

/// A background service: one round after the other, woken by its [`Wake`](super::Wake).
///
/// Everything that has to survive a failure is in the store or shared by all instances: after an error or a panic the
/// instance is dropped and a new one made, as after a restart of the process.
pub trait Service: Send {
    /// Does everything that is due now. An item's failure is the item's (see [`Items`](super::Items)); an error here means
    /// that the service itself could not work.
    fn run_once(&mut self) -> impl Future<Output = Result<Round, ServiceError>> + Send;

    /// After the last round.
    fn close(&mut self) -> impl Future<Output = Result<(), ServiceError>> + Send {
        async { Ok(()) }
    }
}

/// What a round did, and when there is more to do.
#[derive(Debug, Clone, Copy, Default)]
pub struct Round {
    pub items_done: u64,
    pub items_failed: u64,
    /// When to look again at the latest, if sooner than the period.
    pub again_at: Option<Instant>,
    /// When to look again at the earliest, whatever happens.
    pub not_before: Option<Instant>,
}

impl Round {
    #[must_use]
    pub fn again_at(mut self, at: Option<Instant>) -> Self {
        self.again_at = [self.again_at, at].into_iter().flatten().min();
        self
    }

    #[must_use]
    pub const fn not_before(mut self, at: Instant) -> Self {
        self.not_before = Some(at);
        self
    }
}
