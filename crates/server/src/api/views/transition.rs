//! A task's status before and after a command.

use baton_core::base::git_name::BranchName;
use baton_core::base::id::TaskId;
use baton_core::base::remote_url::RemoteUrl;
use baton_core::task::Task;
use baton_core::task::state::{QueueName, TaskStatus};
use baton_engine::landing::acceptor::Landing;
use baton_engine::tasks::service::RevisedTask;
use schemars::JsonSchema;
use serde::Serialize;

use crate::schema::words;

#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Transition")]
pub(crate) struct TransitionView {
    #[schemars(with = "words::TaskId")]
    pub task_id: TaskId,
    #[schemars(with = "words::Status")]
    pub old_status: TaskStatus,
    #[schemars(with = "words::Status")]
    pub new_status: TaskStatus,
    #[schemars(with = "words::Queue")]
    pub queue: QueueName,
}

impl TransitionView {
    pub(crate) fn new(old_status: TaskStatus, task: &Task) -> Self {
        let state = task.state();
        Self { task_id: task.id(), old_status, new_status: state.status(), queue: state.queue() }
    }
}

/// The same for an edited task, with what the edit did to others.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "RevisedTask")]
pub(crate) struct RevisedView {
    #[serde(flatten)]
    transition: TransitionView,
    /// Other tasks that wait on a task from now on, because they wait for every part of a broken-down task and did so through
    /// a dependency that was removed.
    now_waiting: Vec<NowWaiting>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct NowWaiting {
    #[schemars(with = "words::TaskId")]
    task_id: TaskId,
    #[schemars(with = "words::TaskId")]
    on: TaskId,
}

impl RevisedView {
    pub(crate) fn new(old_status: TaskStatus, revised: RevisedTask) -> Self {
        let now_waiting = revised.now_waiting.into_iter().map(|(task_id, on)| NowWaiting { task_id, on });
        Self {
            transition: TransitionView::new(old_status, &revised.task),
            now_waiting: now_waiting.collect(),
        }
    }
}

/// The same for accepted work, with where it was merged.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "AcceptedTask")]
pub(crate) struct AcceptedView {
    #[serde(flatten)]
    transition: TransitionView,
    /// The branch it was merged into, or waits to land on; none if there was nothing to merge.
    #[schemars(with = "Option<words::Text>")]
    branch: Option<BranchName>,
    /// The remote of that branch, if the project has one.
    #[schemars(with = "Option<words::Text>")]
    remote: Option<RemoteUrl>,
}

impl AcceptedView {
    pub(crate) fn new(transition: TransitionView, landing: Option<Landing>) -> Self {
        let (branch, remote) = match landing {
            Some(Landing { branch, remote }) => (Some(branch), remote),
            None => (None, None),
        };
        Self { transition, branch, remote }
    }
}
