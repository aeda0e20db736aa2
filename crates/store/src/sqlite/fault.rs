//! What can go wrong inside a piece of work on the file, before it is known how to say so.

use std::io;
use std::path::Path;

use rusqlite::ErrorCode;

use crate::error::StoreError;
use crate::model::commit::Conflict;

/// How long a program waits for another one's transaction before it says that the file is busy. Transactions
/// here last milliseconds; one that lasts this long belongs to a program that hangs.
pub(crate) const BUSY_MS_MAX: u64 = 30_000;

#[derive(Debug)]
pub(crate) enum SqliteFault {
    Sqlite(rusqlite::Error),
    Store(StoreError),
    /// Not a failure: the answer of a change that cannot be written as things stand.
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
    /// The error a caller sees. `doing` is what was being done to the file at `path`.
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
        // SQLite's own list of codes; whatever else it says is passed on in its words.
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
        // The operating system's own list.
        _ => StoreError::Backend { doing, detail: format!("{}: {detail}", path.display()) },
    }
}
