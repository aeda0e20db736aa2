//! What people have to know about finished work besides its evidence: whether its branch has moved since, and why the policy
//! that is set does not accept it.

use baton_core::base::accept_policy::AcceptPolicy;
use baton_core::base::git_name::BranchName;
use baton_core::base::words::pluralize;
use baton_core::records::project::Project;
use baton_core::task::Task;
use baton_core::task::state::{Provisional, ReviewMark, TaskState};
use serde::{Deserialize, Serialize};

use crate::base::error::EngineError;
use crate::projects::Projects;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkStanding {
    /// The branch that the work is for.
    pub into: BranchName,
    /// The commits of that branch since the one that the work was measured from.
    pub moved_by: u32,
    /// Why the policy does not accept it by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_because: Option<String>,
}

impl WorkStanding {
    /// None for work that is not finished, or is over.
    pub async fn load(projects: &Projects, task: &Task) -> Result<Option<Self>, EngineError> {
        let (TaskState::Provisional(_) | TaskState::Landing(_)) = task.state() else { return Ok(None) };
        let project = projects.project(task).await?;
        let into = project.as_ref().map_or_else(BranchName::integration, Project::branch);
        let moved_by = moved_by(projects, project.as_ref(), &into, task).await?;
        let waits_because = waits_because(projects, task).await;
        Ok(Some(Self { into, moved_by, waits_because }))
    }

    /// In one line, if it has moved.
    pub fn moved(&self) -> Option<String> {
        let commits = pluralize(u64::from(self.moved_by), "commit");
        (self.moved_by > 0).then(|| format!("{} has moved since: {commits}", self.into))
    }
}

/// As far as it is known on this machine.
async fn moved_by(
    projects: &Projects,
    project: Option<&Project>,
    into: &BranchName,
    task: &Task,
) -> Result<u32, EngineError> {
    let end = task.ledger().last_end.as_ref();
    let Some(base) = end.and_then(|end| end.verified.base.as_ref()) else { return Ok(0) };
    let source = projects.source(project);
    if !projects.folder_of(&source).is_dir() {
        return Ok(0);
    }
    let worktrees = projects.open_source(&source).await?;
    let repository = worktrees.repository();
    match (repository.tip(into).await?, repository.commit_at(base.as_str()).await?) {
        (Some(tip), Some(base)) => Ok(repository.steps_between(&base, &tip).await?),
        _ => Ok(0),
    }
}

/// Settings that cannot be read are reported on the project.
async fn waits_because(projects: &Projects, task: &Task) -> Option<String> {
    let is_ready = matches!(
        task.state(),
        TaskState::Provisional(Provisional { mark: ReviewMark::Ready, question: None, .. })
    );
    let (settings, is_checked) = projects.settings_and_checks(task).await.ok()?;
    let policy = match settings.accept_policy(task) {
        AcceptPolicy::Person => return None,
        AcceptPolicy::Green => "green",
        AcceptPolicy::Reviewed => "reviewed",
    };
    (is_ready && !is_checked).then(|| {
        format!(
            "accept_when = \"{policy}\" accepts only work that something has checked, and there are neither checks in the \
             settings nor commands that verify this task"
        )
    })
}
