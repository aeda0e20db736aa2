//! What a fresh worktree gets besides its commit: files git does not carry, and submodules.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use crate::git::call::TIMEOUT_FILES;
use crate::git::checkout::Checkout;
use crate::git::error::GitError;
use crate::git::program::At;
use crate::git::room::Worktrees;

/// Where a worktree remembers what was copied into it: beside its HEAD, out of the agent's sight.
const RECORD: &str = "baton-copied";

/// There once the project's own set-up has run.
const SET_UP: &str = "baton-set-up";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Setup {
    /// Untracked files of the human's checkout, such as `.env`, by their path inside it. One that is not
    /// there is passed over; one that git brings is not overwritten.
    pub copy: Vec<PathBuf>,
    /// Fetch the submodules too. It may need the network; a worktree works without.
    pub submodules: bool,
}

impl Setup {
    pub(crate) fn check(&self) -> Result<(), GitError> {
        for path in &self.copy {
            let bad = |why| Err(GitError::BadCopy { path: path.clone(), why });
            if path.as_os_str().is_empty() {
                return bad("it is empty");
            }
            for part in path.components() {
                match part {
                    Component::Normal(name) if name.eq_ignore_ascii_case(".git") => {
                        return bad("it is git's own");
                    }
                    Component::Normal(_) => {}
                    Component::CurDir | Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                        return bad("it has to stay inside the repository");
                    }
                }
            }
        }
        Ok(())
    }
}

impl Worktrees {
    pub(crate) async fn set_up(&self, made: &Checkout, setup: &Setup) -> Result<(), GitError> {
        let mut record = Vec::new();
        for path in &setup.copy {
            if self.repository.is_bare() {
                // There is no checkout to copy from.
                break;
            }
            let (from, to) = (self.repository.folder().join(path), made.folder.join(path));
            if copy(&from, &to, &made.folder).map_err(|source| GitError::File {
                tried: "copy",
                path: from.clone(),
                source,
            })? {
                record.extend_from_slice(path.as_os_str().as_bytes());
                record.push(0);
            }
        }
        let path = made.git_dir.join(RECORD);
        fs::write(&path, record).map_err(|source| GitError::File { tried: "write", path, source })?;
        if setup.submodules {
            let call = self.repository.call_at("fetch the submodules", At::Folder(&made.folder));
            call.args(["submodule", "--quiet", "update", "--init", "--recursive"])
                .timeout(TIMEOUT_FILES)
                .run()
                .await?;
        }
        Ok(())
    }
}

impl Worktrees {
    /// Whether the project's own set-up ran to its end here. A worktree that is handed on brings it along.
    pub fn is_set_up(&self, made: &Checkout) -> bool {
        made.git_dir.join(SET_UP).exists()
    }

    /// The project's own set-up has run. The new files it left are not the agent's work.
    pub async fn note_set_up(&self, made: &Checkout) -> Result<(), GitError> {
        let list = self.repository.call_at("list what the set-up made", made.at());
        let new = list.args(["ls-files", "-z", "--others", "--exclude-standard"]).run().await?;
        let write = |name: &str, bytes: &[u8]| {
            let path = made.git_dir.join(name);
            fs::write(&path, bytes).map_err(|source| GitError::File { tried: "write", path, source })
        };
        let known = fs::read(made.git_dir.join(RECORD)).unwrap_or_default();
        write(RECORD, &[known, new].concat())?;
        write(SET_UP, &[])
    }
}

/// What was copied in is not the agent's work, whatever the repository's ignore rules say of it.
pub(crate) fn copied(git_dir: &Path) -> BTreeSet<PathBuf> {
    let record = fs::read(git_dir.join(RECORD)).unwrap_or_default();
    let paths = record.split(|byte| *byte == 0).filter(|path| !path.is_empty());
    paths.map(|path| PathBuf::from(OsStr::from_bytes(path))).collect()
}

/// Whether there was something to copy and no file in its place.
fn copy(from: &Path, to: &Path, root: &Path) -> io::Result<bool> {
    if fs::symlink_metadata(to).is_ok() {
        return Ok(false);
    }
    match fs::metadata(from) {
        Ok(found) if found.is_file() => {}
        Ok(_) => return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    }
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)?;
        // A folder of the repository may be a link that leads out of it.
        if !fs::canonicalize(parent)?.starts_with(root) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a link leads out of the worktree"));
        }
    }
    fs::copy(from, to).map(|_| true)
}
