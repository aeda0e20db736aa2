//! What people have to know about finished work besides its evidence: whether its branch has moved since, and why the policy
//! that is set does not accept it.

use baton_core::base::accept_policy::AcceptPolicy;
use baton_core::base::git_name::BranchName;
use baton_core::base::id::TaskId;
use baton_core::base::words::pluralize;
use baton_core::records::project::Project;
use baton_core::task::Task;
use baton_core::task::state::{Provisional, ReviewMark, TaskState};
use serde::{Deserialize, Serialize};

use crate::base::error::EngineError;
use crate::landing::withdrawn;
use crate::projects::Projects;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkStanding {
    /// The branch that the work is for.
    pub into: BranchName,
    /// The person's own branch, where that is ahead and the work is merged on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ahead: Option<BranchName>,
    /// The commits of the branch that it is merged on since the one that the work was measured from.
    pub moved_by: u32,
    /// The commits in it that its branch or the person's gave it and has no longer, each with its subject. Accepted, the work
    /// goes back to its agent to leave them out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withdrawn: Vec<String>,
    /// With those: the task whose work it was started on and that has to land first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<TaskId>,
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
        let mut standing = Self {
            into,
            ahead: None,
            moved_by: 0,
            withdrawn: Vec::new(),
            waits_for: None,
            waits_because: None,
        };
        standing.look_at_branches(projects, project.as_ref(), task).await?;
        standing.waits_because = waits_because(projects, task).await;
        Ok(Some(standing))
    }

    /// As far as they are known on this machine.
    async fn look_at_branches(
        &mut self,
        projects: &Projects,
        project: Option<&Project>,
        task: &Task,
    ) -> Result<(), EngineError> {
        let end = task.ledger().last_end.as_ref();
        let Some(base) = end.and_then(|end| end.verified.base.as_ref()) else { return Ok(()) };
        let source = projects.source(project);
        if !projects.folder_of(&source).is_dir() {
            return Ok(());
        }
        let worktrees = projects.open_source(&source).await?;
        let repository = worktrees.repository();
        if let Some(found) = withdrawn::find_in(projects, &worktrees, task).await? {
            (self.withdrawn, self.waits_for) = (found.commits, found.waits_for);
        }
        let Some(tip) = repository.tip(&self.into).await? else { return Ok(()) };
        let trunk = projects.trunk(&worktrees, project).await?.filter(|trunk| trunk.branch != self.into);
        let ground = trunk.as_ref().map_or(&tip, |trunk| &trunk.commit);
        if let Some(base) = repository.commit_at(base.as_str()).await? {
            self.moved_by = repository.steps_between(&base, ground).await?;
        }
        self.ahead = trunk.map(|trunk| trunk.branch);
        Ok(())
    }

    /// In one line, if it has moved.
    pub fn moved(&self) -> Option<String> {
        let commits = pluralize(u64::from(self.moved_by), "commit");
        let branch = self.ahead.as_ref().unwrap_or(&self.into);
        (self.moved_by > 0).then(|| format!("{branch} has moved since: {commits}"))
    }

    /// In two sentences, if it contains commits that were withdrawn.
    pub fn on_withdrawn(&self) -> Option<String> {
        let waits = self
            .waits_for
            .map(|task| format!("waits until the work of {task}, which it was started on, has landed, and "));
        (!self.withdrawn.is_empty()).then(|| {
            format!(
                "It contains commits that were withdrawn or replaced since: {}. Accepted, it {}goes back to its agent, which \
                 leaves them out; forced, it lands with them, but work that needs a closer look goes back first.",
                self.withdrawn.join("; "),
                waits.unwrap_or_default()
            )
        })
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
