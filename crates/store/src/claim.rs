//! Asking for work.

use std::collections::BTreeMap;

use baton_core::base::id::AttemptId;
use baton_core::base::text::{AgentName, Role};
use baton_core::people::actor::Actor;
use baton_core::records::change::Versioned;
use baton_core::schedule::{AgentIntake, Capacity, WorkerFit};
use baton_core::task::Task;

use crate::lease::Lease;

/// One worker's request. The limits and the order are core's (`schedule::pick`); the store only counts what runs.
#[derive(Debug, Clone)]
pub struct ClaimRequest {
    /// Which roles this worker serves, and with which agent.
    pub agents: BTreeMap<Role, AgentName>,
    pub worker: String,
    /// One unused id for each task that may be claimed at most.
    pub attempt_ids: Vec<AttemptId>,
    pub lease_ms: i64,
    /// Limits over everything that runs in this store.
    pub capacity: Capacity,
    pub intakes: BTreeMap<AgentName, AgentIntake>,
    /// What this worker can take at all.
    pub fit: WorkerFit,
    pub actor: Actor,
}

/// A task this worker now works on, and for how long before it must renew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claimed {
    pub task: Versioned<Task>,
    pub lease: Lease,
}
