//! A clone that stands, and what became of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use baton_core::base::id::AttemptId;

use crate::git::clone::files::{self, is_real_dir};
use crate::git::clone::make::alternates_line;
use crate::git::clone::record::CloneRecord;
use crate::git::clone::refs::CloneRefs;
use crate::git::clone::worktrees::Worktrees;

const ALTERNATES_BYTES_MAX: u64 = 64 << 10;
/// Attempts whose clone is remembered; beyond that they are looked for again.
const SEATS_MAX: usize = 100_000;

#[derive(Debug, Clone)]
pub(crate) struct PrivateClone {
    pub folder: PathBuf,
    pub record: CloneRecord,
}

/// What an agent made of its clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CloneState {
    Sound(CloneRefs),
    /// The folder is gone.
    Gone,
    /// There is a link or a file in the folder's place.
    Replaced,
    /// The files may be there, but their repository cannot be used.
    Broken(String),
}

impl PrivateClone {
    pub(crate) fn git_dir(&self) -> PathBuf {
        self.folder.join(".git")
    }

    /// Reads the clone's refs; `objects` is the folder it borrows from.
    pub(crate) fn state(&self, objects: &Path) -> CloneState {
        match fs::symlink_metadata(&self.folder) {
            Err(_) => return CloneState::Gone,
            Ok(found) if !found.is_dir() => return CloneState::Replaced,
            Ok(_) => {}
        }
        let git_dir = self.git_dir();
        if !is_real_dir(&git_dir) || !is_real_dir(&git_dir.join("objects")) {
            return CloneState::Broken("its .git folder is gone".to_owned());
        }
        let alternates = files::read(&git_dir.join("objects/info/alternates"), ALTERNATES_BYTES_MAX);
        if alternates.unwrap_or_default() != alternates_line(objects) {
            return CloneState::Broken("its .git folder was replaced".to_owned());
        }
        CloneRefs::read(&git_dir).map_or_else(CloneState::Broken, CloneState::Sound)
    }
}

/// The folder in which an attempt's clone was last seen. A hint: every look reads the record. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct SeatCache(Arc<Mutex<BTreeMap<AttemptId, PathBuf>>>);

impl SeatCache {
    fn get(&self, attempt: AttemptId) -> Option<PathBuf> {
        self.known().get(&attempt).cloned()
    }

    pub(crate) fn note(&self, attempt: AttemptId, folder: &Path) {
        let mut known = self.known();
        if known.len() >= SEATS_MAX {
            known.clear();
        }
        known.insert(attempt, folder.to_owned());
    }

    pub(crate) fn forget(&self, attempt: AttemptId) {
        self.known().remove(&attempt);
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<AttemptId, PathBuf>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Worktrees {
    /// The clone in a folder of ours, whole or not, existing or not.
    pub(crate) fn clone_in(&self, folder: &Path) -> PrivateClone {
        let name = folder.file_name().unwrap_or_default();
        PrivateClone { folder: folder.to_owned(), record: CloneRecord::new(self.records().join(name)) }
    }

    /// Every clone of this repository that has a record, spares included.
    pub(crate) fn clones(&self) -> Vec<PrivateClone> {
        let entries = fs::read_dir(self.records()).into_iter().flatten().flatten();
        let all = entries.map(|entry| self.clone_in(&self.home().join(entry.file_name())));
        all.filter(|found| found.record.is_of(self.repository.git_dir())).collect()
    }

    /// The clone an attempt owns. It may lie in the folder of an attempt before.
    pub(crate) fn owned_by(&self, attempt: AttemptId) -> Option<PrivateClone> {
        let is_own = |found: &PrivateClone| {
            found.record.owner() == Some(attempt) && found.record.is_of(self.repository.git_dir())
        };
        let likely = self.seats.get(attempt).unwrap_or_else(|| self.folder_of(attempt));
        let likely = Some(self.clone_in(&likely)).filter(is_own);
        let found = likely.or_else(|| self.clones().into_iter().find(is_own))?;
        self.seats.note(attempt, &found.folder);
        Some(found)
    }
}
