//! Single files of a commit, and those that define user tasks, without a checkout of the rest.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use baton_core::base::git_name::CommitId;
use tempfile::TempDir;

use crate::git::clone::make::failed;
use crate::git::clone::worktrees::Worktrees;
use crate::git::command::program::At;
use crate::git::error::GitError;
use crate::git::repository::Repository;

/// Files remembered. The cache is cleared beyond that.
const FILES_MAX: usize = 64;
/// What a Taskfile can be, or include.
const DEFINITIONS: [&str; 3] = [".agent", ":(glob)**/*.yml", ":(glob)**/*.yaml"];

/// Contents by id, which never change. Clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct FileCache(Arc<Mutex<BTreeMap<String, Arc<Vec<u8>>>>>);

/// Files of a commit in a temporary folder, which is deleted with the last clone of this.
#[derive(Debug, Clone)]
pub(crate) struct CommitFiles {
    home: Arc<TempDir>,
}

impl CommitFiles {
    pub(crate) fn folder(&self) -> PathBuf {
        self.home.path().join("files")
    }

    /// Old temporary folders are deleted; this one is in use. False if it is gone.
    pub(crate) fn keep(&self) -> bool {
        let touch = |path: &Path| fs::File::open(path)?.set_modified(std::time::SystemTime::now());
        touch(self.home.path()).is_ok() && self.folder().is_dir()
    }
}

impl Repository {
    /// The id of what a commit or a tree has at a path from its root.
    pub(crate) async fn entry_at(&self, of: &CommitId, path: &str) -> Result<Option<String>, GitError> {
        self.object(&format!("{of}:{path}")).await
    }

    /// What a commit has in the file at a path from its root, if there is one.
    pub(crate) async fn read_file_at(
        &self,
        commit: &CommitId,
        path: &str,
    ) -> Result<Option<Arc<Vec<u8>>>, GitError> {
        let Some(id) = self.entry_at(commit, path).await? else { return Ok(None) };
        let files = || self.files.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = files().get(&id).cloned() {
            return Ok(Some(known));
        }
        let read = self.call("read a file of a branch").args(["cat-file", "blob", &id]).run().await?;
        let (read, mut known) = (Arc::new(read), files());
        if known.len() >= FILES_MAX {
            known.clear();
        }
        known.insert(id, read.clone());
        Ok(Some(read))
    }
}

impl Worktrees {
    /// Writes the files that can define user tasks, as the commit has them.
    pub(crate) async fn write_definitions(&self, commit: &CommitId) -> Result<CommitFiles, GitError> {
        let tried = "write the definitions of the checks";
        let files = CommitFiles { home: Arc::new(self.scratch()?) };
        let (folder, index) = (files.folder(), files.home.path().join("index"));
        fs::create_dir(&folder).map_err(failed("make", &folder))?;
        let at = || At::Files { git_dir: self.repository.git_dir(), folder: &folder, index: &index };
        let call = || self.repository.call_at(tried, at());
        call().args(["read-tree", commit.as_str()]).run().await?;
        let list = call().env("GIT_LITERAL_PATHSPECS", "0").args(["ls-files", "-z", "--"]);
        let listed = list.args(DEFINITIONS).run().await?;
        call().args(["checkout-index", "-q", "-f", "-z", "--stdin"]).input(listed).run().await?;
        Ok(files)
    }
}
