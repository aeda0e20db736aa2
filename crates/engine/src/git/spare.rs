//! Worktrees made ahead of time, so that an agent does not wait until every file of a repository is written.
//!
//! A spare stands on a commit and on no branch. Its lock's reason, written last, says that it is whole; one without
//! was never finished and is made anew. Whoever needs a worktree takes one, puts it on the task's branch and calls
//! it its own. No agent has ever worked in a spare, so there is nothing in it to keep.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use baton_core::base::git_name::{BranchName, CommitId};

use crate::git::error::GitError;
use crate::git::lock::fingerprint;
use crate::git::program::At;
use crate::git::register::Stand;
use crate::git::registration::{is_whole_spare, lock_as_spare};
use crate::git::room::Worktrees;

/// Numbers tried for a new folder. Far more than there are ever spares.
const NUMBERS_MAX: u32 = 1_000;

impl Worktrees {
    /// Makes spares at the tip of the branch until there are `wanted`; says how many it made. For one caller at a
    /// time: what is half made is taken for what a crash left, and cleared.
    pub async fn stock(&self, branch: &BranchName, wanted: usize) -> Result<usize, GitError> {
        let folders = self.spare_folders();
        let whole = folders.iter().filter(|folder| self.whole_spare(folder).is_some()).count();
        if whole >= wanted {
            return Ok(0);
        }
        // What is not whole is what a crash left. A record without a folder is one of before the start.
        if whole < folders.len() || !self.spares_cleared.swap(true, Ordering::Relaxed) {
            self.clear_broken_spares().await?;
        }
        let mut made = 0;
        for _ in whole..wanted {
            let start = self.repository.tip_of_existing(branch).await?;
            self.make_spare(&start).await?;
            made += 1;
        }
        Ok(made)
    }

    /// The spares there are, whole or not, as far as folders tell.
    pub fn spares_standing(&self) -> usize {
        self.spare_folders().len()
    }

    async fn make_spare(&self, start: &CommitId) -> Result<(), GitError> {
        let taken =
            || GitError::Garbled { tried: "name a spare worktree", answer: "all are taken".to_owned() };
        let prefix = self.spare_prefix();
        let mut names = (1..=NUMBERS_MAX).map(|number| self.home().join(format!("{prefix}{number}")));
        let folder = names.find(|folder| !folder.exists()).ok_or_else(taken)?;
        let git_dir = {
            let _lock = self.lock().await?;
            self.register(&folder, Stand::Commit(start)).await?
        };
        let at = At::Worktree { git_dir: &git_dir, folder: &folder };
        let fill = self.repository.call_at("write the spare worktree's files", at);
        fill.write_files().run().await?;
        lock_as_spare(&git_dir).map_err(|source| GitError::File { tried: "lock", path: git_dir, source })
    }

    /// Takes a spare for a task's branch, which stands on `start` and is nobody's. The caller holds the lock and
    /// names the owner once the worktree is whole.
    pub(crate) async fn take_spare(
        &self,
        folder: &Path,
        branch: &BranchName,
        start: &CommitId,
    ) -> Result<Option<PathBuf>, GitError> {
        let whole = |spare: PathBuf| self.whole_spare(&spare).map(|git_dir| (spare, git_dir));
        let Some((spare, git_dir)) = self.spare_folders().into_iter().find_map(whole) else {
            return Ok(None);
        };
        let stood_on = self.repository.head_at(&git_dir).await?;
        let move_it = || {
            fs::rename(&spare, folder)?;
            let link = [folder.join(".git").as_os_str().as_bytes(), b"\n"].concat();
            fs::write(git_dir.join("gitdir"), link)
        };
        move_it().map_err(|source| GitError::File { tried: "move", path: spare.clone(), source })?;
        self.repository.put_on(&git_dir, branch).await?;
        if stood_on.as_ref() != Some(start) {
            let at = At::Worktree { git_dir: &git_dir, folder };
            let renew = self.repository.call_at("bring the spare worktree up to date", at);
            renew.write_files().run().await?;
        }
        Ok(Some(git_dir))
    }

    /// Git's folder of a spare that can be taken.
    fn whole_spare(&self, folder: &Path) -> Option<PathBuf> {
        self.linked(folder).filter(|git_dir| is_whole_spare(git_dir, folder))
    }

    /// Removes what a crash left of a spare: a record without a folder, a folder without a record, or either half
    /// made.
    async fn clear_broken_spares(&self) -> Result<(), GitError> {
        let _lock = self.lock().await?;
        let all = self.registrations().await?;
        for found in all.iter().filter(|found| self.is_spare(&found.folder)) {
            if self.whole_spare(&found.folder).is_none() && found.git_dir.is_some() {
                let forget = self.repository.call("forget a broken spare");
                let forget = forget.args(["worktree", "remove", "--force", "--force", "--"]);
                forget.arg(&found.folder).run().await?;
            }
        }
        for folder in self.spare_folders() {
            if !all.iter().any(|found| found.folder == folder) {
                let failed = |source| GitError::File { tried: "delete", path: folder.clone(), source };
                crate::git::folder::delete(&folder).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// How a spare's folder is called until somebody takes it. The folders of several repositories lie side by side.
    fn spare_prefix(&self) -> String {
        format!("spare-{:016x}-", fingerprint(self.repository.git_dir()))
    }

    fn is_spare(&self, folder: &Path) -> bool {
        let prefix = self.spare_prefix();
        folder.parent() == Some(&self.home())
            && folder.file_name().is_some_and(|name| is_named(name, &prefix))
    }

    fn spare_folders(&self) -> Vec<PathBuf> {
        let prefix = self.spare_prefix();
        let entries = fs::read_dir(self.home()).into_iter().flatten().flatten();
        entries.filter(|entry| is_named(&entry.file_name(), &prefix)).map(|entry| entry.path()).collect()
    }
}

fn is_named(name: &OsStr, prefix: &str) -> bool {
    name.as_bytes().starts_with(prefix.as_bytes())
}
