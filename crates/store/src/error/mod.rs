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
    #[error("{path} is not a Baton store: {detail}")]
    NotAStore { path: PathBuf, detail: String },
    #[error("{path} is in use: a Baton has it open")]
    InUse { path: PathBuf },
    /// The database of another program, opened for reading.
    #[error("{path} cannot be read: {detail}")]
    Unreadable { path: PathBuf, detail: String },
    #[error("{place} was written by a newer Baton (schema {found}; this one knows up to {known})")]
    Newer { place: String, found: i64, known: i64 },
    #[error("{path} cannot be written: {detail}")]
    ReadOnly { path: PathBuf, detail: String },
    #[error("no space is left for {path}")]
    DiskFull { path: PathBuf },
    #[error("{path} is busy: another program has held it for {waited_ms} ms")]
    Busy { path: PathBuf, waited_ms: u64 },
    #[error("PostgreSQL cannot be reached: {detail}")]
    Unreachable { detail: String },
    /// The connection broke during COMMIT. The change may or may not have been written; the versions of its rows
    /// tell.
    #[error("the connection broke before the answer came: {detail}")]
    CommitUnknown { detail: String },
    /// A stored row cannot be decoded.
    #[error("a stored {kind} does not read back ({key}): {detail}")]
    BadRow { kind: RecordKind, key: String, detail: String },
    #[error("the store is closed")]
    Closed,
    #[error("{doing}: {detail}")]
    Backend { doing: &'static str, detail: String },
}

impl StoreError {
    /// The same error about `file`, for a check that ran on a temporary copy of it.
    pub(crate) fn about(self, file: &std::path::Path) -> Self {
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
            Self::NotAStore { .. } => {
                "choose another folder with --state-dir, or another name with --namespace".to_owned()
            }
            Self::InUse { .. } => {
                "end it first (Ctrl-C where baton up runs), or choose another --namespace".to_owned()
            }
            Self::Unreadable { path, .. } => {
                format!("check that {} is the file you mean and that you may read it", path.display())
            }
            Self::Newer { .. } => {
                "run the newer Baton, or restore a backup made before the upgrade".to_owned()
            }
            Self::ReadOnly { path, .. } => {
                format!("make {} and its folder writable, or choose another with --state-dir", path.display())
            }
            Self::DiskFull { .. } => {
                "free some space and try again; nothing that was acknowledged is lost".to_owned()
            }
            Self::Busy { .. } => "find who holds it (for example: fuser -v FILE) and try again".to_owned(),
            Self::Unreachable { .. } => {
                "check the address given with --store and that the server runs".to_owned()
            }
            Self::CommitUnknown { .. } => "read the rows again before repeating the change".to_owned(),
            Self::BadRow { .. } => {
                "the row was damaged or written by hand; restore it from a backup".to_owned()
            }
            Self::Closed => "open the store again".to_owned(),
            Self::Backend { .. } => "this is unexpected; the log has the details".to_owned(),
        }
    }
}
