//! The trait of background services.

use tokio::time::Instant;

use super::error::ServiceError;

/// A background service, which runs in rounds started by its [`Wake`](super::Wake).
///
/// After an error or a panic the instance is replaced by a new one, so state that must survive is in the store or shared.
pub trait Service: Send {
    /// Does everything that is due. Failures of items are isolated by [`Items`](super::Items); an error means that the
    /// service itself failed.
    fn run_once(&mut self) -> impl Future<Output = Result<Round, ServiceError>> + Send;

    /// Called after the last round.
    fn close(&mut self) -> impl Future<Output = Result<(), ServiceError>> + Send {
        async { Ok(()) }
    }
}

/// The result of a round.
#[derive(Debug, Clone, Copy, Default)]
pub struct Round {
    pub items_done: u64,
    pub items_failed: u64,
    /// The latest time of the next round, if sooner than the period.
    pub again_at: Option<Instant>,
    /// The earliest time of the next round.
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
