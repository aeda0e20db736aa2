//! A clone for one run of the checks: made in a temporary folder, at a commit no branch leads to yet.

use std::fs;
use std::path::{Path, PathBuf};

use baton_core::base::git_name::{BranchName, CommitId};
use tempfile::TempDir;

use crate::git::clone::make::failed;
use crate::git::clone::private_clone::PrivateClone;
use crate::git::clone::record::CloneRecord;
use crate::git::clone::setup::Setup;
use crate::git::clone::worktrees::{Worktrees, blocking};
use crate::git::error::GitError;

/// Dropped, it is deleted; so is what a crash left of one, with other old temporary files.
#[derive(Debug)]
pub struct ScratchClone {
    home: TempDir,
    folder: PathBuf,
}

impl ScratchClone {
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A place beside the clone for what commands remember between runs.
    pub fn memory(&self) -> PathBuf {
        self.home.path().join("memory")
    }

    /// Deletes it, without holding up other work.
    pub async fn remove(self) -> Result<(), GitError> {
        let path = self.home.path().to_owned();
        blocking("delete", &path, move || self.home.close()).await
    }
}

impl Worktrees {
    /// Makes a clone of its own, on the branch that is to stand at this commit.
    pub async fn scratch_clone(
        &self,
        branch: &BranchName,
        commit: &CommitId,
        setup: &Setup,
    ) -> Result<ScratchClone, GitError> {
        setup.check()?;
        let home = self.scratch()?;
        let folder = home.path().join("clone");
        fs::create_dir(&folder).map_err(failed("make", &folder))?;
        let made =
            PrivateClone { folder: folder.clone(), record: CloneRecord::new(home.path().join("record")) };
        made.record.begin(self.repository.git_dir()).map_err(failed("write", made.record.folder()))?;
        self.init_clone(&made).await?;
        self.put_clone_on(&made, branch, commit).await?;
        self.fill(&made, commit).await?;
        self.set_up(&made, setup).await?;
        Ok(ScratchClone { home, folder })
    }
}
