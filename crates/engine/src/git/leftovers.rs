//! What an agent left uncommitted, as a commit.
//!
//! Built in a copy of the worktree's index, with the user's filters and ignore rules, just as `git add --all`
//! would. A repository the agent made inside the worktree is taken as the files it holds: a link to it would
//! lead nowhere once the worktree is gone.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use baton_core::base::git_name::CommitId;
use baton_core::base::id::AttemptId;
use tempfile::TempDir;

use crate::git::call::{Call, TIMEOUT_FILES};
use crate::git::checkout::Checkout;
use crate::git::error::GitError;
use crate::git::program::At;
use crate::git::room::Worktrees;
use crate::git::setup::copied;

/// Repositories within repositories within repositories: nobody means that.
const NESTED_DEPTH_MAX: usize = 8;

pub(crate) struct Leftovers {
    pub commit: CommitId,
    scratch: TempDir,
}

impl Leftovers {
    /// An index that matches the commit and the folder.
    pub fn index(&self) -> PathBuf {
        self.scratch.path().join("index")
    }
}

impl Worktrees {
    /// A commit of everything uncommitted on top of `head`, on no branch yet; `None` when there is nothing.
    pub(crate) async fn leftovers(
        &self,
        checkout: &Checkout,
        head: Option<&CommitId>,
    ) -> Result<Option<Leftovers>, GitError> {
        if !checkout.folder.is_dir() || !checkout.git_dir.is_dir() {
            return Ok(None);
        }
        if self.is_clean(checkout).await? {
            return Ok(None);
        }
        let scratch = self.scratch()?;
        let index = scratch.path().join("index");
        let paths = self.changed_paths(checkout, &index, head).await?;
        let tried = "add the uncommitted changes";
        let add = self.with_index(tried, checkout, &index);
        let add = add.args(["update-index", "-z", "--add", "--remove", "--replace", "--stdin"]);
        add.input(paths).timeout(TIMEOUT_FILES).run().await?;
        let tree = self.with_index(tried, checkout, &index).args(["write-tree"]).line().await?;
        if tree == self.tree_of(head).await? {
            return Ok(None);
        }
        let commit = self.repository.call("commit what was left").args(["commit-tree", &tree, "-F", "-"]);
        let commit = head.iter().fold(commit, |commit, head| commit.args(["-p", head.as_str()]));
        let commit = commit.input(message(checkout.attempt)).commit().await?;
        Ok(Some(Leftovers { commit, scratch }))
    }

    /// Whether git finds nothing at all that is not in HEAD. One it cannot judge is looked at more closely.
    async fn is_clean(&self, checkout: &Checkout) -> Result<bool, GitError> {
        let status = self.repository.call_at("look for uncommitted changes", checkout.at());
        let status = status.args(["status", "--porcelain", "-z", "--untracked-files=normal"]);
        let found =
            status.args(["--ignore-submodules=none", "--no-renames"]).timeout(TIMEOUT_FILES).find().await?;
        Ok(found.is_some_and(|found| found.is_empty()))
    }

    fn with_index(&self, tried: &'static str, checkout: &Checkout, index: &Path) -> Call {
        self.repository.call_at(tried, checkout.at()).env("GIT_INDEX_FILE", index)
    }

    async fn tree_of(&self, head: Option<&CommitId>) -> Result<String, GitError> {
        match head {
            Some(head) => self.repository.tree_at(head).await,
            None => self.repository.call("look up a tree").args(["mktree"]).input([]).line().await,
        }
    }

    /// Every path that differs from the index, NUL after each, with a copy of the index laid out at `index`.
    async fn changed_paths(
        &self,
        checkout: &Checkout,
        index: &Path,
        head: Option<&CommitId>,
    ) -> Result<Vec<u8>, GitError> {
        // Without an index every file is untracked, and those that are gone are gone from the commit.
        let _ = fs::copy(checkout.git_dir.join("index"), index);
        let tried = "list the uncommitted changes";
        let list = || {
            let list = self.with_index(tried, checkout, index);
            list.args(["ls-files", "-z", "--modified", "--deleted", "--others", "--exclude-standard"])
        };
        let listed = if let Some(listed) = list().find().await? {
            listed
        } else {
            // The agent's index is damaged; HEAD's own will do.
            let _ = fs::remove_file(index);
            let tree = self.tree_of(head).await?;
            self.with_index(tried, checkout, index).args(["read-tree", &tree]).run().await?;
            list().run().await?
        };
        let copied = copied(&checkout.git_dir);
        let mut paths = BTreeSet::new();
        let mut nested = Vec::new();
        for path in listed.split(|byte| *byte == 0).filter(|path| !path.is_empty()) {
            if let Some(folder) = path.strip_suffix(b"/") {
                nested.push((path_of(folder), 0));
            } else if !copied.contains(&path_of(path)) {
                paths.insert(path_of(path));
            }
        }
        while let Some((folder, depth)) = nested.pop() {
            if depth < NESTED_DEPTH_MAX {
                self.files_of_nested(checkout, &folder, depth, &mut paths, &mut nested).await?;
            }
        }
        let mut input = Vec::new();
        for path in paths {
            input.extend_from_slice(path.as_os_str().as_bytes());
            input.push(0);
        }
        Ok(input)
    }

    /// A repository inside the worktree: its files, by its own ignore rules.
    async fn files_of_nested(
        &self,
        checkout: &Checkout,
        folder: &Path,
        depth: usize,
        paths: &mut BTreeSet<PathBuf>,
        nested: &mut Vec<(PathBuf, usize)>,
    ) -> Result<(), GitError> {
        let inside = checkout.folder.join(folder);
        let list = self.repository.call_at("list a nested repository", At::Folder(&inside));
        let list = list.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
        // One damaged beyond listing is left to the vault, which takes files as they lie.
        let Some(listed) = list.find().await? else { return Ok(()) };
        for path in listed.split(|byte| *byte == 0).filter(|path| !path.is_empty()) {
            let path = path_of(path.strip_suffix(b"/").unwrap_or(path));
            if inside.join(&path).symlink_metadata().is_ok_and(|found| found.is_dir()) {
                nested.push((folder.join(path), depth + 1));
            } else {
                paths.insert(folder.join(path));
            }
        }
        Ok(())
    }
}

/// The first line of such a commit; by it the commit is told from the agent's own.
pub(crate) fn subject(attempt: AttemptId) -> String {
    format!("Uncommitted changes of {attempt}")
}

fn message(attempt: AttemptId) -> String {
    let subject = subject(attempt);
    format!("{subject}\n\nThe agent ended without committing these; Baton committed them on its behalf.\n")
}

fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}
