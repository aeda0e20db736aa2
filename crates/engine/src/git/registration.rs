//! What git has on record about a repository's worktrees: the human's, and Baton's.
//!
//! A worktree of Baton's is locked, so that neither `git worktree prune` nor git's own housekeeping drops
//! it, and the lock's reason names the attempt it belongs to. The reason is written last: a worktree without
//! one was never finished.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use baton_core::base::git_name::CommitId;
use baton_core::base::id::AttemptId;

use crate::git::error::GitError;
use crate::git::room::Worktrees;

const REASON: &str = "Baton keeps this worktree for ";
/// Of one that nobody owns yet.
const REASON_SPARE: &str = "Baton keeps this worktree ready";
/// Of one whose files are still being written.
const REASON_UNFINISHED: &str = "Baton makes this worktree";

#[derive(Debug, Clone, Default)]
pub(crate) struct Registration {
    pub folder: PathBuf,
    /// Where git keeps this worktree's HEAD and index; the first one, the repository's own, has none.
    pub git_dir: Option<PathBuf>,
    pub branch: Option<String>,
    pub is_bare: bool,
    pub owner: Option<AttemptId>,
    pub is_locked: bool,
}

impl Registration {
    /// Whether an agent can work in it: made to the end, and not turned into a repository of its own.
    pub fn is_sound(&self) -> bool {
        let is_there = self.folder.is_dir() && !self.folder.join(".git").is_dir();
        is_there && self.owner.is_some() && self.git_dir.is_some()
    }
}

/// Attempts whose worktree is remembered; beyond that they are looked for again.
const SEATS_MAX: usize = 100_000;

/// Where the worktree of an attempt was last seen: git's folder of it. Only a hint, since every look reads the record
/// itself; without it all records are read. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seats(Arc<Mutex<BTreeMap<AttemptId, PathBuf>>>);

impl Seats {
    fn get(&self, attempt: AttemptId) -> Option<PathBuf> {
        self.known().get(&attempt).cloned()
    }

    pub fn note(&self, attempt: AttemptId, git_dir: &Path) {
        let mut known = self.known();
        if known.len() >= SEATS_MAX {
            known.clear();
        }
        known.insert(attempt, git_dir.to_owned());
    }

    pub fn forget(&self, attempt: AttemptId) {
        self.known().remove(&attempt);
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<AttemptId, PathBuf>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Looks at the list before what is wrong with it counts as lasting.
const LIST_TRIES_MAX: u32 = 10;
const LIST_PAUSE: Duration = Duration::from_millis(50);

impl Worktrees {
    pub(crate) async fn registrations(&self) -> Result<Vec<Registration>, GitError> {
        let out = self.list_patiently().await?;
        let git_dirs = git_dirs(&self.repository.git_dir().join("worktrees"));
        let mut all: Vec<Registration> = Vec::new();
        for field in out.split(|byte| *byte == 0) {
            if let Some(folder) = field.strip_prefix(b"worktree ") {
                let folder = PathBuf::from(OsStr::from_bytes(folder));
                let git_dir = git_dirs.get(&folder).cloned();
                all.push(Registration { folder, git_dir, ..Registration::default() });
            } else if let Some(last) = all.last_mut() {
                read_field(last, &String::from_utf8_lossy(field));
            }
        }
        for found in &all {
            if let Some((owner, git_dir)) = found.owner.zip(found.git_dir.as_ref()) {
                self.seats.note(owner, git_dir);
            }
        }
        Ok(all)
    }

    /// The worktree an attempt owns, found without a look at all the others: where it was seen last, or in the attempt's
    /// own folder. None says that it was not found there, not that there is none.
    pub(crate) fn seat_of(&self, attempt: AttemptId) -> Option<Registration> {
        let known = self.seats.get(attempt).or_else(|| self.linked(&self.folder_of(attempt)))?;
        let found = Self::record(&known)?;
        (found.owner == Some(attempt)).then_some(found)
    }

    /// The worktree an attempt owns.
    pub(crate) async fn owned_by(&self, attempt: AttemptId) -> Result<Option<Registration>, GitError> {
        if let Some(found) = self.seat_of(attempt) {
            return Ok(Some(found));
        }
        Ok(self.registrations().await?.into_iter().find(|found| found.owner == Some(attempt)))
    }

    /// Git's folder of the worktree in a folder of ours, by the folder's own word; whoever uses it looks at the record.
    pub(crate) fn linked(&self, folder: &Path) -> Option<PathBuf> {
        let text = fs::read(folder.join(".git")).ok()?;
        let text = text.strip_prefix(b"gitdir: ")?;
        let git_dir = PathBuf::from(OsStr::from_bytes(text.strip_suffix(b"\n").unwrap_or(text)));
        (self.repository.has_linked(&git_dir) && git_dir.is_dir()).then_some(git_dir)
    }

    /// One record, read from its files; none where they are not as expected and git has to be asked.
    pub(crate) fn record(git_dir: &Path) -> Option<Registration> {
        let folder = folder_of(git_dir)?;
        let mut found = Registration { folder, git_dir: Some(git_dir.to_owned()), ..Registration::default() };
        let head = fs::read_to_string(git_dir.join("HEAD")).ok()?;
        let head = head.trim_end();
        if let Some(branch) = head.strip_prefix("ref: refs/heads/") {
            // Git's sign that it keeps refs elsewhere.
            if branch == ".invalid" {
                return None;
            }
            found.branch = Some(branch.to_owned());
        } else if head.parse::<CommitId>().is_err() {
            return None;
        }
        if let Ok(reason) = fs::read_to_string(git_dir.join("locked")) {
            read_field(&mut found, &format!("locked {reason}"));
        }
        Some(found)
    }

    /// A Baton that was killed may have left a git at work that writes a registration just now; git cannot list
    /// the worktrees while one is half written. It is done in a moment.
    async fn list_patiently(&self) -> Result<Vec<u8>, GitError> {
        let mut tries = 1;
        loop {
            let list = self.repository.call("list the worktrees");
            match list.args(["worktree", "list", "--porcelain", "-z"]).run().await {
                Err(GitError::Failed { .. }) if tries < LIST_TRIES_MAX => {
                    tries += 1;
                    tokio::time::sleep(LIST_PAUSE).await;
                }
                answer => return answer,
            }
        }
    }

    /// Git's folder for a worktree, by the worktree's own.
    pub(crate) fn git_dir_of(&self, folder: &Path) -> Option<PathBuf> {
        git_dirs(&self.repository.git_dir().join("worktrees")).remove(folder)
    }

    pub(crate) fn is_ours(&self, registration: &Registration) -> bool {
        registration.folder.parent() == Some(&self.home())
    }
}

fn read_field(registration: &mut Registration, field: &str) {
    if let Some(branch) = field.strip_prefix("branch refs/heads/") {
        registration.branch = Some(branch.to_owned());
    } else if field == "bare" {
        registration.is_bare = true;
    } else if let Some(reason) = field.strip_prefix("locked") {
        registration.is_locked = true;
        registration.owner = reason.trim().strip_prefix(REASON).and_then(|id| id.parse().ok());
    }
}

/// Makes the attempt the worktree's owner, in one step. This is the file `git worktree lock` writes; git has
/// no command to change a reason without a moment in which the worktree is unlocked.
pub(crate) fn set_owner(git_dir: &Path, attempt: AttemptId) -> io::Result<()> {
    lock(git_dir, &format!("{REASON}{attempt}"))
}

/// Calls a worktree whole that has no owner yet.
pub(crate) fn lock_as_spare(git_dir: &Path) -> io::Result<()> {
    lock(git_dir, REASON_SPARE)
}

/// Whether this is the record of a spare that was made to the end and lies in the folder.
pub(crate) fn is_whole_spare(git_dir: &Path, folder: &Path) -> bool {
    let reason = fs::read_to_string(git_dir.join("locked"));
    reason.is_ok_and(|reason| reason.trim() == REASON_SPARE) && folder_of(git_dir).as_deref() == Some(folder)
}

/// Says that a worktree is being made. Not yet its owner's word that it is whole.
pub(crate) fn lock_as_unfinished(git_dir: &Path) -> io::Result<()> {
    lock(git_dir, REASON_UNFINISHED)
}

fn lock(git_dir: &Path, reason: &str) -> io::Result<()> {
    let new = git_dir.join("locked.baton");
    fs::write(&new, reason)?;
    fs::rename(new, git_dir.join("locked"))
}

/// Writes the worktree's way to its repository anew, when an agent deleted or changed it.
pub(crate) fn mend_link(folder: &Path, git_dir: &Path) -> io::Result<()> {
    let link = folder.join(".git");
    let text = fs::read(&link).unwrap_or_default();
    let text = text.strip_prefix(b"gitdir: ").unwrap_or_default();
    let target = folder.join(OsStr::from_bytes(text.strip_suffix(b"\n").unwrap_or(text)));
    if fs::canonicalize(target).is_ok_and(|target| fs::canonicalize(git_dir).is_ok_and(|dir| dir == target)) {
        return Ok(());
    }
    fs::write(link, [b"gitdir: ", git_dir.as_os_str().as_bytes(), b"\n"].concat())
}

/// What a killed git leaves in a worktree's own folder. The agent's process tree is gone by the time Baton
/// looks, so nobody holds these.
pub(crate) fn clear_stale_locks(git_dir: &Path) {
    for name in ["index.lock", "HEAD.lock"] {
        // Nearly always there is none.
        let _ = fs::remove_file(git_dir.join(name));
    }
}

/// Git's folder for each linked worktree, by the worktree's folder.
fn git_dirs(worktrees: &Path) -> BTreeMap<PathBuf, PathBuf> {
    // Before the first linked worktree the folder is not there.
    let entries = fs::read_dir(worktrees).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some((folder_of(&entry.path())?, entry.path()))).collect()
}

/// Git writes there the path of the worktree's `.git` file, absolute or, by the user's choice, relative.
fn folder_of(git_dir: &Path) -> Option<PathBuf> {
    let text = fs::read(git_dir.join("gitdir")).ok()?;
    let text = text.strip_suffix(b"\n").unwrap_or(&text);
    let folder = git_dir.join(OsStr::from_bytes(text)).parent()?.to_owned();
    // The folder itself may be gone; what it lay in has a real path all the same.
    let home = folder.parent().and_then(|home| fs::canonicalize(home).ok());
    Some(home.zip(folder.file_name()).map_or_else(|| folder.clone(), |(home, name)| home.join(name)))
}
