//! The order of a lane.

use crate::base::id::TaskId;
use crate::base::priority::Priority;
use crate::base::time::Timestamp;
use crate::task::Task;
use crate::task::ledger::TaskNote;
use crate::task::state::{LaneEntry, TaskState};

/// The most candidates that are checked together. More would share one run, and take longer to take apart when it fails.
pub const BATCH_MAX: usize = 16;

/// A task that waits to land. Candidates of one lane land in the order of this type: urgent ones first, then first come,
/// first served. What a task depends on is done before it starts, and so is never behind it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LanePlace {
    priority: Priority,
    since: Timestamp,
    task: TaskId,
}

impl LanePlace {
    /// None if the task is not in a lane.
    pub fn of_task(task: &Task) -> Option<Self> {
        let entry = lane_entry(task)?;
        Some(Self { priority: task.spec().priority, since: entry.since, task: task.id() })
    }
}

/// Whether it was accepted and came back because its branch fails without it: until a person has looked at that, accepting
/// it again would only fail again.
pub fn waits_for_branch(task: &Task) -> bool {
    match (task.state(), task.ledger().notes.last()) {
        (TaskState::Provisional(_), Some(TaskNote::NotLanded { reason, .. })) => !reason.is_fault_of_task(),
        _ => false,
    }
}

pub const fn lane_entry(task: &Task) -> Option<&LaneEntry> {
    match task.state() {
        TaskState::Landing(entry) => Some(entry),
        TaskState::Incoming
        | TaskState::Held
        | TaskState::Breakdown { .. }
        | TaskState::Claimed { .. }
        | TaskState::NeedsContinuation { .. }
        | TaskState::AwaitingResponse { .. }
        | TaskState::Blocked { .. }
        | TaskState::Provisional(_)
        | TaskState::Recycled { .. }
        | TaskState::Done { .. }
        | TaskState::Failed { .. }
        | TaskState::Cancelled { .. } => None,
    }
}
