//! Caches opened repositories.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use baton_core::base::git_name::{BranchName, CommitId};

use crate::base::error::EngineError;
use crate::git::{Git, Repository, Worktrees};

/// Pairs of tips that something is remembered about. The cache is cleared beyond that.
const MERGED_MAX: usize = 1_000;

/// The tips of the user's branch and of the integration branch.
pub type BranchTips = (Option<CommitId>, Option<CommitId>);

/// Caches only what cannot change: where a repository is, and that one commit contains another. Cheap to clone; clones
/// share the cache.
#[derive(Clone, Default)]
pub struct Repositories(Arc<Mutex<RepositoryCache>>);

#[derive(Default)]
struct RepositoryCache {
    worktrees: BTreeMap<PathBuf, Worktrees>,
    /// The branch the last task there started from.
    branches: BTreeMap<PathBuf, BranchName>,
    merged: BTreeSet<BranchTips>,
    /// Whether the user's branch has all of the other, and more.
    ahead: BTreeMap<BranchTips, bool>,
}

impl Repositories {
    /// The worktrees of the repository at a path.
    pub async fn open(&self, git: &Git, path: &Path, state_dir: &Path) -> Result<Worktrees, EngineError> {
        let known = self.known().worktrees.get(path).cloned();
        // If it was moved or deleted since, opening it again gives the error.
        if let Some(worktrees) = known.filter(|known| known.repository().git_dir().is_dir()) {
            return Ok(worktrees);
        }
        let worktrees = Worktrees::new(Repository::open(git, path).await?, state_dir)?;
        self.known().worktrees.insert(path.to_owned(), worktrees.clone());
        Ok(worktrees)
    }

    pub fn note(&self, path: &Path, branch: &BranchName) {
        self.known().branches.insert(path.to_owned(), branch.clone());
    }

    /// Every repository in which work started, and the branch of the last start.
    pub fn in_use(&self) -> Vec<(Worktrees, BranchName)> {
        let known = self.known();
        let of = |(path, branch): (&PathBuf, &BranchName)| {
            Some((known.worktrees.get(path)?.clone(), branch.clone()))
        };
        known.branches.iter().filter_map(of).collect()
    }

    pub fn is_gathered(&self, tips: &BranchTips) -> bool {
        self.known().merged.contains(tips)
    }

    pub fn note_gathered(&self, tips: BranchTips) {
        let mut known = self.known();
        if known.merged.len() >= MERGED_MAX {
            known.merged.clear();
        }
        known.merged.insert(tips);
    }

    pub fn is_ahead(&self, tips: &BranchTips) -> Option<bool> {
        self.known().ahead.get(tips).copied()
    }

    pub fn note_ahead(&self, tips: BranchTips, is_ahead: bool) {
        let mut known = self.known();
        if known.ahead.len() >= MERGED_MAX {
            known.ahead.clear();
        }
        known.ahead.insert(tips, is_ahead);
    }

    fn known(&self) -> MutexGuard<'_, RepositoryCache> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
