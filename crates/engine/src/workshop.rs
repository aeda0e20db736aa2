//! The workshop: what everyone who works on tasks here shares.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use baton_agents::driver::Clock;
use baton_core::attempt::{AttemptResult, ErrorCause};
use baton_core::git_name::BranchName;
use baton_core::id::{AttemptId, TaskId};
use baton_core::project::Project;
use baton_core::task::{Purpose, Task};
use baton_core::time::Timestamp;
use baton_store::Store;

use crate::desk::Desk;
use crate::error::EngineError;
use crate::intakes::Intakes;
use crate::place::Place;
use crate::running::Running;
use crate::settings::Settings;
use crate::worktree::{Git, MergeSpec, Place as Stand, Repository, Restored, Worktrees};

/// Tells a person something while work goes on.
pub type Say = Arc<dyn Fn(&str) + Send + Sync>;

#[derive(Clone)]
pub struct Workshop<S> {
    pub desk: Desk<S>,
    pub settings: Arc<Settings>,
    pub place: Place,
    pub git: Git,
    pub running: Running,
    pub intakes: Intakes,
    /// Called with what a person should hear of.
    pub say: Say,
    /// Who claims: this machine and this store, the same after a restart.
    pub worker: String,
    /// Baton's own program, for agents that call it and for the built-in one.
    pub program: PathBuf,
}

impl<S: Store> Workshop<S> {
    /// The repository a task's work happens in, and the branch it starts from and is merged into.
    pub async fn repository(&self, task: &Task) -> Result<(Worktrees, BranchName), EngineError> {
        let project = self.project(task).await?;
        let path =
            project.as_ref().map_or_else(|| self.place.root.clone(), |project| PathBuf::from(&project.path));
        let repository = Repository::open(&self.git, &path).await?;
        let worktrees = Worktrees::new(repository, &self.place.state_dir)?;
        let branch = match &project {
            Some(project) => {
                if let Some(feature) = &project.feature_branch {
                    worktrees.repository().ensure_branch(feature, &project.base_branch).await?;
                }
                project.branch().clone()
            }
            None => self.gathering_branch(&worktrees).await?,
        };
        Ok((worktrees, branch))
    }

    /// Where work without a project comes together: a branch of Baton's own, kept up to date with the human's, whose
    /// checkout is never touched. They merge it when they like.
    async fn gathering_branch(&self, worktrees: &Worktrees) -> Result<BranchName, EngineError> {
        let base = worktrees.repository().default_branch().await?;
        let gathering = BranchName::gathering();
        worktrees.repository().ensure_branch(&gathering, &base).await?;
        let message = format!("Merge {base} into {gathering}");
        let spec = MergeSpec { branch: base, into: gathering.clone(), message };
        // A conflict with the human's own work is theirs to resolve when they merge; until then both stand.
        worktrees.merge(&spec).await?;
        Ok(gathering)
    }

    async fn project(&self, task: &Task) -> Result<Option<Project>, EngineError> {
        let Some(id) = task.spec().project_id else { return Ok(None) };
        let missing = || EngineError::NotFound { kind: "project", key: id.to_string() };
        Ok(Some(self.desk.store.project(id).await?.ok_or_else(missing)?.value))
    }

    /// What the worktree of a task stands on: its own branch, or, to plan a breakdown, the branch that holds the truth.
    pub async fn stand(
        &self,
        task: &Task,
        worktrees: &Worktrees,
        from: BranchName,
    ) -> Result<Stand, EngineError> {
        match task.spec().purpose {
            Purpose::Work | Purpose::Run => Ok(Stand::Task { branch: BranchName::of_task(task.id()), from }),
            Purpose::Breakdown { replaces_task_id: Some(replaced), .. } => {
                let branch = worktrees.repository().truth(&BranchName::of_task(replaced), &from).await?;
                Ok(Stand::Reading { branch })
            }
            Purpose::Breakdown { replaces_task_id: None, .. } => Ok(Stand::Reading { branch: from }),
        }
    }

    /// Where an attempt keeps what is not in git: its log, and who its process is.
    pub fn attempt_folder(&self, attempt: AttemptId) -> PathBuf {
        self.place.state_dir.join("attempts").join(attempt.to_string())
    }

    pub fn clock() -> Clock {
        Arc::new(|| {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            Timestamp::from_ms(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
        })
    }

    /// The worktrees of whatever repository an attempt of this task ran in.
    pub async fn worktrees_of(&self, task: TaskId) -> Result<Worktrees, EngineError> {
        let task = self.desk.task(task).await?.value;
        Ok(self.repository(&task).await?.0)
    }

    /// How the agent fared decides whether it takes more work. To be noted before the task goes back to the queue.
    pub async fn note_intake(&self, task: &Task, result: &AttemptResult) -> Result<(), EngineError> {
        let Some(live) = task.state().live_attempt() else { return Ok(()) };
        match result {
            AttemptResult::Error { cause: ErrorCause::Systemic, message } => {
                let now = self.desk.store.now().await?;
                if let Some(until) = self.intakes.systemic_failure(&live.agent, now) {
                    (self.say)(&format!("agent {} rests until {until}: {message}", live.agent));
                }
            }
            AttemptResult::Complete
            | AttemptResult::Incomplete
            | AttemptResult::NoEvidence
            | AttemptResult::NoChanges { .. }
            | AttemptResult::Asked { .. }
            | AttemptResult::Blocked { .. }
            | AttemptResult::Error { cause: ErrorCause::Own, .. }
            | AttemptResult::TurnLimit => self.intakes.success(&live.agent),
        }
        Ok(())
    }

    /// What a task changed, against the branch it goes into.
    pub async fn diff(&self, task: &Task) -> Result<String, EngineError> {
        let (worktrees, branch) = self.repository(task).await?;
        let repository = worktrees.repository();
        let (Some(base), Some(head)) =
            (repository.tip(&branch).await?, repository.tip(&BranchName::of_task(task.id())).await?)
        else {
            return Ok(String::new());
        };
        Ok(repository.diff(&base, &head).await?.text)
    }

    /// Everything an attempt had, in a new folder.
    pub async fn restore(&self, attempt: AttemptId, into: &Path) -> Result<Restored, EngineError> {
        let missing = || EngineError::NotFound { kind: "attempt", key: attempt.to_string() };
        let record = self.desk.store.attempt(attempt).await?.ok_or_else(missing)?;
        Ok(self.worktrees_of(record.task_id).await?.restore(attempt, into).await?)
    }
}
