//! What a command did to a task: where it stood, where it stands.

use baton_core::base::git_name::BranchName;
use baton_core::base::id::TaskId;
use baton_core::base::remote_url::RemoteUrl;
use baton_core::task::Task;
use baton_core::task::state::{QueueName, TaskStatus};
use baton_engine::landing::acceptor::Landing;
use serde::Serialize;

#[derive(Debug, Clone, Serialize)]
pub struct TransitionView {
    pub task_id: TaskId,
    pub old_status: TaskStatus,
    pub new_status: TaskStatus,
    pub queue: QueueName,
}

impl TransitionView {
    pub fn of(old_status: TaskStatus, task: &Task) -> Self {
        let state = task.state();
        Self { task_id: task.id(), old_status, new_status: state.status(), queue: state.queue() }
    }
}

/// The same for accepted work, and where it is now.
#[derive(Debug, Clone, Serialize)]
pub struct AcceptedView {
    #[serde(flatten)]
    transition: TransitionView,
    /// The branch it was merged into; none where there was nothing to merge.
    branch: Option<BranchName>,
    /// The remote that branch is on, where machines share their code by one.
    remote: Option<RemoteUrl>,
}

impl AcceptedView {
    pub fn of(transition: TransitionView, landing: Option<Landing>) -> Self {
        let (branch, remote) = match landing {
            Some(Landing { branch, remote }) => (Some(branch), remote),
            None => (None, None),
        };
        Self { transition, branch, remote }
    }
}
