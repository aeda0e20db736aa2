//! Claiming work.

use std::collections::BTreeMap;

use baton_core::base::id::AttemptId;
use baton_core::base::text::{AgentName, Role};
use baton_core::people::actor::Actor;
use baton_core::records::change::Versioned;
use baton_core::schedule::{AgentIntake, Capacity, WorkerFit};
use baton_core::task::Task;

use crate::model::lease::Lease;

/// One worker's request. Core decides order and limits (`schedule::pick`); the store only counts what is running.
#[derive(Debug, Clone)]
pub struct ClaimRequest {
    /// The roles this worker serves, and the agent for each.
    pub agents: BTreeMap<Role, AgentName>,
    pub worker: String,
    /// Unused ids, one for each task that may be claimed.
    pub attempt_ids: Vec<AttemptId>,
    pub lease_ms: i64,
    /// Limits over everything running in this store.
    pub capacity: Capacity,
    pub intakes: BTreeMap<AgentName, AgentIntake>,
    /// Which tasks this worker can run at all.
    pub fit: WorkerFit,
    pub actor: Actor,
}

/// A claimed task and the lease on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedTask {
    pub task: Versioned<Task>,
    pub lease: Lease,
}
