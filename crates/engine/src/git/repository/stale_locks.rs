//! Lock files of refs that a dead git left behind.
//!
//! When everything is killed at once, git cannot remove its `.lock` files, and every later change of that ref fails. A lock
//! is removed if it is older than this process and no git is at work in the repository. Only Baton's own refs and
//! `packed-refs` are considered: any other lock is the person's to judge.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use crate::git::repository::Repository;

/// Folders of refs that only Baton writes.
const OWN_REFS: [&str; 2] = ["refs/heads/baton", "refs/baton"];
const PACKED: &str = "packed-refs.lock";
/// Refs are nested a few levels; a deeper folder is not one of Baton's.
const DEPTH_MAX: usize = 8;
/// Where running processes cannot be listed, a lock this old has no owner.
const AGE_WITHOUT_OWNER: Duration = Duration::from_mins(1);

static STARTED: OnceLock<SystemTime> = OnceLock::new();

/// To be called before this process starts its first git.
pub(crate) fn note_process_start() {
    STARTED.get_or_init(SystemTime::now);
}

impl Repository {
    /// Removes stale locks; returns how many.
    pub(crate) fn clear_stale_locks(&self) -> usize {
        let now = SystemTime::now();
        let started = *STARTED.get_or_init(|| now);
        let found: Vec<PathBuf> = self
            .ref_locks()
            .into_iter()
            .filter(|lock| modified(lock).is_some_and(|at| at < started))
            .collect();
        if found.is_empty() {
            return 0;
        }
        let is_ownerless = |lock: &PathBuf| match is_git_at_work(&self.folders()) {
            Some(at_work) => !at_work,
            None => modified(lock).is_some_and(|at| is_older(at, now)),
        };
        found.iter().filter(|lock| is_ownerless(lock) && fs::remove_file(lock).is_ok()).count()
    }

    fn ref_locks(&self) -> Vec<PathBuf> {
        let mut locks = Vec::new();
        for folder in OWN_REFS {
            collect_locks(&self.git_dir().join(folder), DEPTH_MAX, &mut locks);
        }
        let packed = self.git_dir().join(PACKED);
        locks.extend(packed.exists().then_some(packed));
        locks
    }

    /// Where a git that works on this repository runs.
    fn folders(&self) -> [PathBuf; 2] {
        [self.folder().to_owned(), self.git_dir().to_owned()]
    }
}

fn is_older(at: SystemTime, now: SystemTime) -> bool {
    now.duration_since(at).unwrap_or_default() > AGE_WITHOUT_OWNER
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::symlink_metadata(path).ok()?.modified().ok()
}

fn collect_locks(folder: &Path, depth: usize, locks: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && depth > 0 => collect_locks(&path, depth - 1, locks),
            Ok(kind) if kind.is_file() && path.extension().is_some_and(|end| end == "lock") => {
                locks.push(path);
            }
            _ => {}
        }
    }
}

/// Whether a git runs in one of the folders; `None` where processes cannot be listed.
fn is_git_at_work(folders: &[PathBuf]) -> Option<bool> {
    let processes = fs::read_dir("/proc").ok()?;
    let own = std::process::id().to_string();
    let mut at_work = processes.flatten().filter(|entry| {
        let path = entry.path();
        let is_git = fs::read_to_string(path.join("comm")).is_ok_and(|name| name.starts_with("git"));
        is_git
            && !is_child_of(&path, &own)
            && fs::read_link(path.join("cwd")).is_ok_and(|cwd| is_in(&cwd, folders))
    });
    Some(at_work.next().is_some())
}

/// A git of this process is younger than every lock in question.
fn is_child_of(process: &Path, parent: &str) -> bool {
    let stat = fs::read_to_string(process.join("stat")).unwrap_or_default();
    stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)) == Some(parent)
}

fn is_in(cwd: &Path, folders: &[PathBuf]) -> bool {
    folders.iter().any(|folder| cwd.starts_with(folder))
}
