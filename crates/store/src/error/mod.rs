//! Why a store call failed. A conflict is not an error; see [`Commit`](crate::model::commit::Commit).

mod explained;
use std::path::PathBuf;

use crate::model::record_kind::RecordKind;

/// Each variant names the file or server; [`StoreError::hint`] says what to do next. `Clone`, because all changes
/// that shared a failed transaction get the same error.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    #[error("{path} is damaged: {detail}")]
    Damaged { path: PathBuf, detail: String },
    /// The file that was opened is no longer at its path.
    #[error("{path} was deleted or replaced while it was in use")]
    Gone { path: PathBuf, rescued: Option<PathBuf> },
    /// A store was made at this path, and is not there.
    #[error("the store {path} has been deleted")]
    Missing { path: PathBuf, record: PathBuf },
    #[error("{path} is not a Baton store: {detail}")]
    NotAStore { path: PathBuf, detail: String },
    #[error("{path} is in use by another Baton process")]
    InUse { path: PathBuf },
    /// The database of another program, opened for reading.
    #[error("{path} cannot be read: {detail}")]
    Unreadable { path: PathBuf, detail: String },
    #[error("{place} was written by a newer Baton (schema {found}; this one knows up to {known})")]
    Newer { place: String, found: i64, known: i64 },
    #[error("{path} cannot be written: {detail}")]
    ReadOnly { path: PathBuf, detail: String },
    #[error("no space left to write {path}")]
    DiskFull { path: PathBuf },
    #[error("{path} is busy: another program has locked it for {waited_ms} ms")]
    Busy { path: PathBuf, waited_ms: u64 },
    #[error("PostgreSQL cannot be reached: {detail}")]
    Unreachable { detail: String },
    /// The connection broke during COMMIT. The change may or may not have been written; the versions of its rows
    /// tell.
    #[error("the connection broke during a commit: {detail}")]
    CommitUnknown { detail: String },
    /// A stored row cannot be decoded.
    #[error("cannot decode the stored {kind} {key}: {detail}")]
    BadRow { kind: RecordKind, key: String, detail: String },
    #[error("the store is closed")]
    Closed,
    #[error("{doing}: {detail}")]
    Backend { doing: &'static str, detail: String },
}

impl StoreError {
    /// The same error about `file`, for a check that ran on a temporary copy of it.
    pub(crate) fn with_path(self, file: &std::path::Path) -> Self {
        let path = file.to_owned();
        match self {
            Self::Damaged { detail, .. } => Self::Damaged { path, detail },
            Self::NotAStore { detail, .. } => Self::NotAStore { path, detail },
            other => other,
        }
    }

    pub fn hint(&self) -> String {
        match self {
            Self::Damaged { path, .. } => format!(
                "nothing was changed. Keep a copy of {0} and its -wal file, then restore the latest backup, or try: sqlite3 {0} .recover",
                path.display()
            ),
            Self::Gone { rescued: Some(rescued), .. } => format!(
                "nothing more is written. What it held is in {0}: stop Baton, then run: baton restore {0} --replace",
                rescued.display()
            ),
            Self::Gone { rescued: None, .. } => {
                "nothing more is written. Stop Baton, then put the file back or run: baton restore BACKUP --replace"
                    .to_owned()
            }
            Self::Missing { path, record } => format!(
                "restore a backup, or a copy that Baton saved ({}.rescued-1): baton restore FILE. To start with an empty \
                 store instead, first delete {}",
                path.display(),
                record.display()
            ),
            Self::NotAStore { .. } => {
                "choose another directory with --state-dir, or another name with --namespace".to_owned()
            }
            Self::InUse { .. } => {
                "stop it first (Ctrl-C where baton up runs), or choose another --namespace".to_owned()
            }
            Self::Unreadable { path, .. } => {
                format!(
                    "check that {} is the right file and that you have permission to read it",
                    path.display()
                )
            }
            Self::Newer { .. } => {
                "run the newer Baton, or restore a backup made before the upgrade".to_owned()
            }
            Self::ReadOnly { path, .. } => {
                format!(
                    "make {} and its directory writable, or choose another with --state-dir",
                    path.display()
                )
            }
            Self::DiskFull { .. } => {
                "free some space and try again; nothing that was acknowledged is lost".to_owned()
            }
            Self::Busy { .. } => {
                "find the process that holds it (for example: fuser -v FILE) and try again".to_owned()
            }
            Self::Unreachable { .. } => {
                "check the address given with --store and that the server is running".to_owned()
            }
            Self::CommitUnknown { .. } => "read the rows again before repeating the change".to_owned(),
            Self::BadRow { .. } => {
                "the row is corrupt or was edited by hand; restore it from a backup".to_owned()
            }
            Self::Closed => "open the store again".to_owned(),
            Self::Backend { .. } => "this is unexpected; see the log for details".to_owned(),
        }
    }
}
