//! Errors inside a job, before they are turned into a [`StoreError`].

use std::io;
use std::path::Path;

use rusqlite::ErrorCode;

use crate::error::StoreError;
use crate::model::commit::Conflict;

/// How long to wait for another process's transaction before reporting the file as busy. Our transactions last
/// milliseconds; one that lasts this long belongs to a process that hangs.
pub(crate) const BUSY_MS_MAX: u64 = 30_000;

#[derive(Debug)]
pub(crate) enum SqliteFault {
    Sqlite(rusqlite::Error),
    Store(StoreError),
    /// Not a failure: the change cannot be written as things are.
    Conflict(Conflict),
}

impl From<rusqlite::Error> for SqliteFault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<StoreError> for SqliteFault {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<Conflict> for SqliteFault {
    fn from(conflict: Conflict) -> Self {
        Self::Conflict(conflict)
    }
}

impl SqliteFault {
    /// The error for the caller. `doing` is the operation, `path` the store's file.
    pub(crate) fn into_error(self, path: &Path, doing: &'static str) -> StoreError {
        match self {
            Self::Store(error) => error,
            Self::Conflict(conflict) => StoreError::Backend { doing, detail: conflict.to_string() },
            Self::Sqlite(error) => sqlite_error(&error, path, doing),
        }
    }
}

pub(crate) fn sqlite_error(error: &rusqlite::Error, path: &Path, doing: &'static str) -> StoreError {
    let (path, detail) = (path.to_owned(), error.to_string());
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt) => StoreError::Damaged { path, detail },
        Some(ErrorCode::NotADatabase) => StoreError::NotAStore { path, detail },
        Some(ErrorCode::DiskFull) => StoreError::DiskFull { path },
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
            StoreError::ReadOnly { path, detail }
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            StoreError::Busy { path, waited_ms: BUSY_MS_MAX }
        }
        // All other SQLite codes keep SQLite's own message.
        _ => StoreError::Backend { doing, detail },
    }
}

pub(crate) fn io_error(error: &io::Error, path: &Path, doing: &'static str) -> StoreError {
    let (path, detail) = (path.to_owned(), error.to_string());
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            StoreError::ReadOnly { path, detail }
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::DiskFull { path },
        // All other I/O errors keep the system's own message.
        _ => StoreError::Backend { doing, detail: format!("{}: {detail}", path.display()) },
    }
}
