//! Linked worktrees that an earlier version of Baton made, turned into clones.
//!
//! They are on record in the person's repository, locked, with a reason that names the attempt. Their commits are in the
//! person's objects already. What git keeps about such a worktree (HEAD, index, reflog, submodules) moves into its folder, and
//! the record goes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use baton_core::base::git_name::CommitId;
use baton_core::base::id::AttemptId;

use crate::git::clone::make::failed;
use crate::git::clone::private_clone::PrivateClone;
use crate::git::clone::worktrees::Worktrees;
use crate::git::command::program::At;
use crate::git::error::GitError;
use crate::git::repository::holders::LinkedCheckout;
use crate::git::vault::folder;

/// The reason of the lock on an attempt's worktree.
const REASON: &str = "Baton keeps this worktree for ";
/// What git keeps about a worktree that the clone needs.
const MOVED: [&str; 3] = ["logs", "modules", "ORIG_HEAD"];

impl Worktrees {
    /// Converts the worktrees an earlier version left, once.
    pub(crate) async fn convert_legacy(&self) -> Result<(), GitError> {
        self.legacy_converted.get_or_try_init(|| self.try_convert_legacy()).await.copied()
    }

    async fn try_convert_legacy(&self) -> Result<(), GitError> {
        let linked = self.repository.git_dir().join("worktrees");
        if !fs::read_dir(&linked).is_ok_and(|mut all| all.next().is_some()) {
            return Ok(());
        }
        let _lock = self.lock().await?;
        for found in self.repository.linked_checkouts().await? {
            if found.folder.parent() == Some(&self.home()) {
                self.convert(&found).await?;
            }
        }
        Ok(())
    }

    async fn convert(&self, found: &LinkedCheckout) -> Result<(), GitError> {
        let git_dir = self.linked_git_dir(&found.folder);
        let owner = found.lock_reason.as_deref().and_then(|reason| reason.strip_prefix(REASON)?.parse().ok());
        let owner: Option<AttemptId> = owner.or_else(|| found.folder.file_name()?.to_str()?.parse().ok());
        match (owner, &git_dir) {
            (Some(owner), Some(git_dir)) if found.folder.is_dir() => {
                self.turn_into_clone(found, git_dir, owner).await?;
            }
            // A spare, or a folder that is gone: there is nothing of an agent's in it.
            _ => folder::delete(&found.folder).map_err(failed("delete", &found.folder))?,
        }
        match git_dir {
            Some(git_dir) => folder::delete(&git_dir).map_err(failed("delete", &git_dir)),
            None => Ok(()),
        }
    }

    async fn turn_into_clone(
        &self,
        found: &LinkedCheckout,
        git_dir: &Path,
        owner: AttemptId,
    ) -> Result<(), GitError> {
        let head = self.repository.call_at("see where the worktree stands", At::Repository(git_dir));
        let head = head.args(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).find_commit().await?;
        let made = self.clone_in(&found.folder);
        made.record.begin(self.repository.git_dir()).map_err(failed("write", made.record.folder()))?;
        let link = found.folder.join(".git");
        if fs::symlink_metadata(&link).is_ok_and(|at| !at.is_dir()) {
            fs::remove_file(&link).map_err(failed("delete", &link))?;
            self.init_clone(&made).await?;
            self.take_state(&made, git_dir, found, head.as_ref()).await?;
        }
        made.record.set_owner(owner).map_err(failed("write", made.record.folder()))
    }

    async fn take_state(
        &self,
        made: &PrivateClone,
        git_dir: &Path,
        found: &LinkedCheckout,
        head: Option<&CommitId>,
    ) -> Result<(), GitError> {
        let branch = found.branch.as_deref().and_then(|name| name.parse().ok());
        match (branch, head) {
            (Some(branch), Some(head)) => self.put_clone_on(made, &branch, head).await?,
            (_, Some(head)) => {
                let path = made.git_dir().join("HEAD");
                fs::write(&path, format!("{head}\n")).map_err(failed("write", &path))?;
            }
            (_, None) => {}
        }
        let take = || {
            for name in MOVED {
                rename_if_there(&git_dir.join(name), &made.git_dir().join(name))?;
            }
            copy_if_there(&git_dir.join("index"), &made.git_dir().join("index"))?;
            if let Ok(copied) = fs::read(git_dir.join("baton-copied")) {
                made.record.add_copied(&copied)?;
            }
            if git_dir.join("baton-set-up").exists() { made.record.mark_set_up() } else { Ok(()) }
        };
        take().map_err(failed("convert the worktree", &made.folder))
    }

    /// Git's folder for a linked worktree.
    fn linked_git_dir(&self, folder: &Path) -> Option<PathBuf> {
        let entries = fs::read_dir(self.repository.git_dir().join("worktrees")).ok()?;
        entries.flatten().map(|entry| entry.path()).find(|git_dir| {
            let Ok(link) = fs::read_to_string(git_dir.join("gitdir")) else { return false };
            let linked = git_dir.join(link.trim_end());
            linked
                .parent()
                .is_some_and(|linked| linked.file_name() == folder.file_name() && is_same(linked, folder))
        })
    }
}

fn is_same(one: &Path, other: &Path) -> bool {
    let parent = |path: &Path| path.parent().and_then(|parent| fs::canonicalize(parent).ok());
    parent(one) == parent(other)
}

fn rename_if_there(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn copy_if_there(from: &Path, to: &Path) -> io::Result<()> {
    match fs::copy(from, to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(_) | Err(_) => Ok(()),
    }
}
