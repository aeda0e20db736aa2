//! All of Baton's worktrees of one repository, and where they lie.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use baton_core::base::git_name::CommitId;
use baton_core::base::id::AttemptId;
use tempfile::TempDir;

use crate::git::error::GitError;
use crate::git::lock::RepositoryLock;
use crate::git::registration::Seats;
use crate::git::repository::Repository;

/// The worktrees of one repository under one state directory.
#[derive(Debug, Clone)]
pub struct Worktrees {
    pub(crate) repository: Repository,
    pub(crate) seats: Seats,
    /// Whether what a crash left of spares was looked for since the start.
    pub(crate) spares_cleared: Arc<AtomicBool>,
    state_dir: PathBuf,
}

impl Worktrees {
    /// Makes the folders it needs; they are named by their real paths, as git names them.
    pub fn new(repository: Repository, state_dir: &Path) -> Result<Self, GitError> {
        let failed = |source| GitError::File { tried: "make", path: state_dir.to_owned(), source };
        for name in ["worktrees", "trash", "tmp"] {
            fs::create_dir_all(state_dir.join(name)).map_err(failed)?;
        }
        let state_dir = fs::canonicalize(state_dir).map_err(failed)?;
        Ok(Self { repository, seats: Seats::default(), spares_cleared: Arc::default(), state_dir })
    }

    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    pub(crate) fn state_dir(&self) -> &Path {
        &self.state_dir
    }

    /// Every worktree Baton makes lies directly in here.
    pub(crate) fn home(&self) -> PathBuf {
        self.state_dir.join("worktrees")
    }

    /// Where an attempt's own worktree is made. One that goes on with another's lies in the other's folder.
    pub(crate) fn folder_of(&self, attempt: AttemptId) -> PathBuf {
        self.home().join(attempt.to_string())
    }

    /// What is on its way out: already kept, moved aside in one step, deleted at leisure.
    pub(crate) fn trash(&self) -> PathBuf {
        self.state_dir.join("trash")
    }

    pub(crate) fn tmp(&self) -> PathBuf {
        self.state_dir.join("tmp")
    }

    pub(crate) fn scratch(&self) -> Result<TempDir, GitError> {
        let path = self.tmp();
        TempDir::new_in(&path).map_err(|source| GitError::File { tried: "make a folder in", path, source })
    }

    pub(crate) async fn lock(&self) -> Result<RepositoryLock, GitError> {
        RepositoryLock::take(&self.state_dir, self.repository.git_dir()).await
    }

    pub(crate) async fn hidden(&self, kind: &str, attempt: AttemptId) -> Result<Option<CommitId>, GitError> {
        self.repository.commit_at(&hidden_ref(kind, attempt)).await
    }
}

/// A ref of Baton's own: `kind` is `base`, `leftovers` or `vault`.
pub(crate) fn hidden_ref(kind: &str, attempt: AttemptId) -> String {
    format!("refs/baton/{kind}/{attempt}")
}

/// Runs what blocks (walking and deleting folders) where blocking is allowed.
pub(crate) async fn blocking<T: Send + 'static>(
    tried: &'static str,
    path: &Path,
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> Result<T, GitError> {
    let failed = |source| GitError::File { tried, path: path.to_owned(), source };
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(failed),
        Err(join) => Err(failed(join.into())),
    }
}
