//! Clones made ahead of time, so that an agent does not wait until every file of a repository is written.
//!
//! A spare stands on the branch it was made from. The mark in its record, written last, says that it is whole; one without
//! is made again. No agent has worked in a spare, so there is nothing in it to keep.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use baton_core::base::git_name::{BranchName, CommitId};

use crate::git::clone::make::failed;
use crate::git::clone::private_clone::PrivateClone;
use crate::git::clone::worktrees::{Worktrees, blocking};
use crate::git::error::GitError;
use crate::git::repository::lock::fingerprint;
use crate::git::vault::folder;

/// Numbers tried for a new folder. Far more than there are ever spares.
const NUMBERS_MAX: u32 = 1_000;

impl Worktrees {
    /// Makes spares at the tip of the branch until there are `wanted`, or deletes what is more; returns how many it made. For
    /// one caller at a time: what is half made is taken for what a crash left, and cleared.
    pub async fn stock(&self, branch: &BranchName, wanted: usize) -> Result<usize, GitError> {
        self.convert_legacy().await?;
        let folders = self.spare_folders();
        let whole = folders.iter().filter(|folder| self.whole_spare(folder).is_some()).count();
        if whole > wanted {
            self.delete_spares(wanted).await?;
        }
        let is_any_broken = whole < folders.len();
        if is_any_broken || (whole < wanted && !self.spares_cleared.swap(true, Ordering::Relaxed)) {
            self.clear_broken_spares().await?;
        }
        let mut made = 0;
        for _ in whole..wanted {
            let start = self.repository.tip_of_existing(branch).await?;
            self.make_spare(branch, &start).await?;
            made += 1;
        }
        Ok(made)
    }

    /// The spares there are, whole or not, as far as folders tell.
    pub fn spares_standing(&self) -> usize {
        self.spare_folders().len()
    }

    async fn make_spare(&self, branch: &BranchName, start: &CommitId) -> Result<(), GitError> {
        let taken =
            || GitError::Garbled { tried: "name a spare worktree", answer: "all are taken".to_owned() };
        let prefix = self.spare_prefix();
        let mut names = (1..=NUMBERS_MAX).map(|number| self.home().join(format!("{prefix}{number}")));
        let folder = names.find(|folder| !folder.exists()).ok_or_else(taken)?;
        let made = self.make_clone(&folder, branch, start).await?;
        made.record.mark_spare().map_err(failed("write", made.record.folder()))
    }

    /// Takes a spare for an attempt. The caller holds the lock and names the owner once the clone is whole.
    pub(crate) async fn take_spare(
        &self,
        folder: &Path,
        branch: &BranchName,
        start: &CommitId,
    ) -> Result<Option<PrivateClone>, GitError> {
        let Some(spare) = self.spare_folders().iter().find_map(|folder| self.whole_spare(folder)) else {
            return Ok(None);
        };
        let stood_on = spare.record.indexed();
        let taken = self.clone_in(folder);
        let move_it = || {
            folder::delete(taken.record.folder())?;
            fs::rename(&spare.folder, &taken.folder)?;
            fs::rename(spare.record.folder(), taken.record.folder())
        };
        move_it().map_err(failed("move", &spare.folder))?;
        if let Some(former) = taken.record.branch().filter(|former| former != branch) {
            // The branch it stood on is a packed ref like any other from now on; a loose one would hide where it leads later.
            let loose = taken.git_dir().join("refs/heads").join(former.as_str());
            fs::remove_file(&loose).or_else(ignore_missing).map_err(failed("remove", &loose))?;
        }
        if self.is_config_newer(&taken) {
            self.renew_config(&taken).await?;
        }
        self.put_clone_on(&taken, branch, start).await?;
        if stood_on.as_ref() != Some(start) {
            self.fill(&taken, start).await?;
        }
        Ok(Some(taken))
    }

    /// A spare that can be taken.
    fn whole_spare(&self, folder: &Path) -> Option<PrivateClone> {
        let found = self.clone_in(folder);
        let is_whole = found.record.is_spare() && found.record.is_of(self.repository.git_dir());
        (is_whole && found.git_dir().is_dir()).then_some(found)
    }

    /// Deletes all but so many.
    async fn delete_spares(&self, kept: usize) -> Result<(), GitError> {
        let lock = self.lock().await?;
        let mut spares: Vec<PrivateClone> =
            self.spare_folders().iter().filter_map(|folder| self.whole_spare(folder)).collect();
        let surplus = spares.split_off(kept.min(spares.len()));
        // Without its record nobody takes it for a spare.
        for spare in &surplus {
            folder::delete(spare.record.folder()).map_err(failed("delete", spare.record.folder()))?;
        }
        drop(lock);
        for spare in surplus {
            let path = spare.folder.clone();
            blocking("delete", &spare.folder, move || folder::delete(&path)).await?;
        }
        Ok(())
    }

    /// Removes what a crash left of a spare: a record without a folder, a folder without a record, or either half made.
    async fn clear_broken_spares(&self) -> Result<(), GitError> {
        let _lock = self.lock().await?;
        let recorded = self.clones().into_iter().map(|found| found.folder);
        let recorded = recorded.filter(|folder| self.is_spare_name(folder));
        let mut folders: Vec<PathBuf> = recorded.chain(self.spare_folders()).collect();
        folders.retain(|folder| self.whole_spare(folder).is_none());
        for broken in folders {
            let found = self.clone_in(&broken);
            for path in [&found.folder, &found.record.folder().to_owned()] {
                folder::delete(path).map_err(failed("delete", path))?;
            }
        }
        Ok(())
    }

    /// How a spare's folder is called until an attempt takes it. The folders of several repositories lie side by side.
    fn spare_prefix(&self) -> String {
        format!("spare-{:016x}-", fingerprint(self.repository.git_dir()))
    }

    pub(crate) fn is_spare_name(&self, folder: &Path) -> bool {
        folder.file_name().is_some_and(|name| is_named(name, &self.spare_prefix()))
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

fn ignore_missing(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}
