//! Whether the file is still the one that was opened, and whole. Once it is not, nothing more is written.
//!
//! A program keeps a deleted file open: it would go on acknowledging changes that end with the process. And a damaged
//! file gets worse with each write.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;
use tracing::error;

use crate::error::StoreError;
use crate::model::progress::ProgressListener;
use crate::sqlite::fault::io_error;
use crate::sqlite::file::backup::backup;
use crate::sqlite::file::lock::sibling;

/// Shared by the writer and the readers of a store.
pub(crate) struct FileCondition {
    path: PathBuf,
    opened: FileIdentity,
    fault: Mutex<Option<StoreError>>,
}

#[derive(PartialEq, Eq)]
struct FileIdentity {
    device: u64,
    inode: u64,
}

impl FileIdentity {
    fn of(path: &Path) -> std::io::Result<Self> {
        let found = fs::metadata(path)?;
        Ok(Self { device: found.dev(), inode: found.ino() })
    }
}

impl FileCondition {
    pub(crate) fn new(path: &Path) -> Result<Self, StoreError> {
        let opened = FileIdentity::of(path).map_err(|error| io_error(&error, path, "opening the store"))?;
        Ok(Self { path: path.to_owned(), opened, fault: Mutex::new(None) })
    }

    /// Why nothing may be written any more. If the file is gone, what it held is written beside it from the connection
    /// that still has it open. That copy may be deleted too, by the same `rm -r`: then it is written again.
    pub(crate) fn check(&self, conn: &Connection) -> Result<(), StoreError> {
        let mut fault = self.fault();
        let is_saved = |copy: &Option<PathBuf>| copy.as_ref().is_some_and(|copy| copy.exists());
        match &*fault {
            None if self.is_in_place() => return Ok(()),
            Some(StoreError::Gone { rescued, .. }) if !is_saved(rescued) => {}
            Some(known) => return Err(known.clone()),
            None => {}
        }
        let gone = StoreError::Gone { path: self.path.clone(), rescued: self.rescue(conn) };
        error!(fault = %gone, "the store is closed for writing");
        Err(fault.insert(gone).clone())
    }

    /// Only a clear answer counts: with no file handles left, for example, nothing can be looked up.
    fn is_in_place(&self) -> bool {
        match FileIdentity::of(&self.path) {
            Ok(found) => found == self.opened,
            Err(error) => error.kind() != std::io::ErrorKind::NotFound,
        }
    }

    /// Remembers an error after which the file must not be written.
    pub(crate) fn note(&self, found: &StoreError) {
        let mut fault = self.fault();
        if fault.is_none() && matches!(found, StoreError::Damaged { .. } | StoreError::Gone { .. }) {
            error!(fault = %found, "the store is closed for writing");
            *fault = Some(found.clone());
        }
    }

    fn fault(&self) -> MutexGuard<'_, Option<StoreError>> {
        self.fault.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn rescue(&self, conn: &Connection) -> Option<PathBuf> {
        let name = |number: u32| sibling(&self.path, &format!(".rescued-{number}"));
        let to = (1..=u32::MAX).map(name).find(|name| !name.exists())?;
        match backup(conn, &to, &ProgressListener::default()) {
            Ok(()) => {
                // The folder may be a new one that other users can read.
                if let Err(error) = fs::set_permissions(&to, Permissions::from_mode(0o600)) {
                    error!(%error, "other users may be able to read the saved store");
                }
                Some(to)
            }
            Err(fault) => {
                error!(?fault, "the contents of the deleted store could not be saved");
                None
            }
        }
    }
}
