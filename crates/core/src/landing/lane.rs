//! The order of a lane.

use std::collections::{BTreeSet, VecDeque};

use crate::base::id::TaskId;
use crate::base::priority::Priority;
use crate::base::time::Timestamp;
use crate::task::Task;
use crate::task::ledger::TaskNote;
use crate::task::not_landed::NotLanded;
use crate::task::state::{LaneEntry, TaskState};

/// The most candidates that are checked together. More would share one run, and take longer to take apart when it fails.
pub const BATCH_MAX: usize = 16;

/// A task that waits to land. Candidates of one lane land in the order of this type: urgent ones first, then first come,
/// first served; but none before what it rests on ([`lane_order`]).
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

/// A task of a lane, with what it rests on and has not landed.
#[derive(Debug, Clone)]
pub struct LaneMember {
    pub task: Task,
    pub unmet: Vec<TaskId>,
}

#[derive(Debug, Clone, Default)]
pub struct LaneOrder {
    /// In the order in which they land, each after what it rests on.
    pub candidates: Vec<Task>,
    /// What rests on tasks that are not in the lane cannot land before those do.
    pub resting: Vec<LaneMember>,
}

/// The first of those that rest on nothing behind them is next.
pub fn lane_order(mut members: Vec<LaneMember>) -> LaneOrder {
    members.sort_by_key(|member| LanePlace::of_task(&member.task));
    let mut members = VecDeque::from(members);
    let mut placed: BTreeSet<TaskId> = BTreeSet::new();
    let mut candidates = Vec::new();
    while let Some(next) = members.iter().position(|member| member.unmet.iter().all(|on| placed.contains(on)))
    {
        let Some(LaneMember { task, .. }) = members.remove(next) else { break };
        placed.insert(task.id());
        candidates.push(task);
    }
    LaneOrder { candidates, resting: members.into() }
}

/// Why accepted work stays in its lane although its turn has come: its branch, or what it started from, fails the
/// checks without it.
pub fn landing_delay(task: &Task) -> Option<&NotLanded> {
    match (task.state(), task.ledger().notes.last()) {
        (TaskState::Landing(_), Some(TaskNote::NotLanded { reason, .. })) if reason.is_delay() => {
            Some(reason)
        }
        _ => None,
    }
}

/// Whether it was accepted and came back through no fault of its own: until a person has looked at that, accepting it
/// again would only fail again.
pub fn waits_for_person(task: &Task) -> bool {
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
