//! A worktree put on git's record.
//!
//! `git worktree add` reads the record of every other worktree first, and starts git twice more. Where hundreds of tasks
//! wait, each with its worktree, that is most of what an agent's start costs. So the record is written here, as git's own
//! `gitrepository-layout` describes it. A repository that keeps its refs in another way, or worktrees with settings of
//! their own, is left to git.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use baton_core::base::git_name::{BranchName, CommitId};

use crate::git::error::GitError;
use crate::git::folder;
use crate::git::registration::lock_as_unfinished;
use crate::git::repository::Repository;
use crate::git::room::Worktrees;

/// Where a record is written before it is moved to its place whole; one at a time, under the repository's lock.
const UNFINISHED: &str = "baton-new-worktree";
/// Names tried for a record. The first is nearly always free.
const NAMES_MAX: usize = 10_000;

/// What a new worktree stands on.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Stand<'a> {
    Branch(&'a BranchName),
    Commit(&'a CommitId),
}

impl Worktrees {
    /// Puts a worktree at `folder` on record; its files are not written yet. The caller holds the repository's lock.
    pub(crate) async fn register(&self, folder: &Path, stand: Stand<'_>) -> Result<PathBuf, GitError> {
        if self.repository.is_plain_files() {
            let failed =
                |source| GitError::File { tried: "make a worktree at", path: folder.to_owned(), source };
            return self.write_record(folder, stand).map_err(failed);
        }
        let add = self.repository.call("make the worktree");
        // Forced, because we looked: git would also count a branch some dead rebase still speaks for.
        let add = add.args(["worktree", "add", "--quiet", "--no-checkout", "--force", "--force"]);
        let (add, at) = match stand {
            Stand::Branch(branch) => (add, branch.as_str()),
            Stand::Commit(commit) => (add.arg("--detach"), commit.as_str()),
        };
        add.arg("--").arg(folder).arg(at).run().await?;
        let lost = || GitError::Garbled { tried: "make the worktree", answer: "there is none".to_owned() };
        self.git_dir_of(folder).ok_or_else(lost)
    }

    fn write_record(&self, folder: &Path, stand: Stand<'_>) -> io::Result<PathBuf> {
        let common = self.repository.git_dir();
        let unfinished = common.join(UNFINISHED);
        folder::delete(&unfinished)?;
        fs::create_dir_all(common.join("worktrees"))?;
        fs::create_dir_all(unfinished.join("refs"))?;
        fs::create_dir_all(folder)?;
        let head = match stand {
            Stand::Branch(branch) => format!("ref: refs/heads/{branch}\n"),
            Stand::Commit(commit) => format!("{commit}\n"),
        };
        fs::write(unfinished.join("HEAD"), head)?;
        fs::write(unfinished.join("commondir"), "../..\n")?;
        fs::write(unfinished.join("gitdir"), line(&[folder.join(".git").as_os_str().as_bytes()]))?;
        // Nobody's housekeeping drops it while it is being filled.
        lock_as_unfinished(&unfinished)?;
        let git_dir = free_name(&common.join("worktrees"), folder)?;
        fs::write(folder.join(".git"), line(&[b"gitdir: ", git_dir.as_os_str().as_bytes()]))?;
        fs::rename(&unfinished, &git_dir)?;
        Ok(git_dir)
    }
}

impl Repository {
    /// Whether the record of a worktree is the few files that are written here.
    pub(crate) fn is_plain_files(&self) -> bool {
        let elsewhere = ["reftable", "config.worktree", "info/sparse-checkout"];
        !elsewhere.iter().any(|name| self.git_dir().join(name).exists())
    }

    /// Whether this is git's folder of a worktree of this repository.
    pub(crate) fn has_linked(&self, git_dir: &Path) -> bool {
        git_dir.parent() == Some(&self.git_dir().join("worktrees"))
    }
}

/// A record is named like its folder, with a number where that name is taken: a spare keeps its record when its folder is
/// renamed. The count of records is a good first guess.
fn free_name(records: &Path, folder: &Path) -> io::Result<PathBuf> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let plain = records.join(&name);
    if !plain.exists() {
        return Ok(plain);
    }
    let count = fs::read_dir(records)?.count();
    let mut names = (count..count + NAMES_MAX).map(|number| records.join(format!("{name}-{number}")));
    names.find(|path| !path.exists()).ok_or_else(|| io::Error::other("all names for its record are taken"))
}

fn line(parts: &[&[u8]]) -> Vec<u8> {
    [parts.concat(), b"\n".to_vec()].concat()
}
