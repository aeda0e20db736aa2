//! Pushes the work of attempts, so that other machines can accept or continue it.
//!
//! The branch is pushed before the end of the attempt is written, and only by the holder of its lease. So accepted work
//! can always be merged, and a worker that lost its lease changes nothing. A failed push is recorded in the state folder
//! and retried until it succeeds.

use std::fs;
use std::path::{Path, PathBuf};

use baton_core::base::git_name::{BranchName, CommitId};
use baton_core::base::id::{AttemptId, TaskId};
use baton_core::task::Task;
use baton_core::task::state::TaskState;
use serde::{Deserialize, Serialize};

use crate::base::error::{EngineError, FolderError};
use crate::git::{Checkout, CheckoutBase, GitError, Pushed, Worktrees};
use crate::projects::Projects;

/// Attempts to push a branch that others keep changing.
const TRIES_MAX: u32 = 3;

/// Work that has not been pushed yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingPush {
    pub task: TaskId,
    pub attempt: AttemptId,
    /// The new tip of the task's branch; none if only the snapshot is to be pushed.
    pub head: Option<CommitId>,
}

/// The pending pushes, one file for each attempt.
#[derive(Debug, Clone)]
pub struct Unpushed {
    folder: PathBuf,
}

impl Unpushed {
    pub fn new(state_dir: &Path) -> Self {
        Self { folder: state_dir.join("unpushed") }
    }

    /// Writes the file atomically.
    fn record(&self, what: &PendingPush) -> Result<(), EngineError> {
        let path = self.path(what.attempt);
        let failed = |error: std::io::Error| FolderError { path: path.clone(), detail: error.to_string() };
        fs::create_dir_all(&self.folder).map_err(failed)?;
        let text = serde_json::to_string(what).map_err(|error| failed(error.into()))?;
        let draft = path.with_extension("new");
        Ok(fs::write(&draft, text).and_then(|()| fs::rename(&draft, &path)).map_err(failed)?)
    }

    fn remove(&self, attempt: AttemptId) {
        // Usually there is no file.
        let _ = fs::remove_file(self.path(attempt));
    }

    fn path(&self, attempt: AttemptId) -> PathBuf {
        self.folder.join(format!("{attempt}.json"))
    }

    pub fn all(&self) -> Vec<PendingPush> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let texts = entries.filter(|entry| entry.path().extension().is_some_and(|end| end == "json"));
        texts.filter_map(|entry| serde_json::from_str(&fs::read_to_string(entry.path()).ok()?).ok()).collect()
    }

    /// Whether this machine has work of the task that is not pushed.
    pub fn has_work_of(&self, task: TaskId) -> bool {
        self.all().iter().any(|what| what.task == task && what.head.is_some())
    }
}

impl Projects {
    pub(crate) fn unpushed(&self) -> Unpushed {
        Unpushed::new(&self.place.state_dir)
    }

    /// Pushes the attempt's branch. Returns the commit that must be pushed before the work can be accepted, if any.
    pub(crate) async fn hand_in(
        &self,
        worktrees: &Worktrees,
        checkout: &Checkout,
        head: &CommitId,
    ) -> Result<Option<CommitId>, EngineError> {
        let (true, CheckoutBase::Task { branch, .. }) = (worktrees.repository().is_clone(), &checkout.place)
        else {
            return Ok(None);
        };
        let attempt = checkout.attempt;
        let expected = worktrees.expected(attempt).await?;
        let is_nothing_new = *head == checkout.base && expected.is_none();
        if is_nothing_new || expected.as_ref() == Some(head) {
            return Ok(None);
        }
        let Some(record) = self.tasks.store.attempt(attempt).await? else { return Ok(None) };
        let what = PendingPush { task: record.task_id, attempt, head: Some(head.clone()) };
        // Recorded first, so that a crash does not lose it.
        self.unpushed().record(&what)?;
        if let Err(error) = self.push(worktrees, &what, branch).await {
            (self.announce)(&format!("{attempt}: cannot push its work yet; will retry: {error}"));
        }
        Ok(Some(head.clone()))
    }

    /// Saves and pushes everything of an attempt that was stopped or lost its lease, under the attempt's own ref. If it
    /// still has its lease, also pushes its branch, so that another attempt can continue.
    pub(crate) async fn hand_over(&self, task: &Task, attempt: AttemptId) {
        if let Err(error) = self.try_hand_over(task, attempt).await {
            (self.announce)(&format!("{attempt}: cannot push its work yet: {error}"));
        }
    }

    async fn try_hand_over(&self, task: &Task, attempt: AttemptId) -> Result<(), EngineError> {
        let (worktrees, from) = self.repository(task).await?;
        if !worktrees.repository().is_clone() {
            return Ok(());
        }
        let place = self.stand(task, &worktrees, from).await?;
        // It may have ended before it had a worktree, or another attempt has it now.
        let Some(checkout) = worktrees.open(attempt, place).await? else { return Ok(()) };
        if self.is_ours(attempt).await? {
            let limited = worktrees.with_large_files(self.settings.large_file_bytes());
            let settled = limited.settle(&checkout).await?;
            self.hand_in(&worktrees, &checkout, &settled.measured.head).await?;
        }
        match worktrees.vault(attempt).await {
            Ok(_) | Err(GitError::HandedOn { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        self.push_vault(&worktrees, task.id(), attempt).await
    }

    /// Brings what a stopped attempt has to its task's branch, so that the task's conversation can go on from it. A worktree that
    /// a person has taken over is theirs.
    pub(crate) async fn keep_stopped(&self, task: &Task, attempt: AttemptId) {
        if let Err(error) = self.try_keep_stopped(task, attempt).await {
            (self.announce)(&format!("{attempt}: its work is not on its branch yet: {error}"));
        }
    }

    async fn try_keep_stopped(&self, task: &Task, attempt: AttemptId) -> Result<(), EngineError> {
        let stopped = self.tasks.task(task.id()).await?.value;
        let is_held = *stopped.state() == TaskState::Held && stopped.ledger().taken.is_none();
        if !is_held || stopped.ledger().resumes != Some(attempt) {
            return Ok(());
        }
        let (worktrees, from) = self.repository(task).await?;
        let place = self.stand(task, &worktrees, from).await?;
        if let Some(checkout) = worktrees.open(attempt, place).await? {
            worktrees.with_large_files(self.settings.large_file_bytes()).settle(&checkout).await?;
        }
        Ok(())
    }

    /// Pushes the snapshot of an attempt, now or later.
    pub(crate) async fn push_vault(
        &self,
        worktrees: &Worktrees,
        task: TaskId,
        attempt: AttemptId,
    ) -> Result<(), EngineError> {
        if !worktrees.repository().is_clone() {
            return Ok(());
        }
        let unpushed = self.unpushed();
        let head = unpushed.all().into_iter().find(|what| what.attempt == attempt).and_then(|what| what.head);
        unpushed.record(&PendingPush { task, attempt, head: head.clone() })?;
        worktrees.push_vault(attempt).await?;
        if head.is_none() {
            unpushed.remove(attempt);
        }
        Ok(())
    }

    /// Retries a push.
    pub(crate) async fn push_again(&self, what: &PendingPush) -> Result<(), EngineError> {
        let worktrees = self.worktrees_of(what.task).await?;
        self.push(&worktrees, what, &BranchName::for_task(what.task)).await
    }

    /// Pushes the branch, if the attempt's work still counts, and the snapshot.
    async fn push(
        &self,
        worktrees: &Worktrees,
        what: &PendingPush,
        branch: &BranchName,
    ) -> Result<(), EngineError> {
        let attempt = what.attempt;
        if let Some(head) = &what.head {
            let mut expected = worktrees.expected(attempt).await?;
            for _ in 0..TRIES_MAX {
                if !self.counts(what).await? {
                    break;
                }
                if worktrees.push_work(attempt, branch, head, expected.as_ref()).await? == Pushed::Done {
                    break;
                }
                // An attempt that had lost its lease pushed first. Its work is in its snapshot; ours counts.
                worktrees.pull(&[], Some(branch), true).await?;
                let theirs = worktrees.origin_tip(branch).await?;
                if theirs.as_ref() == Some(head) {
                    break;
                }
                expected = theirs;
            }
        }
        worktrees.push_vault(attempt).await?;
        self.unpushed().remove(attempt);
        Ok(())
    }

    /// Whether the task's branch should have the attempt's work: it is running, or was the last to end.
    async fn counts(&self, what: &PendingPush) -> Result<bool, EngineError> {
        let task = self.tasks.task(what.task).await?.value;
        if task.state().live_attempt().is_some_and(|live| live.id == what.attempt) {
            return Ok(true);
        }
        let last = self.tasks.store.attempts(what.task).await?.pop();
        Ok(last.is_some_and(|record| record.attempt.id == what.attempt))
    }

    /// Whether this worker still has the attempt's lease.
    pub(crate) async fn is_ours(&self, attempt: AttemptId) -> Result<bool, EngineError> {
        let lost = self.tasks.store.renew(&self.node.name, &[attempt], self.settings.lease_ms()).await?;
        Ok(lost.is_empty())
    }
}
