//! What a task rests on: accepted work of other tasks that it was started on before that had landed.

use std::collections::BTreeSet;

use baton_core::base::id::TaskId;
use baton_core::task::Task;
use baton_core::task::state::{ReplacedBy, TaskState};

use crate::base::error::EngineError;
use crate::projects::Projects;

/// A task that another rests on and that has not landed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UnmetFoundation {
    pub task: TaskId,
    /// It was cancelled, so it never will, unless a person brings it back.
    pub is_cancelled: bool,
}

/// Those that this task rests on, itself or as a part of one that was too large.
pub(crate) async fn unmet(projects: &Projects, task: &Task) -> Result<Vec<UnmetFoundation>, EngineError> {
    let mut open = task.ledger().rests_on.clone();
    if let Some(whole) = projects.recycled_task(task).await? {
        open.extend(&projects.tasks.task(whole).await?.value.ledger().rests_on);
    }
    let mut seen = BTreeSet::new();
    let mut unmet = Vec::new();
    while let Some(id) = open.pop() {
        if !seen.insert(id) {
            continue;
        }
        match projects.tasks.task(id).await?.value.state() {
            TaskState::Done { .. } => {}
            TaskState::Recycled { replaced_by: ReplacedBy::Tasks(parts) } => open.extend(parts),
            TaskState::Cancelled { .. } => unmet.push(UnmetFoundation { task: id, is_cancelled: true }),
            TaskState::Incoming
            | TaskState::Held
            | TaskState::Breakdown { .. }
            | TaskState::Claimed { .. }
            | TaskState::NeedsContinuation { .. }
            | TaskState::AwaitingResponse { .. }
            | TaskState::Blocked { .. }
            | TaskState::Provisional(_)
            | TaskState::Landing(_)
            | TaskState::Recycled { .. }
            | TaskState::Failed { .. } => unmet.push(UnmetFoundation { task: id, is_cancelled: false }),
        }
    }
    Ok(unmet)
}
