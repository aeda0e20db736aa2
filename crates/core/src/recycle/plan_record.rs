//! The plan of a breakdown as it waits for the human, and what became of it.

use serde::{Deserialize, Serialize};

use crate::base::id::TaskId;
use crate::base::time::Timestamp;
use crate::people::actor::Actor;
use crate::recycle::plan::Plan;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanRecord {
    /// The breakdown task that asked for it. It has one plan; a new one replaces the old.
    pub task_id: TaskId,
    pub plan: Plan,
    pub submitted_by: Actor,
    pub submitted_at: Timestamp,
}
