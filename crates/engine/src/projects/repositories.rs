//! The repositories work has happened in, as far as they are known: found once, not before every task.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use baton_core::base::git_name::{BranchName, CommitId};

use crate::base::error::EngineError;
use crate::git::{Git, Repository, Worktrees};

/// Pairs of tips remembered as merged; more are looked up again.
const GATHERED_MAX: usize = 1_000;

/// Where the human's branch and the gathering one stand.
pub type Stand = (Option<CommitId>, Option<CommitId>);

/// Cheap to clone; clones share what they know. Only what cannot change is kept: where a repository is, and that one
/// commit is in another.
#[derive(Clone, Default)]
pub struct Repositories(Arc<Mutex<Known>>);

#[derive(Default)]
struct Known {
    worktrees: BTreeMap<PathBuf, Worktrees>,
    /// The branch the last task there started from.
    branches: BTreeMap<PathBuf, BranchName>,
    gathered: BTreeSet<Stand>,
}

impl Repositories {
    /// The worktrees of the repository at a path.
    pub async fn open(&self, git: &Git, path: &Path, state_dir: &Path) -> Result<Worktrees, EngineError> {
        let known = self.known().worktrees.get(path).cloned();
        // One that was moved or deleted since is looked for again, and the error says what is wrong.
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

    /// Every repository work has started in, and the branch it last started from.
    pub fn in_use(&self) -> Vec<(Worktrees, BranchName)> {
        let known = self.known();
        let of = |(path, branch): (&PathBuf, &BranchName)| {
            Some((known.worktrees.get(path)?.clone(), branch.clone()))
        };
        known.branches.iter().filter_map(of).collect()
    }

    pub fn is_gathered(&self, stand: &Stand) -> bool {
        self.known().gathered.contains(stand)
    }

    pub fn note_gathered(&self, stand: Stand) {
        let mut known = self.known();
        if known.gathered.len() >= GATHERED_MAX {
            known.gathered.clear();
        }
        known.gathered.insert(stand);
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
