//! The branches and commits of a task's work: where it starts, what it changed, and how to restore it.

use std::path::Path;

use baton_core::base::git_name::BranchName;
use baton_core::base::id::{AttemptId, TaskId};
use baton_core::task::{Purpose, Task};

use crate::base::error::{EngineError, Entity, NotFound};
use crate::git::{MergeSpec, Merged, Place as Stand, Repository, Restored, Worktrees};
use crate::projects::Projects;

impl Projects {
    /// Keeps the branch up to date on which work comes together that is for no feature: with the project's base, or else
    /// with what the human is on. Their checkout is never touched; they merge it when they like.
    pub(crate) async fn keep_up(
        &self,
        worktrees: &Worktrees,
        base: Option<&BranchName>,
    ) -> Result<(), EngineError> {
        let repository = worktrees.repository();
        let gathering = BranchName::integration();
        let mut base = match base {
            Some(base) => base.clone(),
            None => humans_branch(repository).await?,
        };
        let mut tips = repository.tips(&[&base, &gathering]).await?;
        // Nearly always it is a branch that has commits; else another is looked for, and the error says what is wrong.
        if !tips.contains_key(&base) {
            base = repository.default_branch().await?;
            tips = repository.tips(&[&base, &gathering]).await?;
        }
        let stand = (tips.get(&base).cloned(), tips.get(&gathering).cloned());
        // Merged before, and neither has moved since.
        if stand.0 == stand.1 && stand.0.is_some() || self.repositories.is_gathered(&stand) {
            return Ok(());
        }
        repository.ensure_branch(&gathering, &base).await?;
        let message = format!("Merge {base} into {gathering}");
        let spec = MergeSpec { branch: base, into: gathering, message };
        // A conflict with the human's own work is theirs to resolve when they merge; until then both stand.
        match worktrees.merge(&spec).await {
            Ok(Merged::Already { .. }) => self.repositories.note_gathered(stand),
            Ok(_) => {}
            // Somebody has it checked out or locked; work starts from where it stands until they let go.
            Err(error) if error.is_in_the_way() => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// What the worktree of a task stands on: its own branch, or, to plan a breakdown, the branch that holds the truth.
    pub async fn stand(
        &self,
        task: &Task,
        worktrees: &Worktrees,
        from: BranchName,
    ) -> Result<Stand, EngineError> {
        match task.spec().purpose {
            Purpose::Work | Purpose::Run => Ok(Stand::Task { branch: BranchName::for_task(task.id()), from }),
            Purpose::Breakdown { replaces_task_id: Some(replaced), .. } => {
                let branch = worktrees.repository().truth(&BranchName::for_task(replaced), &from).await?;
                Ok(Stand::Reading { branch })
            }
            Purpose::Breakdown { replaces_task_id: None, .. } => Ok(Stand::Reading { branch: from }),
        }
    }

    /// The worktrees of whatever repository an attempt of this task ran in.
    pub async fn worktrees_of(&self, task: TaskId) -> Result<Worktrees, EngineError> {
        let project = self.project(&self.tasks.task(task).await?.value).await?;
        self.open_source(&self.source(project.as_ref())).await
    }

    /// What a task changed, against the branch it goes into.
    pub async fn diff(&self, task: &Task) -> Result<String, EngineError> {
        let (worktrees, branch) = self.repository_as_shared(task).await?;
        let repository = worktrees.repository();
        let (Some(base), Some(head)) =
            (repository.tip(&branch).await?, repository.tip(&BranchName::for_task(task.id())).await?)
        else {
            return Ok(String::new());
        };
        Ok(repository.diff(&base, &head).await?.text)
    }

    /// Everything an attempt had, in a new folder.
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

async fn humans_branch(repository: &Repository) -> Result<BranchName, EngineError> {
    match repository.current_branch().await? {
        Some(branch) => Ok(branch),
        None => Ok(repository.default_branch().await?),
    }
}
