//! The stored plan of a breakdown, while it waits for the human.

use serde::{Deserialize, Serialize};

use crate::base::id::TaskId;
use crate::base::time::Timestamp;
use crate::people::actor::Actor;
use crate::recycle::plan::Plan;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanRecord {
    /// The breakdown task it belongs to. It has one plan; a new one replaces it.
    pub task_id: TaskId,
    pub plan: Plan,
    pub submitted_by: Actor,
    pub submitted_at: Timestamp,
}
