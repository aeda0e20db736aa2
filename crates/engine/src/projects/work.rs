//! The branches and commits of a task's work: where it starts, what it changed, and how to restore it.

use std::path::Path;

use baton_core::base::git_name::{BranchName, CommitId};
use baton_core::base::id::{AttemptId, TaskId};
use baton_core::records::project::Project;
use baton_core::task::{Purpose, Task};

use crate::base::error::{EngineError, Entity, NotFound};
use crate::git::{MergeSpec, Merged, Place, Repository, Restored, Worktrees};
use crate::projects::Projects;

impl Projects {
    /// Merges the project's base, or else the user's current branch, into the integration branch. Does not touch the
    /// user's checkout. With checks it only follows the user's branch forwards: a merge would be a commit nobody has
    /// checked (I18).
    pub(crate) async fn keep_up(
        &self,
        worktrees: &Worktrees,
        project: Option<&Project>,
    ) -> Result<(), EngineError> {
        let repository = worktrees.repository();
        let integration = BranchName::integration();
        let mut base = match project {
            Some(project) => project.base_branch.clone(),
            None => user_branch(repository).await?,
        };
        let mut tips = repository.tips(&[&base, &integration]).await?;
        // A branch without commits: use the default branch, or fail with its error.
        if !tips.contains_key(&base) {
            base = repository.default_branch().await?;
            tips = repository.tips(&[&base, &integration]).await?;
        }
        let tips = (tips.get(&base).cloned(), tips.get(&integration).cloned());
        // Already merged, and neither branch changed since.
        if tips.0 == tips.1 && tips.0.is_some() || self.repositories.is_gathered(&tips) {
            return Ok(());
        }
        repository.ensure_branch(&integration, &base).await?;
        if self.has_checks(project).await && !worktrees.is_behind(&integration, &base).await? {
            return Ok(());
        }
        let message = format!("Merge {base} into {integration}");
        let spec = MergeSpec { branch: base, head: None, into: integration, message };
        // The user resolves a conflict with their own work when they merge.
        match worktrees.merge(&spec).await {
            Ok(Merged::Already { .. }) => self.repositories.note_gathered(tips),
            Ok(_) => {}
            // Checked out or locked: work starts from its current tip until that changes.
            Err(error) if error.is_in_the_way() => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// What to check out for a task: its own branch or, for a breakdown, the branch with the current code.
    pub async fn stand(
        &self,
        task: &Task,
        worktrees: &Worktrees,
        from: BranchName,
    ) -> Result<Place, EngineError> {
        match task.spec().purpose {
            Purpose::Work | Purpose::Run => Ok(Place::Task { branch: BranchName::for_task(task.id()), from }),
            Purpose::Breakdown { replaces_task_id: Some(replaced), .. } => {
                let branch = worktrees.repository().truth(&BranchName::for_task(replaced), &from).await?;
                Ok(Place::Reading { branch })
            }
            Purpose::Breakdown { replaces_task_id: None, .. } => Ok(Place::Reading { branch: from }),
        }
    }

    /// The worktrees of the repository in which the task's attempts run.
    pub async fn worktrees_of(&self, task: TaskId) -> Result<Worktrees, EngineError> {
        let project = self.project(&self.tasks.task(task).await?.value).await?;
        self.open_source(&self.source(project.as_ref())).await
    }

    /// The diff of a task against the branch it is merged into: what merging it would change, or what it has changed.
    pub async fn diff(&self, task: &Task) -> Result<String, EngineError> {
        let (worktrees, branch) = self.repository_as_shared(task).await?;
        let repository = worktrees.repository();
        let (Some(tip), Some(head)) =
            (repository.tip(&branch).await?, repository.tip(&BranchName::for_task(task.id())).await?)
        else {
            return Ok(String::new());
        };
        if !repository.is_ancestor(&head, &tip).await? {
            return Ok(repository.diff(&tip, &head).await?.text);
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
        let (worktrees, _) = self.repository_as_shared(task).await?;
        Ok(worktrees.repository().diff(from, to).await?.text)
    }

    /// The branch's own commit by which the work of a task came into it, if it has.
    pub async fn landed_as(&self, task: &Task) -> Result<Option<(BranchName, CommitId)>, EngineError> {
        let (worktrees, branch) = self.repository_as_shared(task).await?;
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

async fn user_branch(repository: &Repository) -> Result<BranchName, EngineError> {
    match repository.current_branch().await? {
        Some(branch) => Ok(branch),
        None => Ok(repository.default_branch().await?),
    }
}
