//! The end of a worktree: kept, then moved aside in one step, then deleted.
//!
//! A crash between any two steps leaves either the whole folder or a whole vault.

use std::path::Path;

use baton_core::base::id::AttemptId;

use crate::git::error::GitError;
use crate::git::folder;
use crate::git::registration::Registration;
use crate::git::room::{Worktrees, blocking, hidden_ref};
use crate::git::vault::{Remains, Vaulted};

/// A worktree that changes while it is kept is kept again; one that never rests is somebody's.
const TRIES_MAX: u32 = 3;

#[derive(Debug, Clone)]
pub struct Retired {
    pub vaulted: Vaulted,
    /// False when it was gone before.
    pub removed: bool,
}

impl Worktrees {
    /// Keeps everything (I17), then removes the worktree. The agent's processes are gone.
    pub async fn retire(&self, attempt: AttemptId) -> Result<Retired, GitError> {
        let Some(remains) = self.remains(attempt).await? else {
            let vaulted = self.vaulted(attempt).await?;
            // A crash may have left the last step undone.
            self.delete_trash(attempt).await?;
            return Ok(Retired { vaulted, removed: false });
        };
        let vaulted = self.keep_whole(&remains).await?;
        let _lock = self.lock().await?;
        self.remove(&remains).await?;
        Ok(Retired { vaulted, removed: true })
    }

    /// Clears what stands where a worktree has to be made. The caller holds the repository's lock.
    pub(crate) async fn clear(
        &self,
        attempt: AttemptId,
        broken: Option<&Registration>,
        folder: &Path,
    ) -> Result<(), GitError> {
        let remains = Remains {
            attempt,
            folder: broken.map_or(folder, |broken| &broken.folder).to_owned(),
            git_dir: broken.and_then(|broken| broken.git_dir.clone()),
        };
        self.keep_whole(&remains).await?;
        self.discard(&remains).await
    }

    /// Keeps until nothing has changed since, and nothing is missing.
    async fn keep_whole(&self, remains: &Remains) -> Result<Vaulted, GitError> {
        for _ in 0..TRIES_MAX {
            let vaulted = self.keep(remains).await?;
            if !vaulted.faults.is_empty() {
                let faults =
                    vaulted.faults.iter().map(|fault| format!("{}: {}", fault.path.display(), fault.why));
                return Err(GitError::NotKept { attempt: remains.attempt, faults: faults.collect() });
            }
            let is_gone = !remains.folder.is_dir();
            if is_gone || self.look(remains).await?.0.fingerprint == vaulted.fingerprint {
                return Ok(vaulted);
            }
        }
        Err(GitError::KeptChanging { attempt: remains.attempt })
    }

    async fn remove(&self, remains: &Remains) -> Result<(), GitError> {
        self.discard(remains).await?;
        let attempt = remains.attempt;
        let lines: String =
            ["base", "leftovers"].map(|kind| format!("delete {}\n", hidden_ref(kind, attempt))).concat();
        self.repository.update_refs("forget the worktree", &lines).await
    }

    /// Removes the folder and git's record of it. What was in it is in the vault.
    async fn discard(&self, remains: &Remains) -> Result<(), GitError> {
        let (from, to) = (remains.folder.clone(), self.trash().join(remains.attempt.to_string()));
        blocking("move away", &remains.folder, move || {
            folder::delete(&to)?;
            if from.symlink_metadata().is_ok() { std::fs::rename(from, to) } else { Ok(()) }
        })
        .await?;
        self.forget(remains).await?;
        self.delete_trash(remains.attempt).await
    }

    /// Removes git's record of a worktree whose folder is gone, as `git worktree prune` would if the record were not
    /// locked by us. Git's own `worktree remove` reads the records of all the others first.
    async fn forget(&self, remains: &Remains) -> Result<(), GitError> {
        let Some(git_dir) = &remains.git_dir else { return Ok(()) };
        self.seats.forget(remains.attempt);
        if self.repository.has_linked(git_dir) {
            let path = git_dir.clone();
            return blocking("delete", git_dir, move || folder::delete(&path)).await;
        }
        let forget = self.repository.call("forget the worktree");
        // Twice, because it is locked: by us.
        let forget = forget.args(["worktree", "remove", "--force", "--force", "--"]);
        forget.arg(&remains.folder).run().await.map(drop)
    }

    async fn delete_trash(&self, attempt: AttemptId) -> Result<(), GitError> {
        let trash = self.trash().join(attempt.to_string());
        let path = trash.clone();
        blocking("delete", &trash, move || folder::delete(&path)).await
    }
}
