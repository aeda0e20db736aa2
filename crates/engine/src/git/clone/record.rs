//! Baton's record of a clone, outside the clone, where no agent can change it.
//!
//! | file | what |
//! | --- | --- |
//! | `repository` | the repository whose objects the clone borrows |
//! | `branch` | the branch it stands on |
//! | `owner` | the attempt it belongs to; written last, so a clone without one was never finished |
//! | `spare` | there while it waits for an attempt |
//! | `index`, `indexed` | Baton's own index of the files, and the commit it was made from |
//! | `refs` | the refs the clone got |
//! | `copied` | files that were copied in or made by the set-up, which are not the agent's work |
//! | `reused`, `reuse-report` | folders that were brought in; what that took, until it is told |
//! | `set-up` | there once the project's set-up has run |

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use baton_core::base::git_name::{BranchName, CommitId};
use baton_core::base::id::AttemptId;
use baton_core::task::environment::ReusedFolder;

use crate::git::clone::refs::branches_in;
use crate::git::vault::folder;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CloneRecord {
    folder: PathBuf,
}

impl CloneRecord {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Starts an empty record.
    pub(crate) fn begin(&self, repository: &Path) -> io::Result<()> {
        folder::delete(&self.folder)?;
        fs::create_dir_all(&self.folder)?;
        self.write("repository", repository.as_os_str().as_bytes())
    }

    pub(crate) fn exists(&self) -> bool {
        self.folder.is_dir()
    }

    pub(crate) fn is_of(&self, repository: &Path) -> bool {
        self.read("repository").is_some_and(|path| path == repository.as_os_str().as_bytes())
    }

    pub(crate) fn owner(&self) -> Option<AttemptId> {
        self.read_text("owner")?.parse().ok()
    }

    /// Makes the clone an attempt's own.
    pub(crate) fn set_owner(&self, attempt: AttemptId) -> io::Result<()> {
        self.write("owner", attempt.to_string().as_bytes())?;
        remove(&self.folder.join("spare"))
    }

    pub(crate) fn is_spare(&self) -> bool {
        self.folder.join("spare").exists()
    }

    pub(crate) fn mark_spare(&self) -> io::Result<()> {
        self.write("spare", b"")
    }

    pub(crate) fn branch(&self) -> Option<BranchName> {
        self.read_text("branch")?.parse().ok()
    }

    pub(crate) fn set_branch(&self, branch: &BranchName) -> io::Result<()> {
        self.write("branch", branch.as_str().as_bytes())
    }

    pub(crate) fn index(&self) -> PathBuf {
        self.folder.join("index")
    }

    /// The commit the index was made from.
    pub(crate) fn indexed(&self) -> Option<CommitId> {
        self.read_text("indexed")?.parse().ok()
    }

    pub(crate) fn set_indexed(&self, commit: &CommitId) -> io::Result<()> {
        self.write("indexed", commit.as_str().as_bytes())
    }

    /// Replaces the index by another.
    pub(crate) fn take_index(&self, index: &Path, commit: &CommitId) -> io::Result<()> {
        // Without a commit the index is not trusted, so a crash in between costs time only.
        remove(&self.folder.join("indexed"))?;
        let new = self.folder.join("index.new");
        fs::copy(index, &new)?;
        fs::rename(&new, self.index())?;
        self.set_indexed(commit)
    }

    /// As in `packed-refs`: "id name" a line.
    pub(crate) fn refs(&self) -> Vec<u8> {
        self.read("refs").unwrap_or_default()
    }

    /// The branches among them.
    pub(crate) fn branches(&self) -> Vec<(BranchName, CommitId)> {
        branches_in(&self.refs())
    }

    pub(crate) fn set_refs(&self, packed: &[u8]) -> io::Result<()> {
        self.write("refs", packed)
    }

    pub(crate) fn copied(&self) -> BTreeSet<PathBuf> {
        let record = self.read("copied").unwrap_or_default();
        let paths = record.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        paths.map(|path| PathBuf::from(OsStr::from_bytes(path))).collect()
    }

    /// Adds paths, NUL after each.
    pub(crate) fn add_copied(&self, paths: &[u8]) -> io::Result<()> {
        let known = self.read("copied").unwrap_or_default();
        self.write("copied", &[known.as_slice(), paths].concat())
    }

    /// The folders that were brought in as they are.
    pub(crate) fn reused(&self) -> Vec<PathBuf> {
        self.read_text("reused").unwrap_or_default().lines().map(PathBuf::from).collect()
    }

    pub(crate) fn set_reused(&self, folders: &[ReusedFolder]) -> io::Result<()> {
        let paths: Vec<&str> = folders.iter().map(|folder| folder.path.as_str()).collect();
        self.write("reused", paths.join("\n").as_bytes())?;
        self.write("reuse-report", serde_json::to_string(folders)?.as_bytes())
    }

    /// What bringing them in took; nothing the second time.
    pub(crate) fn take_reuse_report(&self) -> io::Result<Vec<ReusedFolder>> {
        let Some(text) = self.read("reuse-report") else { return Ok(Vec::new()) };
        remove(&self.folder.join("reuse-report"))?;
        Ok(serde_json::from_slice(&text)?)
    }

    pub(crate) fn is_set_up(&self) -> bool {
        self.folder.join("set-up").exists()
    }

    pub(crate) fn mark_set_up(&self) -> io::Result<()> {
        self.write("set-up", b"")
    }

    fn read(&self, name: &str) -> Option<Vec<u8>> {
        fs::read(self.folder.join(name)).ok()
    }

    fn read_text(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.folder.join(name)).ok().map(|text| text.trim().to_owned())
    }

    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let new = self.folder.join(format!("{name}.new"));
        fs::write(&new, bytes)?;
        fs::rename(new, self.folder.join(name))
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}
