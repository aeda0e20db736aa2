//! What is kept, how old and how large it is, and the removal of worktrees nobody needs any more.
//!
//! Only worktrees are ever removed, through the same door as everywhere else: kept first (I17). Vaults and
//! branches stay until a human drops them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use baton_core::base::git_name::CommitId;
use baton_core::base::id::AttemptId;

use crate::git::error::GitError;
use crate::git::folder;
use crate::git::room::{Worktrees, blocking};

/// Scratch and trash older than this were left by a crash.
const STRAY_AGE: Duration = Duration::from_hours(24);
/// Counting stops here; a worktree this large is large, whatever the number.
const COUNTED_BYTES_MAX: u64 = 1 << 40;
const COUNTED_FILES_MAX: u64 = 5_000_000;

/// A worktree of Baton's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
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
    pub kept: Vec<Kept>,
}

/// A worktree that was due but had to stay.
#[derive(Debug)]
pub struct Kept {
    pub attempt: AttemptId,
    pub why: GitError,
}

impl Worktrees {
    /// Every worktree of Baton's, the longest idle first.
    pub async fn list(&self) -> Result<Vec<Standing>, GitError> {
        let vaulted: BTreeSet<AttemptId> = self.vault_refs().await?.into_iter().map(|(id, ..)| id).collect();
        let all = self.registrations().await?;
        let mut folders: BTreeSet<PathBuf> =
            all.iter().filter(|found| self.is_ours(found)).map(|found| found.folder.clone()).collect();
        folders.extend(fs::read_dir(self.home()).into_iter().flatten().flatten().map(|entry| entry.path()));
        let mut standings = Vec::new();
        for folder in folders {
            let found = all.iter().find(|found| found.folder == folder);
            let git_dir = found.and_then(|found| found.git_dir.clone());
            let path = folder.clone();
            let (active_at, bytes) = blocking("measure", &folder, move || {
                let bytes = folder::size(&path, COUNTED_BYTES_MAX, COUNTED_FILES_MAX).0;
                Ok((active_at(&path, git_dir.as_deref()), bytes))
            })
            .await?;
            let named = || folder.file_name()?.to_str()?.parse().ok();
            let attempt = found.and_then(|found| found.owner).or_else(named);
            standings.push(Standing {
                attempt,
                folder,
                branch: found.and_then(|found| found.branch.clone()),
                active_at,
                bytes,
                is_vaulted: attempt.is_some_and(|attempt| vaulted.contains(&attempt)),
            });
        }
        standings.sort_by_key(|standing| standing.active_at);
        Ok(standings)
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
                Err(why) => pruned.kept.push(Kept { attempt, why }),
            }
        }
        for home in [self.trash(), self.tmp()] {
            let path = home.clone();
            blocking("clear", &home, move || clear_strays(&path, now)).await?;
        }
        self.forget_gone().await?;
        Ok(pruned)
    }

    /// Drops the records of attempts that have no worktree any more: handed on, or removed by someone else.
    async fn forget_gone(&self) -> Result<(), GitError> {
        // Whoever makes a worktree records its base first; the lock keeps us from coming in between.
        let _lock = self.lock().await?;
        let all = self.registrations().await?;
        let stands = |attempt: AttemptId| {
            all.iter().any(|found| found.owner == Some(attempt) || found.folder == self.folder_of(attempt))
        };
        let list = self.repository.call("list Baton's records");
        let list =
            list.args(["for-each-ref", "--format=%(refname)", "refs/baton/base", "refs/baton/leftovers"]);
        let out = list.run().await?;
        let out = String::from_utf8_lossy(&out);
        let is_gone = |name: &&str| {
            let attempt = name.rsplit('/').next().and_then(|id| id.parse().ok());
            attempt.is_some_and(|attempt| !stands(attempt))
        };
        let gone: Vec<String> = out.lines().filter(is_gone).map(|name| format!("delete {name}\n")).collect();
        self.repository.update_refs("forget the worktree", &gone.concat()).await
    }
}

/// The latest sign of life: the folder itself, and what git writes on each commit, reset or checkout.
fn active_at(folder: &Path, git_dir: Option<&Path>) -> SystemTime {
    let signs = git_dir.into_iter().flat_map(|dir| ["HEAD", "index", "logs/HEAD"].map(|name| dir.join(name)));
    let times = signs.chain([folder.to_owned()]).filter_map(|path| fs::metadata(path).ok()?.modified().ok());
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
