//! What a command did to a task: where it stood, where it stands.

use baton_core::id::TaskId;
use baton_core::state::{Queue, Status};
use baton_core::task::Task;
use serde::Serialize;

#[derive(Debug, Clone, Serialize)]
pub struct TransitionView {
    pub task_id: TaskId,
    pub old_status: Status,
    pub new_status: Status,
    pub queue: Queue,
}

impl TransitionView {
    pub fn of(old_status: Status, task: &Task) -> Self {
        let state = task.state();
        Self { task_id: task.id(), old_status, new_status: state.status(), queue: state.queue() }
    }
}
