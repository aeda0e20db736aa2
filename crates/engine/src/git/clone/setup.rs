//! What a fresh clone gets besides its commit: files and folders that git does not carry, and submodules.

use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use baton_core::task::environment::ReusedFolder;

use crate::git::clone::checkout::Checkout;
use crate::git::clone::make::failed;
use crate::git::clone::private_clone::PrivateClone;
use crate::git::clone::reuse::bring_folder;
use crate::git::clone::worktrees::{Worktrees, blocking};
use crate::git::command::call::TIMEOUT_FILES;
use crate::git::command::program::At;
use crate::git::error::GitError;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Setup {
    /// Untracked files of the person's checkout, such as `.env`, by their path inside it. One that is not there is skipped;
    /// one that git brings is not overwritten.
    pub copy: Vec<PathBuf>,
    /// Folders of the person's checkout that are brought in as they are. The same holds as for files.
    pub reuse: Vec<PathBuf>,
    /// Whether their files may be hard links where the file system shares no blocks.
    pub reuse_links: bool,
    /// Whether to fetch the submodules too, which may need the network.
    pub submodules: bool,
}

impl Setup {
    pub(crate) fn check(&self) -> Result<(), GitError> {
        for path in self.copy.iter().chain(&self.reuse) {
            let bad = |why| Err(GitError::BadCopy { path: path.clone(), why });
            if path.as_os_str().is_empty() {
                return bad("it is empty");
            }
            let parts = path.components().filter(|part| *part != Component::CurDir);
            let mut parts = parts.map(|part| part.as_os_str().to_ascii_lowercase());
            let is_all = parts.clone().next().is_none();
            if is_all {
                return bad("it is the whole repository");
            }
            let is_ours = parts.next().is_some_and(|first| first == ".agent")
                && parts.next().is_none_or(|second| second == "state");
            if is_ours {
                return bad("it holds Baton's own store");
            }
            for part in path.components() {
                match part {
                    Component::Normal(name) if name.eq_ignore_ascii_case(".git") => {
                        return bad("it is git's own");
                    }
                    Component::Normal(_) | Component::CurDir => {}
                    Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                        return bad("it has to stay inside the repository");
                    }
                }
            }
        }
        Ok(())
    }
}

impl Worktrees {
    /// Copies files and fetches submodules into a clone that no agent has seen.
    pub(crate) async fn set_up(&self, made: &PrivateClone, setup: &Setup) -> Result<(), GitError> {
        for path in setup.copy.iter().chain(&setup.reuse) {
            self.check_stays_inside(path).await?;
        }
        let mut copied = Vec::new();
        for path in &setup.copy {
            if self.repository.is_bare() {
                // There is no checkout to copy from.
                break;
            }
            let (from, to) = (self.repository.folder().join(path), made.folder.join(path));
            if copy(&from, &to, &made.folder).map_err(failed("copy", &from))? {
                copied.extend_from_slice(path.as_os_str().as_bytes());
                copied.push(0);
            }
        }
        made.record.add_copied(&copied).map_err(failed("write", made.record.folder()))?;
        self.reuse_folders(made, setup).await?;
        if setup.submodules {
            let call = self.repository.call_at("fetch the submodules", At::Folder(&made.folder));
            call.args(["submodule", "--quiet", "update", "--init", "--recursive"])
                .timeout(TIMEOUT_FILES)
                .run()
                .await?;
        }
        Ok(())
    }

    /// A link that a person made may lead anywhere. One that came with the repository may not: its author would choose
    /// what agents get to read.
    async fn check_stays_inside(&self, path: &Path) -> Result<(), GitError> {
        let root = self.repository.folder();
        let Ok(inside) = fs::canonicalize(root) else { return Ok(()) };
        let whole = fs::canonicalize(root.join(path)).unwrap_or_else(|_| inside.join(path));
        let ours = self.state_dir();
        if whole.starts_with(ours) || ours.starts_with(&whole) {
            return Err(GitError::BadCopy { path: path.to_owned(), why: "it holds Baton's own store" });
        }
        for part in path.ancestors().filter(|part| !part.as_os_str().is_empty()) {
            let at = root.join(part);
            let is_link = fs::symlink_metadata(&at).is_ok_and(|found| found.is_symlink());
            if !is_link || fs::canonicalize(&at).is_ok_and(|target| target.starts_with(&inside)) {
                continue;
            }
            let call =
                self.repository.call_at("see whether a link is part of the repository", At::Folder(root));
            if call.args(["ls-files", "--error-unmatch", "--"]).arg(part).find().await?.is_some() {
                let why = "a link that came with the repository leads out of it";
                return Err(GitError::BadCopy { path: path.to_owned(), why });
            }
        }
        Ok(())
    }

    async fn reuse_folders(&self, made: &PrivateClone, setup: &Setup) -> Result<(), GitError> {
        if setup.reuse.is_empty() || self.repository.is_bare() {
            return Ok(());
        }
        let (source, wanted, made) = (self.repository.folder().to_owned(), setup.clone(), made.clone());
        let path = made.folder.clone();
        blocking("bring folders into", &path, move || {
            let mut brought = Vec::new();
            for path in &wanted.reuse {
                let to = made.folder.join(path);
                make_parent(&to, &made.folder)?;
                brought.extend(bring_folder(&source.join(path), &to, path, wanted.reuse_links)?);
            }
            exclude(&made.git_dir(), &brought)?;
            made.record.set_reused(&brought)
        })
        .await
    }

    /// The folders that were brought into a clone, told once.
    pub fn take_reused(&self, checkout: &Checkout) -> Result<Vec<ReusedFolder>, GitError> {
        let record = self.clone_in(&checkout.folder).record;
        record.take_reuse_report().map_err(failed("read", record.folder()))
    }

    /// Whether the project's own set-up ran to its end here. A clone that is handed on brings it along.
    pub fn is_set_up(&self, checkout: &Checkout) -> bool {
        self.clone_in(&checkout.folder).record.is_set_up()
    }

    /// Notes that the project's own set-up has run. The new files it left are not the agent's work.
    pub async fn note_set_up(&self, checkout: &Checkout) -> Result<(), GitError> {
        let record = self.clone_in(&checkout.folder).record;
        let index = record.index();
        let at = At::Files { git_dir: self.repository.git_dir(), folder: &checkout.folder, index: &index };
        let list = self.repository.call_at("list what the set-up made", at);
        let new = list.args(["ls-files", "-z", "--others", "--exclude-standard"]).run().await?;
        let note = || record.add_copied(&new).and_then(|()| record.mark_set_up());
        note().map_err(failed("write", record.folder()))
    }
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
    make_parent(to, root)?;
    fs::copy(from, to).map(|_| true)
}

fn make_parent(to: &Path, root: &Path) -> io::Result<()> {
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)?;
        // A folder of the repository may be a link that leads out of it.
        if !fs::canonicalize(parent)?.starts_with(fs::canonicalize(root)?) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a link leads out of the worktree"));
        }
    }
    Ok(())
}

/// Whatever the project ignores, an agent does not add these to its commits.
fn exclude(git_dir: &Path, folders: &[ReusedFolder]) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().create(true).append(true).open(git_dir.join("info/exclude"))?;
    for folder in folders {
        let special = |c: char| matches!(c, '*' | '?' | '[' | ']' | '\\' | ' ');
        let pattern: String =
            folder.path.chars().flat_map(|c| special(c).then_some('\\').into_iter().chain([c])).collect();
        writeln!(file, "/{pattern}")?;
    }
    Ok(())
}
