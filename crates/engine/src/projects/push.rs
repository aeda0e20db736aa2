//! Handing in: what an attempt came to leaves this machine, so that others can accept it or go on with it.
//!
//! The branch is pushed before the end of the attempt is written, and only by whoever still has its lease; so what can be
//! accepted is there to be merged, and a worker that was cut off moves nothing. Where the remote is away, a note is left in
//! the state folder beside the objects themselves, and it is tried again until it has worked.

use crate::base::error::FolderError;
use std::fs;
use std::path::{Path, PathBuf};

use baton_core::base::git_name::{BranchName, CommitId};
use baton_core::base::id::{AttemptId, TaskId};
use baton_core::task::Task;
use serde::{Deserialize, Serialize};

use crate::base::error::EngineError;
use crate::git::{Checkout, GitError, Place, Pushed, Worktrees};
use crate::projects::Projects;

/// Tries to push a branch that somebody else keeps moving.
const TRIES_MAX: u32 = 3;

/// Something that has not arrived at the remote yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unarrived {
    pub task: TaskId,
    pub attempt: AttemptId,
    /// The commit the task's branch is to stand on; none when only the vault is to be pushed.
    pub head: Option<CommitId>,
}

/// The notes about it, one file for each attempt.
#[derive(Debug, Clone)]
pub struct Unpushed {
    folder: PathBuf,
}

impl Unpushed {
    pub fn of(state_dir: &Path) -> Self {
        Self { folder: state_dir.join("unpushed") }
    }

    /// There as a whole or not at all.
    fn note(&self, what: &Unarrived) -> Result<(), EngineError> {
        let path = self.path(what.attempt);
        let failed = |error: std::io::Error| FolderError { path: path.clone(), detail: error.to_string() };
        fs::create_dir_all(&self.folder).map_err(failed)?;
        let text = serde_json::to_string(what).map_err(|error| failed(error.into()))?;
        let draft = path.with_extension("new");
        Ok(fs::write(&draft, text).and_then(|()| fs::rename(&draft, &path)).map_err(failed)?)
    }

    fn arrived(&self, attempt: AttemptId) {
        // Nearly always there is none.
        let _ = fs::remove_file(self.path(attempt));
    }

    fn path(&self, attempt: AttemptId) -> PathBuf {
        self.folder.join(format!("{attempt}.json"))
    }

    pub fn all(&self) -> Vec<Unarrived> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let texts = entries.filter(|entry| entry.path().extension().is_some_and(|end| end == "json"));
        texts.filter_map(|entry| serde_json::from_str(&fs::read_to_string(entry.path()).ok()?).ok()).collect()
    }

    /// Whether this machine has work of the task that the remote has not.
    pub fn holds_work_of(&self, task: TaskId) -> bool {
        self.all().iter().any(|what| what.task == task && what.head.is_some())
    }
}

impl Projects {
    pub(crate) fn unpushed(&self) -> Unpushed {
        Unpushed::of(&self.place.state_dir)
    }

    /// Pushes what the attempt came to. Answers with the commit that has to arrive before the work can be accepted; none
    /// where nothing has to travel.
    pub(crate) async fn hand_in(
        &self,
        worktrees: &Worktrees,
        checkout: &Checkout,
        head: &CommitId,
    ) -> Result<Option<CommitId>, EngineError> {
        let (true, Place::Task { branch, .. }) = (worktrees.repository().is_clone(), &checkout.place) else {
            return Ok(None);
        };
        let attempt = checkout.attempt;
        let expected = worktrees.expected(attempt).await?;
        let is_nothing_new = *head == checkout.base && expected.is_none();
        if is_nothing_new || expected.as_ref() == Some(head) {
            return Ok(None);
        }
        let Some(record) = self.tasks.store.attempt(attempt).await? else { return Ok(None) };
        let what = Unarrived { task: record.task_id, attempt, head: Some(head.clone()) };
        // Before the first try: a crash in the middle must not lose it.
        self.unpushed().note(&what)?;
        if let Err(error) = self.push(worktrees, &what, branch).await {
            (self.announce)(&format!("{attempt}: its work is kept here until the remote takes it: {error}"));
        }
        Ok(Some(head.clone()))
    }

    /// What is left of an attempt that was stopped or has lost its lease: everything is kept and pushed under the
    /// attempt's own name. One that still has its lease also brings its branch up to date, for whoever goes on.
    pub(crate) async fn hand_over(&self, task: &Task, attempt: AttemptId) {
        if let Err(error) = self.try_hand_over(task, attempt).await {
            (self.announce)(&format!("{attempt}: its work stays on this machine for now: {error}"));
        }
    }

    async fn try_hand_over(&self, task: &Task, attempt: AttemptId) -> Result<(), EngineError> {
        let (worktrees, from) = self.repository(task).await?;
        if !worktrees.repository().is_clone() {
            return Ok(());
        }
        let place = self.stand(task, &worktrees, from).await?;
        // It may not have come as far as a worktree, or another attempt has it now.
        let Some(checkout) = worktrees.open(attempt, place).await? else { return Ok(()) };
        if self.is_ours(attempt).await? {
            let settled = worktrees.settle(&checkout).await?;
            self.hand_in(&worktrees, &checkout, &settled.measured.head).await?;
        }
        match worktrees.vault(attempt).await {
            Ok(_) | Err(GitError::HandedOn { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        self.push_vault(&worktrees, task.id(), attempt).await
    }

    /// Pushes what is kept of an attempt, now or later.
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
        unpushed.note(&Unarrived { task, attempt, head: head.clone() })?;
        worktrees.push_vault(attempt).await?;
        if head.is_none() {
            unpushed.arrived(attempt);
        }
        Ok(())
    }

    /// Tries again to push what has not arrived.
    pub(crate) async fn push_again(&self, what: &Unarrived) -> Result<(), EngineError> {
        let worktrees = self.worktrees_of(what.task).await?;
        self.push(&worktrees, what, &BranchName::for_task(what.task)).await
    }

    /// The branch, if the attempt is still the one whose work counts; and what is kept of it, in any case.
    async fn push(
        &self,
        worktrees: &Worktrees,
        what: &Unarrived,
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
                // An attempt that had lost its lease was faster by a moment. Its work is in its vault; ours counts.
                worktrees.pull(&[], Some(branch), true).await?;
                let theirs = worktrees.origin_tip(branch).await?;
                if theirs.as_ref() == Some(head) {
                    break;
                }
                expected = theirs;
            }
        }
        worktrees.push_vault(attempt).await?;
        self.unpushed().arrived(attempt);
        Ok(())
    }

    /// Whether the attempt's work is what its task's branch should hold: it is at work, or was the last one that ended.
    async fn counts(&self, what: &Unarrived) -> Result<bool, EngineError> {
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
