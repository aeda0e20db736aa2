//! A task's status before and after a command.

use baton_core::git_name::BranchName;
use baton_core::id::TaskId;
use baton_core::remote_url::RemoteUrl;
use baton_core::state::{Queue, Status};
use baton_core::task::Task;
use baton_engine::acceptor::Landing;
use schemars::JsonSchema;
use serde::Serialize;

use crate::schema::words;

#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Transition")]
pub(crate) struct TransitionView {
    #[schemars(with = "words::TaskId")]
    pub task_id: TaskId,
    #[schemars(with = "words::Status")]
    pub old_status: Status,
    #[schemars(with = "words::Status")]
    pub new_status: Status,
    #[schemars(with = "words::Queue")]
    pub queue: Queue,
}

impl TransitionView {
    pub(crate) fn new(old_status: Status, task: &Task) -> Self {
        let state = task.state();
        Self { task_id: task.id(), old_status, new_status: state.status(), queue: state.queue() }
    }
}

/// The same for accepted work, with where it was merged.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "AcceptedTask")]
pub(crate) struct AcceptedView {
    #[serde(flatten)]
    transition: TransitionView,
    /// The branch it was merged into; none if there was nothing to merge.
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
