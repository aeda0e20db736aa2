//! What is kept, how old and how large it is, and the removal of working folders that are not needed any more.
//!
//! Only working folders are removed, and kept first (I17). Vaults and branches stay until a person drops them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use baton_core::base::git_name::CommitId;
use baton_core::base::id::AttemptId;

use crate::git::clone::private_clone::CloneState;
use crate::git::clone::worktrees::{Worktrees, blocking};
use crate::git::error::GitError;
use crate::git::vault::folder;

/// Scratch and trash older than this were left by a crash.
const STRAY_AGE: Duration = Duration::from_hours(24);
/// Counting stops here; a worktree this large is large, whatever the number.
const COUNTED_BYTES_MAX: u64 = 1 << 40;
const COUNTED_FILES_MAX: u64 = 5_000_000;

/// A worktree of Baton's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedWorktree {
    /// Its owner; of a half-made one, the attempt its folder is named after. None for a stranger's folder.
    pub attempt: Option<AttemptId>,
    pub folder: PathBuf,
    pub branch: Option<String>,
    /// When something last happened in it.
    pub active_at: SystemTime,
    pub bytes: u64,
    pub is_vaulted: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VaultEntry {
    pub attempt: AttemptId,
    pub commit: CommitId,
    pub kept_at: SystemTime,
    /// On disk, of what no branch or tag holds anyway.
    pub bytes: u64,
}

#[derive(Debug, Default)]
pub struct Pruned {
    pub removed: Vec<AttemptId>,
    pub kept: Vec<KeptWorktree>,
}

/// A worktree that was due but had to stay.
#[derive(Debug)]
pub struct KeptWorktree {
    pub attempt: AttemptId,
    pub why: GitError,
}

impl Worktrees {
    /// Every working folder of this repository, the longest idle first.
    pub async fn list(&self) -> Result<Vec<ListedWorktree>, GitError> {
        self.convert_legacy().await?;
        let vaulted: BTreeSet<AttemptId> = self.vault_refs().await?.into_iter().map(|(id, ..)| id).collect();
        let entries = fs::read_dir(self.home()).into_iter().flatten().flatten().map(|entry| entry.path());
        let known = self.clones().into_iter().map(|found| found.folder);
        let folders: BTreeSet<PathBuf> =
            entries.chain(known).filter(|folder| !self.is_of_another(folder)).collect();
        let mut standings = Vec::new();
        for folder in folders {
            let found = self.clone_in(&folder);
            let path = folder.clone();
            let (active_at, bytes) = blocking("measure", &folder, move || {
                let bytes = folder::size(&path, COUNTED_BYTES_MAX, COUNTED_FILES_MAX).0;
                Ok((active_at(&path), bytes))
            })
            .await?;
            let branch = match found.state(&self.repository.objects()) {
                CloneState::Sound(refs) => refs.current_branch().map(ToOwned::to_owned),
                CloneState::Gone | CloneState::Replaced | CloneState::Broken(_) => None,
            };
            let named = || folder.file_name()?.to_str()?.parse().ok();
            let attempt = found.record.owner().or_else(named);
            let is_vaulted = attempt.is_some_and(|attempt| vaulted.contains(&attempt));
            standings.push(ListedWorktree { attempt, folder, branch, active_at, bytes, is_vaulted });
        }
        standings.sort_by_key(|standing| standing.active_at);
        Ok(standings)
    }

    fn is_of_another(&self, folder: &Path) -> bool {
        let record = self.clone_in(folder).record;
        record.exists() && !record.is_of(self.repository.git_dir())
    }

    /// Every vault, the oldest first.
    pub async fn vaults(&self) -> Result<Vec<VaultEntry>, GitError> {
        let mut entries = Vec::new();
        for (attempt, commit, kept_at) in self.vault_refs().await? {
            let tried = "measure a vault";
            let call = self.repository.call(tried).args(["rev-list", "--objects", "--disk-usage"]);
            let line = call.args([commit.as_str(), "--not", "--branches", "--tags"]).line().await?;
            let bytes = line.parse().map_err(|_| GitError::Garbled { tried, answer: line })?;
            entries.push(VaultEntry { attempt, commit, kept_at, bytes });
        }
        entries.sort_by_key(|entry| entry.kept_at);
        Ok(entries)
    }

    async fn vault_refs(&self) -> Result<Vec<(AttemptId, CommitId, SystemTime)>, GitError> {
        let list = self.repository.call("list the vaults");
        let format = "--format=%(refname:strip=3) %(objectname) %(committerdate:unix)";
        let out = list.args(["for-each-ref", format, "refs/baton/vault"]).run().await?;
        let read = |line: &str| {
            let mut words = line.split(' ');
            // Work set aside has a longer name, and is no attempt's vault.
            let attempt = words.next()?.parse().ok()?;
            let commit = words.next()?.parse().ok()?;
            let seconds = words.next()?.parse().ok()?;
            Some((attempt, commit, SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)))
        };
        Ok(String::from_utf8_lossy(&out).lines().filter_map(read).collect())
    }

    /// Removes the worktrees of finished attempts that have been idle for longer than `idle_max`, each after
    /// it was kept. What a crash left of earlier removals goes too.
    pub async fn prune(
        &self,
        finished: &BTreeSet<AttemptId>,
        idle_max: Duration,
        now: SystemTime,
    ) -> Result<Pruned, GitError> {
        let mut pruned = Pruned::default();
        for standing in self.list().await? {
            let Some(attempt) = standing.attempt.filter(|attempt| finished.contains(attempt)) else {
                continue;
            };
            if now.duration_since(standing.active_at).unwrap_or_default() <= idle_max {
                continue;
            }
            match self.retire(attempt).await {
                Ok(_) => pruned.removed.push(attempt),
                Err(why) => pruned.kept.push(KeptWorktree { attempt, why }),
            }
        }
        for home in [self.trash(), self.tmp()] {
            let path = home.clone();
            blocking("clear", &home, move || clear_strays(&path, now)).await?;
        }
        self.repository.clear_stale_locks();
        Ok(pruned)
    }

    /// The attempts that this repository has a record of.
    pub async fn recorded(&self) -> Result<BTreeSet<AttemptId>, GitError> {
        Ok(self.record_names().await?.iter().filter_map(|name| attempt_of(name)).collect())
    }

    /// Drops the records of finished attempts that have no worktree any more. Others stay: an attempt whose worktree is
    /// being made has none yet, and a resumed attempt counts the commits from where the first one began.
    pub async fn forget(&self, finished: &BTreeSet<AttemptId>) -> Result<(), GitError> {
        let _lock = self.lock().await?;
        let all = self.clones();
        let stands = |attempt: AttemptId| {
            let folder = self.folder_of(attempt);
            all.iter().any(|found| found.record.owner() == Some(attempt) || found.folder == folder)
        };
        let is_over = |name: &&String| {
            attempt_of(name).is_some_and(|attempt| finished.contains(&attempt) && !stands(attempt))
        };
        let names = self.record_names().await?;
        let lines: Vec<String> =
            names.iter().filter(is_over).map(|name| format!("delete {name}\n")).collect();
        self.repository.update_refs("forget the worktree", &lines.concat()).await
    }

    async fn record_names(&self) -> Result<Vec<String>, GitError> {
        let list = self.repository.call("list Baton's records");
        let list =
            list.args(["for-each-ref", "--format=%(refname)", "refs/baton/base", "refs/baton/leftovers"]);
        let out = list.run().await?;
        Ok(String::from_utf8_lossy(&out).lines().map(ToOwned::to_owned).collect())
    }
}

/// The attempt that a record is about.
fn attempt_of(name: &str) -> Option<AttemptId> {
    name.rsplit('/').next()?.parse().ok()
}

/// The latest sign of life: the folder itself, and what git writes on each commit, reset or checkout.
fn active_at(folder: &Path) -> SystemTime {
    let signs = ["", ".git/HEAD", ".git/index", ".git/logs/HEAD"].map(|name| folder.join(name));
    let times = signs.iter().filter_map(|path| fs::symlink_metadata(path).ok()?.modified().ok());
    times.max().unwrap_or(SystemTime::UNIX_EPOCH)
}

fn clear_strays(home: &Path, now: SystemTime) -> std::io::Result<()> {
    for entry in fs::read_dir(home)?.flatten() {
        let changed = entry.metadata().and_then(|found| found.modified()).unwrap_or(now);
        if now.duration_since(changed).unwrap_or_default() > STRAY_AGE {
            folder::delete(&entry.path())?;
        }
    }
    Ok(())
}
