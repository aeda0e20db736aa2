//! A lease: a worker's claim that an attempt is alive, valid until a time on the store's clock.

use baton_core::base::id::{AttemptId, TaskId};
use baton_core::base::text::{AgentName, Role};
use baton_core::base::time::Timestamp;
use baton_core::schedule::Share;

/// Held from the claim until the attempt is closed; the transaction that closes the attempt deletes the lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    pub attempt: AttemptId,
    pub task: TaskId,
    pub worker: String,
    pub role: Role,
    pub agent: AgentName,
    /// The project and person it counts against.
    pub share: Share,
    pub expires_at: Timestamp,
}
