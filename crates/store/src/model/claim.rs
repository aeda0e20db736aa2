//! Claiming work.

use std::collections::BTreeMap;

use baton_core::actor::Actor;
use baton_core::change::Stored;
use baton_core::id::AttemptId;
use baton_core::schedule::{Capacity, Fit, Intake};
use baton_core::task::Task;
use baton_core::text::{AgentName, Role};

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
    pub intakes: BTreeMap<AgentName, Intake>,
    /// Which tasks this worker can run at all.
    pub fit: Fit,
    pub actor: Actor,
}

/// A claimed task and the lease on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedTask {
    pub task: Stored<Task>,
    pub lease: Lease,
}
