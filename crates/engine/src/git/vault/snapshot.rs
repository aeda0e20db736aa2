//! Everything that was in a working folder, kept under a hidden ref (I17).
//!
//! The vault of an attempt is a commit at `refs/baton/vault/<attempt>`. Its tree is the folder as it was on disk. Its parents
//! are the clone's HEAD and all that only the clone leads to: its other refs, its reflogs, what was staged, and the vault's
//! earlier state.

use std::path::PathBuf;

use baton_core::base::git_name::CommitId;
use baton_core::base::id::AttemptId;

use crate::git::clone::private_clone::{CloneState, PrivateClone};
use crate::git::clone::worktrees::{Worktrees, hidden_ref};
use crate::git::error::GitError;
use crate::git::vault::contents::Contents;
use crate::git::vault::ignored::LeftOut;

/// What the vault holds of an attempt.
#[derive(Debug, Clone)]
pub struct Vaulted {
    pub attempt: AttemptId,
    pub commit: CommitId,
    /// Rebuildable folders that were too large to keep.
    pub left_out: Vec<LeftOut>,
    /// What could not be kept. While there is any, the worktree stays.
    pub faults: Vec<Fault>,
    /// Changes when anything in the folder does.
    pub(crate) fingerprint: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    pub path: PathBuf,
    pub why: String,
}

/// What is, or was, an attempt's clone.
#[derive(Debug, Clone)]
pub(crate) struct Remains {
    pub attempt: AttemptId,
    pub clone: PrivateClone,
}

impl Worktrees {
    /// Keeps everything in the attempt's working folder. Doing it again keeps only what has changed.
    pub async fn vault(&self, attempt: AttemptId) -> Result<Vaulted, GitError> {
        match self.remains(attempt).await? {
            Some(remains) => self.keep(&remains).await,
            None => self.vaulted(attempt).await,
        }
    }

    /// What was kept earlier of a folder that is gone.
    pub(crate) async fn vaulted(&self, attempt: AttemptId) -> Result<Vaulted, GitError> {
        let commit = self.hidden("vault", attempt).await?.ok_or(GitError::NoWorktree { attempt })?;
        Ok(Vaulted { attempt, commit, left_out: Vec::new(), faults: Vec::new(), fingerprint: 0 })
    }

    pub(crate) async fn remains(&self, attempt: AttemptId) -> Result<Option<Remains>, GitError> {
        self.convert_legacy().await?;
        if let Some(clone) = self.owned_by(attempt) {
            return Ok(Some(Remains { attempt, clone }));
        }
        let clone = self.clone_in(&self.folder_of(attempt));
        match clone.record.owner() {
            Some(by) if by != attempt => Err(GitError::HandedOn { attempt, by }),
            // Half made, or a folder that Baton did not make.
            Some(_) | None if clone.folder.symlink_metadata().is_ok() || clone.record.exists() => {
                Ok(Some(Remains { attempt, clone }))
            }
            Some(_) | None => Ok(None),
        }
    }

    pub(crate) async fn keep(&self, remains: &Remains) -> Result<Vaulted, GitError> {
        let before = self.hidden("vault", remains.attempt).await?;
        let head = self.head_of_remains(remains).await?;
        let contents = self.contents(remains, before.as_ref().or(head.as_ref())).await?;
        let hanging = self.hanging(remains, head.as_ref(), before.as_ref()).await?;
        let commit = match &before {
            Some(before)
                if hanging.iter().all(|commit| commit == before)
                    && self.tree_id(before).await? == contents.tree =>
            {
                before.clone()
            }
            Some(_) | None => {
                let commit = self.commit_vault(remains, &contents, head.as_ref(), &hanging).await?;
                let old = before.map(|id| format!(" {id}")).unwrap_or_default();
                let line = format!("update {} {commit}{old}\n", hidden_ref("vault", remains.attempt));
                self.repository.update_refs("keep the worktree", &line).await?;
                commit
            }
        };
        let Contents { left_out, faults, fingerprint, .. } = contents;
        Ok(Vaulted { attempt: remains.attempt, commit, left_out, faults, fingerprint })
    }

    /// The clone's HEAD, brought over; without one, where its branch was last.
    async fn head_of_remains(&self, remains: &Remains) -> Result<Option<CommitId>, GitError> {
        if let CloneState::Sound(refs) = remains.clone.state(&self.repository.objects())
            && let Some(head) = refs.head()
            && let Some(head) = self.import_each(&remains.clone, vec![head.clone()]).await?.pop()
        {
            return Ok(Some(head));
        }
        match remains.clone.record.branch() {
            Some(branch) => self.repository.tip(&branch).await,
            None => Ok(None),
        }
    }

    pub(crate) async fn tree_id(&self, commit: &CommitId) -> Result<String, GitError> {
        self.repository.tree_at(commit).await
    }

    async fn commit_vault(
        &self,
        remains: &Remains,
        contents: &Contents,
        head: Option<&CommitId>,
        hanging: &[CommitId],
    ) -> Result<CommitId, GitError> {
        let commit =
            self.repository.call("keep the worktree").args(["commit-tree", &contents.tree, "-F", "-"]);
        // HEAD first, so that `git diff vault^ vault` shows what was not committed.
        let others = hanging.iter().filter(|commit| Some(*commit) != head);
        let parents = head.into_iter().chain(others);
        let commit = parents.fold(commit, |call, parent| call.args(["-p", parent.as_str()]));
        let left_out = contents.left_out.iter().map(|left| format!("Left out: {}\n", left.path.display()));
        let faults = contents.faults.iter().map(|fault| format!("Not kept: {}\n", fault.path.display()));
        let notes: String = left_out.chain(faults).collect();
        commit.input(format!("Vault of {}\n\n{notes}", remains.attempt)).commit().await
    }
}
