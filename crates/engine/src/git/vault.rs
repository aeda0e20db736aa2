//! Everything that was in a worktree, kept under a hidden ref (I17).
//!
//! The vault of an attempt is a commit at `refs/baton/vault/<attempt>`. Its tree is the folder as it lay on
//! disk. Its parents are the worktree's HEAD and all that would otherwise hang on nothing once the worktree
//! is gone: what was staged, what HEAD's own log remembers, and the vault's earlier state.

use std::path::PathBuf;

use baton_core::base::git_name::CommitId;
use baton_core::base::id::AttemptId;

use crate::git::contents::Contents;
use crate::git::error::GitError;
use crate::git::ignored::LeftOut;
use crate::git::registration::Registration;
use crate::git::room::{Worktrees, hidden_ref};

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

/// What stands, or stood, of an attempt's worktree.
#[derive(Debug, Clone)]
pub(crate) struct Remains {
    pub attempt: AttemptId,
    pub folder: PathBuf,
    /// None when git has no record of the folder.
    pub git_dir: Option<PathBuf>,
}

impl Worktrees {
    /// Keeps everything in the attempt's worktree. Doing it again keeps only what has changed.
    pub async fn vault(&self, attempt: AttemptId) -> Result<Vaulted, GitError> {
        match self.remains(attempt).await? {
            Some(remains) => self.keep(&remains).await,
            None => self.vaulted(attempt).await,
        }
    }

    /// What an earlier keeping left of a worktree that is gone.
    pub(crate) async fn vaulted(&self, attempt: AttemptId) -> Result<Vaulted, GitError> {
        let commit = self.hidden("vault", attempt).await?.ok_or(GitError::NoWorktree { attempt })?;
        Ok(Vaulted { attempt, commit, left_out: Vec::new(), faults: Vec::new(), fingerprint: 0 })
    }

    pub(crate) async fn remains(&self, attempt: AttemptId) -> Result<Option<Remains>, GitError> {
        if let Some(found) = self.seat_of(attempt) {
            return Ok(Some(Remains { attempt, folder: found.folder, git_dir: found.git_dir }));
        }
        let here = self.linked(&self.folder_of(attempt)).and_then(|git_dir| Self::record(&git_dir));
        if let Some(by) = here.and_then(|found| found.owner) {
            return Err(GitError::HandedOn { attempt, by });
        }
        let all = self.registrations().await?;
        let folder = self.folder_of(attempt);
        let at_folder = all.iter().find(|found| found.folder == folder);
        let found = all.iter().find(|found| found.owner == Some(attempt)).or(at_folder);
        match found {
            Some(Registration { owner: Some(by), .. }) if *by != attempt => {
                Err(GitError::HandedOn { attempt, by: *by })
            }
            Some(found) => {
                Ok(Some(Remains { attempt, folder: found.folder.clone(), git_dir: found.git_dir.clone() }))
            }
            None => Ok(folder.exists().then_some(Remains { attempt, folder, git_dir: None })),
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

    async fn head_of_remains(&self, remains: &Remains) -> Result<Option<CommitId>, GitError> {
        let Some(git_dir) = &remains.git_dir else { return Ok(None) };
        self.repository.head_at(git_dir).await
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
