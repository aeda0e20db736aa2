//! Removes a working folder: keeps it, moves it aside in one step, then deletes it.
//!
//! A crash between any two steps leaves either the whole folder or a whole vault.

use baton_core::base::id::AttemptId;

use crate::git::clone::files::is_real_dir;
use crate::git::clone::private_clone::PrivateClone;
use crate::git::clone::worktrees::{Worktrees, blocking, hidden_ref};
use crate::git::error::GitError;
use crate::git::vault::folder;
use crate::git::vault::snapshot::{Remains, Vaulted};

/// A folder that changes while it is kept is kept again; one that never rests is in use.
const TRIES_MAX: u32 = 3;

#[derive(Debug, Clone)]
pub struct Retired {
    pub vaulted: Vaulted,
    /// False when it was removed before.
    pub removed: bool,
}

impl Worktrees {
    /// Keeps everything (I17), then removes the folder. The agent's processes have ended.
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

    /// Removes what is where a clone has to be made. The caller holds the repository's lock.
    pub(crate) async fn clear(&self, attempt: AttemptId, clone: PrivateClone) -> Result<(), GitError> {
        let remains = Remains { attempt, clone };
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
            let is_gone = !is_real_dir(&remains.clone.folder);
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

    /// Removes the folder and Baton's record of it. What was in it is in the vault.
    async fn discard(&self, remains: &Remains) -> Result<(), GitError> {
        let (from, to) = (remains.clone.folder.clone(), self.trash().join(remains.attempt.to_string()));
        let record = remains.clone.record.folder().to_owned();
        self.seats.forget(remains.attempt);
        blocking("move away", &remains.clone.folder, move || {
            folder::delete(&to)?;
            if from.symlink_metadata().is_ok() {
                std::fs::rename(from, to)?;
            }
            folder::delete(&record)
        })
        .await?;
        self.delete_trash(remains.attempt).await
    }

    async fn delete_trash(&self, attempt: AttemptId) -> Result<(), GitError> {
        let trash = self.trash().join(attempt.to_string());
        let path = trash.clone();
        blocking("delete", &trash, move || folder::delete(&path)).await
    }
}
