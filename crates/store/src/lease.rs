//! A lease: a worker's word that an attempt is alive, good until a moment on the store's clock.

use baton_core::base::id::{AttemptId, TaskId};
use baton_core::base::text::{AgentName, Role};
use baton_core::base::time::Timestamp;
use baton_core::schedule::Share;

/// Held from the claim until the attempt is closed. It belongs to the attempt: when a change closes the attempt,
/// the lease goes with it in the same transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    pub attempt: AttemptId,
    pub task: TaskId,
    pub worker: String,
    pub role: Role,
    pub agent: AgentName,
    /// Whose work it is.
    pub share: Share,
    pub expires_at: Timestamp,
}
