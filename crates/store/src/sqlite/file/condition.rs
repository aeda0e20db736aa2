//! Whether the file is still the one that was opened, and whole. Once it is not, nothing more is written.
//!
//! A program keeps a deleted file open: it would go on acknowledging changes that end with the process. And a damaged
//! file gets worse with each write.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

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
    fault: OnceLock<StoreError>,
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
        Ok(Self { path: path.to_owned(), opened, fault: OnceLock::new() })
    }

    /// Why nothing may be written any more. If the file has just gone, what it held is written beside it from the
    /// connection that still has it open.
    pub(crate) fn check(&self, conn: &Connection) -> Result<(), StoreError> {
        if let Some(fault) = self.fault.get() {
            return Err(fault.clone());
        }
        // Only a clear answer counts: with no file handles left, for example, nothing can be looked up.
        let is_same = match FileIdentity::of(&self.path) {
            Ok(found) => found == self.opened,
            Err(error) => error.kind() != std::io::ErrorKind::NotFound,
        };
        if is_same {
            return Ok(());
        }
        let gone = StoreError::Gone { path: self.path.clone(), rescued: self.rescue(conn) };
        self.note(&gone);
        Err(gone)
    }

    /// Remembers an error after which the file must not be written.
    pub(crate) fn note(&self, fault: &StoreError) {
        if matches!(fault, StoreError::Damaged { .. } | StoreError::Gone { .. })
            && self.fault.set(fault.clone()).is_ok()
        {
            error!(%fault, "the store is closed for writing");
        }
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
