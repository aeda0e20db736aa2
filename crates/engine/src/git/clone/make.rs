//! Makes a clone: `git init`, borrowed objects, the person's refs and configuration, and the files of a commit.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use baton_core::base::git_name::{BranchName, CommitId};

use crate::git::clone::config::CloneConfig;
use crate::git::clone::files;
use crate::git::clone::private_clone::PrivateClone;
use crate::git::clone::refs::{put_on, renew_packed};
use crate::git::clone::worktrees::Worktrees;
use crate::git::command::call::quote_objects_path;
use crate::git::command::program::At;
use crate::git::error::GitError;
use crate::git::repository::Repository;

/// Files in `info/` that hold for every checkout of the repository.
const INFO_COPIED: [&str; 2] = ["exclude", "attributes"];
/// A hook is a script; anything larger is left out.
const HOOK_BYTES_MAX: u64 = 1 << 20;
/// Refs a clone gets. Baton's hidden ones and stashes stay out.
const REFS_COPIED: [&str; 3] = ["refs/heads", "refs/tags", "refs/remotes"];

impl Repository {
    /// The folder clones borrow objects from.
    pub(crate) fn objects(&self) -> PathBuf {
        self.git_dir().join("objects")
    }

    /// Every ref a clone gets, as in `packed-refs`.
    async fn refs_for_clone(&self) -> Result<Vec<u8>, GitError> {
        let list = self.call("list the refs").args(["for-each-ref", "--format=%(objectname) %(refname)"]);
        list.args(REFS_COPIED).run().await
    }
}

impl Worktrees {
    /// Makes a clone on a branch that leads to a commit, with its files. Its record has no owner yet.
    pub(crate) async fn make_clone(
        &self,
        folder: &Path,
        branch: &BranchName,
        start: &CommitId,
    ) -> Result<PrivateClone, GitError> {
        let made = self.clone_in(folder);
        made.record.begin(self.repository.git_dir()).map_err(failed("write", made.record.folder()))?;
        self.init_clone(&made).await?;
        self.put_clone_on(&made, branch, start).await?;
        self.fill(&made, start).await?;
        Ok(made)
    }

    /// The empty repository of a clone, with everything but refs and files.
    pub(crate) async fn init_clone(&self, made: &PrivateClone) -> Result<(), GitError> {
        let config = self.repository.clone_config().await?;
        let init = self.repository.call_at("make the clone", At::Folder(&self.home()));
        let init = init.args(["-c", "init.defaultRefFormat=files", "init", "--quiet", "--template="]);
        init.arg(format!("--object-format={}", config.object_format))
            .arg("--")
            .arg(&made.folder)
            .run()
            .await?;
        configure(made, &self.repository, &config).map_err(failed("make the clone in", &made.folder))
    }

    /// Gives a clone the person's refs as they are now, and puts it on a branch.
    pub(crate) async fn put_clone_on(
        &self,
        made: &PrivateClone,
        branch: &BranchName,
        commit: &CommitId,
    ) -> Result<(), GitError> {
        let refs = self.repository.refs_for_clone().await?;
        let git_dir = made.git_dir();
        let write = || {
            files::replace(&git_dir, Path::new("packed-refs"), &refs)?;
            made.record.set_refs(&refs)?;
            made.record.set_branch(branch)?;
            put_on(&git_dir, branch, commit)
        };
        write().map_err(failed("write the refs of", &made.folder))
    }

    /// Shows a clone the person's refs as they are now. Branches that the agent moved, and its own, stay.
    pub(crate) async fn renew_refs(&self, made: &PrivateClone, own: &BranchName) -> Result<(), GitError> {
        let refs = self.repository.refs_for_clone().await?;
        let renewed = renew_packed(&made.git_dir(), &refs, own);
        let write = || {
            files::replace(&made.git_dir(), Path::new("packed-refs"), &renewed)?;
            made.record.set_refs(&refs)?;
            made.record.set_branch(own)
        };
        write().map_err(failed("write the refs of", &made.folder))
    }

    /// Makes the files and both indexes what the commit says. The files are written with the person's configuration: their
    /// filters, their sparse checkout, and their remote for objects that are not here yet.
    pub(crate) async fn fill(&self, made: &PrivateClone, commit: &CommitId) -> Result<(), GitError> {
        let index = made.record.index();
        let at = At::Files { git_dir: self.repository.git_dir(), folder: &made.folder, index: &index };
        self.repository.call_at("write the files", at).write_files(commit).run().await?;
        let finish = || {
            made.record.set_indexed(commit)?;
            fs::copy(&index, made.git_dir().join("index")).map(drop)
        };
        finish().map_err(failed("write the index of", &made.folder))
    }

    /// Whether the person's configuration is newer than a spare, which then needs it again.
    pub(crate) fn is_config_newer(&self, made: &PrivateClone) -> bool {
        let time = |path: PathBuf| fs::metadata(path).and_then(|found| found.modified()).ok();
        let Some(at) = time(made.git_dir().join("config")) else { return true };
        let git_dir = self.repository.git_dir();
        let sources =
            ["config", "config.worktree", "hooks", "info/exclude", "info/attributes", "info/sparse-checkout"];
        sources.iter().any(|source| time(git_dir.join(source)).is_some_and(|changed| changed >= at))
    }

    /// Brings the configuration of a spare up to date.
    pub(crate) async fn renew_config(&self, made: &PrivateClone) -> Result<(), GitError> {
        let config = self.repository.clone_config().await?;
        configure(made, &self.repository, &config).map_err(failed("configure the clone in", &made.folder))
    }
}

fn configure(made: &PrivateClone, repository: &Repository, config: &CloneConfig) -> io::Result<()> {
    let (from, to) = (repository.git_dir(), made.git_dir());
    for folder in ["info", "hooks", "objects/info"] {
        fs::create_dir_all(to.join(folder))?;
    }
    fs::write(to.join("config"), &config.text)?;
    fs::write(to.join("objects/info/alternates"), alternates_line(&repository.objects()))?;
    let sparse = config.is_sparse.then_some("sparse-checkout");
    for name in INFO_COPIED.into_iter().chain(sparse) {
        match fs::copy(from.join("info").join(name), to.join("info").join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(_) | Err(_) => {}
        }
    }
    if config.has_own_hooks { copy_hooks(&from.join("hooks"), &to.join("hooks")) } else { Ok(()) }
}

/// The person's hooks run when the agent commits, as they would for them.
fn copy_hooks(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from).into_iter().flatten().flatten() {
        let path = entry.path();
        let Ok(found) = fs::metadata(&path) else { continue };
        let is_hook =
            found.is_file() && found.permissions().mode() & 0o111 != 0 && found.len() <= HOOK_BYTES_MAX;
        if is_hook && path.extension().is_none_or(|end| end != "sample") {
            fs::copy(&path, to.join(entry.file_name()))?;
        }
    }
    Ok(())
}

/// The content of `objects/info/alternates`.
pub(crate) fn alternates_line(objects: &Path) -> Vec<u8> {
    // An absolute path never begins like a comment.
    [quote_objects_path(objects).as_bytes(), b"\n"].concat()
}

pub(crate) fn failed(tried: &'static str, path: &Path) -> impl FnOnce(io::Error) -> GitError {
    let path = path.to_owned();
    move |source| GitError::File { tried, path, source }
}
