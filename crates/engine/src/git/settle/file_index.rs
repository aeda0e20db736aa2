//! The files of a working folder against a commit, by an index of Baton's own.
//!
//! The clone's index is the agent's and may say anything. This one starts as a copy of the index the files were written with,
//! so that only files that changed since are read.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use baton_core::base::git_name::CommitId;
use tempfile::TempDir;

use crate::git::clone::checkout::Checkout;
use crate::git::clone::files::{is_real_dir, is_real_file};
use crate::git::clone::private_clone::PrivateClone;
use crate::git::clone::worktrees::Worktrees;
use crate::git::command::call::{Call, TIMEOUT_FILES};
use crate::git::command::program::At;
use crate::git::error::GitError;

/// Repositories within repositories within repositories: nobody means that.
const NESTED_DEPTH_MAX: usize = 8;

/// Paths on one command line.
const PATHS_AT_ONCE: usize = 500;

pub(crate) struct FileIndex {
    pub clone: PrivateClone,
    scratch: TempDir,
}

impl FileIndex {
    pub(crate) fn path(&self) -> PathBuf {
        self.scratch.path().join("index")
    }
}

impl Worktrees {
    /// An index that says what a commit does; `None` stands for no files.
    pub(crate) async fn index_at(
        &self,
        clone: PrivateClone,
        commit: Option<&CommitId>,
    ) -> Result<FileIndex, GitError> {
        let index = FileIndex { clone, scratch: self.scratch()? };
        let record = &index.clone.record;
        let is_known = record.indexed().is_some() && fs::copy(record.index(), index.path()).is_ok();
        let read = self.with_index("read a tree", &index).arg("read-tree");
        match commit {
            Some(commit) if is_known && record.indexed().as_ref() == Some(commit) => {}
            // Entries that stay the same keep what is known about their files. With -i, changed files are no obstacle.
            Some(commit) if is_known => drop(read.args(["-i", "-m", commit.as_str()]).run().await?),
            Some(commit) => drop(read.arg(commit.as_str()).run().await?),
            None => drop(read.arg("--empty").run().await?),
        }
        Ok(index)
    }

    pub(crate) fn with_index(&self, tried: &'static str, index: &FileIndex) -> Call {
        self.with_files(tried, &index.clone.folder, &index.path())
    }

    fn with_files(&self, tried: &'static str, folder: &Path, index: &Path) -> Call {
        let at = At::Files { git_dir: self.repository.git_dir(), folder, index };
        self.repository.call_at(tried, at)
    }

    /// Every path whose file differs from the index, and every new one that is not ignored. A repository inside is taken as
    /// the files it holds: a link to it would lead nowhere once the folder is gone.
    pub(crate) async fn changed_paths(&self, index: &FileIndex) -> Result<BTreeSet<PathBuf>, GitError> {
        let list = self.with_index("list the uncommitted changes", index);
        let list = list.args(["ls-files", "-z", "--modified", "--deleted", "--others", "--exclude-standard"]);
        let listed = list.timeout(TIMEOUT_FILES).run().await?;
        let not_work = self.not_work(index).await?;
        let mut paths = BTreeSet::new();
        let mut nested = Vec::new();
        for path in listed.split(|byte| *byte == 0).filter(|path| !path.is_empty()) {
            if let Some(folder) = path.strip_suffix(b"/") {
                nested.push((parse_path(folder), 0));
            } else if !not_work.contains(&parse_path(path)) {
                paths.insert(parse_path(path));
            }
        }
        while let Some((folder, depth)) = nested.pop() {
            if depth < NESTED_DEPTH_MAX {
                self.list_nested(index, &folder, depth, &mut paths, &mut nested).await?;
            }
        }
        // What was brought in from the person's checkout is not the agent's, whatever became of it.
        let reused = index.clone.record.reused();
        paths.retain(|path| !reused.iter().any(|folder| path.starts_with(folder)));
        Ok(paths)
    }

    /// Files that were copied in, and files that a sparse checkout of the agent's left out.
    async fn not_work(&self, index: &FileIndex) -> Result<BTreeSet<PathBuf>, GitError> {
        let mut paths = index.clone.record.copied();
        let git_dir = index.clone.git_dir();
        let is_sparse = is_real_dir(&git_dir) && is_real_file(&git_dir.join("info/sparse-checkout"));
        let agents = index.scratch.path().join("agents-index");
        if is_sparse
            && is_real_file(&git_dir.join("index"))
            && fs::copy(git_dir.join("index"), &agents).is_ok()
        {
            let list = self.with_files("list what is left out", &index.clone.folder, &agents);
            let listed = list.args(["ls-files", "-z", "-t"]).find().await?.unwrap_or_default();
            let skipped = listed.split(|byte| *byte == 0).filter_map(|line| line.strip_prefix(b"S "));
            let is_gone = |path: &PathBuf| index.clone.folder.join(path).symlink_metadata().is_err();
            paths.extend(skipped.map(parse_path).filter(is_gone));
        }
        Ok(paths)
    }

    /// The files of a repository inside the folder, by the ignore rules in there and by no other setting of it.
    async fn list_nested(
        &self,
        index: &FileIndex,
        folder: &Path,
        depth: usize,
        paths: &mut BTreeSet<PathBuf>,
        nested: &mut Vec<(PathBuf, usize)>,
    ) -> Result<(), GitError> {
        let inside = index.clone.folder.join(folder);
        if !is_real_dir(&inside) {
            return Ok(());
        }
        let empty = index.scratch.path().join("no-index");
        let list = self.with_files("list a nested repository", &inside, &empty);
        let list = list.args(["ls-files", "-z", "--others", "--exclude-standard"]);
        // One that cannot be listed is left to the vault, which takes files as they are.
        let Some(listed) = list.find().await? else { return Ok(()) };
        for path in listed.split(|byte| *byte == 0).filter(|path| !path.is_empty()) {
            match path.strip_suffix(b"/") {
                Some(deeper) => nested.push((folder.join(parse_path(deeper)), depth + 1)),
                None => drop(paths.insert(folder.join(parse_path(path)))),
            }
        }
        Ok(())
    }
}

impl Worktrees {
    /// Puts the files of a working folder back to a commit: whatever checks wrote there is nobody's work. Ignored files
    /// stay, since the next build may need them.
    pub async fn undo_changes(&self, checkout: &Checkout, commit: &CommitId) -> Result<(), GitError> {
        if !is_real_dir(&checkout.folder) {
            return Ok(());
        }
        let index = self.index_at(self.clone_in(&checkout.folder), Some(commit)).await?;
        let changed = self.changed_paths(&index).await?;
        if changed.is_empty() {
            return Ok(());
        }
        let tried = "undo what the checks wrote";
        let list = self.with_index(tried, &index).args(["ls-files", "-z", "--others", "--exclude-standard"]);
        let others = list.timeout(TIMEOUT_FILES).run().await?;
        let others: BTreeSet<PathBuf> =
            others.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(parse_path).collect();
        let (new, known): (Vec<PathBuf>, Vec<PathBuf>) =
            changed.into_iter().partition(|path| others.contains(path));
        if !known.is_empty() {
            let mut lines = Vec::new();
            for path in &known {
                lines.extend_from_slice(path.as_os_str().as_bytes());
                lines.push(0);
            }
            let write = self.with_index(tried, &index).args(["checkout-index", "--force", "-z", "--stdin"]);
            write.input(lines).timeout(TIMEOUT_FILES).run().await?;
        }
        for some in new.chunks(PATHS_AT_ONCE) {
            let clean = self.with_index(tried, &index).args(["clean", "-q", "-d", "--force", "--"]);
            clean.args(some.iter().map(|path| path.as_os_str())).timeout(TIMEOUT_FILES).run().await?;
        }
        Ok(())
    }
}

pub(crate) fn parse_path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}
