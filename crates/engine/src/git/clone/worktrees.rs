//! All working folders of attempts at one repository, and where they are.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use baton_core::base::git_name::CommitId;
use baton_core::base::id::AttemptId;
use tempfile::TempDir;
use tokio::sync::OnceCell;

use crate::git::clone::private_clone::SeatCache;
use crate::git::error::GitError;
use crate::git::repository::Repository;
use crate::git::repository::lock::RepositoryLock;
use crate::git::settle::leftovers::LEFTOVER_BYTES_MAX;

/// The working folders of one repository under one state directory.
#[derive(Debug, Clone)]
pub struct Worktrees {
    pub(crate) repository: Repository,
    pub(crate) seats: SeatCache,
    /// Whether broken spares were looked for since the start.
    pub(crate) spares_cleared: Arc<AtomicBool>,
    /// Whether linked worktrees of an earlier version were looked for since the start.
    pub(crate) legacy_converted: Arc<OnceCell<()>>,
    state_dir: PathBuf,
    /// A larger file needs a person's look.
    pub(crate) large_file_bytes: u64,
}

impl Worktrees {
    /// Makes the folders it needs, and uses their real paths.
    pub fn new(repository: Repository, state_dir: &Path) -> Result<Self, GitError> {
        let failed = |source| GitError::File { tried: "make", path: state_dir.to_owned(), source };
        for name in ["worktrees", "checkouts", "trash", "tmp"] {
            fs::create_dir_all(state_dir.join(name)).map_err(failed)?;
        }
        let state_dir = fs::canonicalize(state_dir).map_err(failed)?;
        Ok(Self {
            repository,
            seats: SeatCache::default(),
            spares_cleared: Arc::default(),
            legacy_converted: Arc::default(),
            state_dir,
            large_file_bytes: LEFTOVER_BYTES_MAX,
        })
    }

    /// The same with another limit for files that need a person's look.
    #[must_use]
    pub fn with_large_files(&self, bytes: u64) -> Self {
        Self { large_file_bytes: bytes, ..self.clone() }
    }

    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    pub(crate) fn state_dir(&self) -> &Path {
        &self.state_dir
    }

    /// The folders agents work in are directly in here.
    pub(crate) fn home(&self) -> PathBuf {
        self.state_dir.join("worktrees")
    }

    /// Baton's records of them, one folder of the same name for each.
    pub(crate) fn records(&self) -> PathBuf {
        self.state_dir.join("checkouts")
    }

    /// Where an attempt's own clone is made. An attempt that resumes another works in the other's folder.
    pub(crate) fn folder_of(&self, attempt: AttemptId) -> PathBuf {
        self.home().join(attempt.to_string())
    }

    /// What is being deleted: kept already, and moved here in one step.
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

/// Runs work that blocks (walking and deleting folders) on a thread of its own.
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
