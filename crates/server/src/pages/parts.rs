//! Tasks that were broken down: whether all their parts are done.

use std::collections::{BTreeMap, BTreeSet};

use baton_core::base::id::TaskId;
use baton_core::task::Task;
use baton_core::task::state::{ReplacedBy, TaskState};

use crate::pages::frame::response::PageError;
use crate::pages::tasks_by_id::load_tasks;
use crate::state::App;

/// Those of the tasks whose parts are all done, and the parts of parts with them.
pub(super) async fn done_in_parts<'t>(
    app: &App,
    tasks: impl IntoIterator<Item = &'t Task>,
) -> Result<BTreeSet<TaskId>, PageError> {
    let tasks: Vec<&Task> = tasks.into_iter().filter(|task| !parts_of(task).is_empty()).collect();
    let mut known: BTreeMap<TaskId, Task> = BTreeMap::new();
    let mut ahead: Vec<TaskId> = tasks.iter().flat_map(|task| parts_of(task)).copied().collect();
    while !ahead.is_empty() {
        let found = load_tasks(app, ahead).await?;
        ahead = found.values().flat_map(parts_of).copied().filter(|id| !known.contains_key(id)).collect();
        known.extend(found);
    }
    let are_done = |task: &&&Task| parts_of(task).iter().all(|part| is_done(*part, &known));
    Ok(tasks.iter().filter(are_done).map(|task| task.id()).collect())
}

fn parts_of(task: &Task) -> &[TaskId] {
    match task.state() {
        TaskState::Recycled { replaced_by: ReplacedBy::Tasks(parts) } => parts,
        _ => &[],
    }
}

/// Parts are newer than what they replace, so this ends.
fn is_done(id: TaskId, known: &BTreeMap<TaskId, Task>) -> bool {
    let Some(task) = known.get(&id) else { return false };
    let parts = parts_of(task);
    matches!(task.state(), TaskState::Done { .. })
        || (!parts.is_empty() && parts.iter().all(|part| is_done(*part, known)))
}
