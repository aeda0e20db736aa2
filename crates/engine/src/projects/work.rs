//! The branches and commits of a task's work: where it starts, what it changed, and how to restore it.

use std::path::Path;

use baton_core::base::git_name::{BranchName, CommitId};
use baton_core::base::id::{AttemptId, TaskId};
use baton_core::task::{Purpose, Task};

use crate::base::error::{EngineError, Entity, NotFound};
use crate::git::{CheckoutBase, Restored, Worktrees};
use crate::projects::Projects;

impl Projects {
    /// What to check out for a task: its own branch or, for a breakdown, the branch with the current code.
    pub async fn stand(
        &self,
        task: &Task,
        worktrees: &Worktrees,
        from: BranchName,
    ) -> Result<CheckoutBase, EngineError> {
        let project = self.project(task).await?;
        let trunk =
            self.trunk(worktrees, project.as_ref()).await?.map_or_else(|| from.clone(), |trunk| trunk.branch);
        match task.spec().purpose {
            Purpose::Work | Purpose::Run => {
                let ahead = (trunk != from).then_some(trunk);
                Ok(CheckoutBase::Task { branch: BranchName::for_task(task.id()), from, ahead })
            }
            Purpose::Breakdown { replaces_task_id: Some(replaced), .. } => {
                let branch = worktrees.repository().truth(&BranchName::for_task(replaced), &trunk).await?;
                Ok(CheckoutBase::Reading { branch })
            }
            Purpose::Breakdown { replaces_task_id: None, .. } => Ok(CheckoutBase::Reading { branch: trunk }),
        }
    }

    /// The worktrees of the repository in which the task's attempts run.
    pub async fn worktrees_of(&self, task: TaskId) -> Result<Worktrees, EngineError> {
        let project = self.project(&self.tasks.task(task).await?.value).await?;
        self.open_source(&self.source(project.as_ref())).await
    }

    /// The diff of a task against the branch it is merged into: what merging it would change, or what it has changed.
    pub async fn diff(&self, task: &Task) -> Result<String, EngineError> {
        let (worktrees, branch) = self.repository_as_it_is(task).await?;
        let repository = worktrees.repository();
        let (Some(tip), Some(head)) =
            (repository.tip(&branch).await?, repository.tip(&BranchName::for_task(task.id())).await?)
        else {
            return Ok(String::new());
        };
        if !repository.is_ancestor(&head, &tip).await? {
            let project = self.project(task).await?;
            let trunk = self.trunk(&worktrees, project.as_ref()).await?.map_or(tip, |trunk| trunk.commit);
            let mut from = worktrees.own_start(&BranchName::for_task(task.id()), &head, &[&trunk]).await?;
            // What it was measured from may have been withdrawn since; that is not its work.
            if let Some(base) = task.ledger().last_end.as_ref().and_then(|end| end.verified.base.as_ref())
                && from.is_none()
                && repository.is_part_of(base, &head).await?
                && !repository.is_ancestor(base, &trunk).await?
            {
                from = Some(base.clone());
            }
            return Ok(repository.diff(&from.unwrap_or(trunk), &head).await?.text);
        }
        // Merged: the branch has it all, so it is compared with what it started from.
        match &task.ledger().last_end.as_ref().and_then(|end| end.verified.base.clone()) {
            Some(base) if repository.is_part_of(base, &head).await? => {
                Ok(repository.diff(base, &head).await?.text)
            }
            _ => Ok(String::new()),
        }
    }

    /// The difference between two commits of the task's work.
    pub async fn diff_between(
        &self,
        task: &Task,
        from: &CommitId,
        to: &CommitId,
    ) -> Result<String, EngineError> {
        let (worktrees, _) = self.repository_as_it_is(task).await?;
        Ok(worktrees.repository().diff(from, to).await?.text)
    }

    /// The branch's own commit by which the work of a task came into it, if it has.
    pub async fn landed_as(&self, task: &Task) -> Result<Option<(BranchName, CommitId)>, EngineError> {
        let (worktrees, branch) = self.repository_as_it_is(task).await?;
        let repository = worktrees.repository();
        let (Some(tip), Some(head)) =
            (repository.tip(&branch).await?, repository.tip(&BranchName::for_task(task.id())).await?)
        else {
            return Ok(None);
        };
        if !repository.is_ancestor(&head, &tip).await? {
            return Ok(None);
        }
        let merge = worktrees.merged_by(&head, &tip).await?;
        Ok(Some((branch, merge.map_or(head, |(commit, _)| commit))))
    }

    /// Restores the files of an attempt into a new folder.
    pub async fn restore(&self, attempt: AttemptId, into: &Path) -> Result<Restored, EngineError> {
        let missing = || NotFound::new(Entity::Attempt, attempt);
        let record = self.tasks.store.attempt(attempt).await?.ok_or_else(missing)?;
        let worktrees = self.worktrees_of(record.task_id).await?;
        if worktrees.repository().is_clone() {
            worktrees.fetch_attempt(attempt).await?;
        }
        Ok(worktrees.restore(attempt, into).await?)
    }
}
