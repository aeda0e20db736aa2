//! Classifies PostgreSQL errors: is a retry worthwhile, and may something have been written?

use std::error::Error as StdError;
use std::io;
use std::path::PathBuf;

use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use crate::error::StoreError;

#[derive(Debug)]
pub(crate) enum PostgresFault {
    /// The connection is gone. What was sent may or may not have been executed.
    Broken(String),
    /// The server rolled back because of another transaction; a retry may succeed.
    Retry(String),
    /// A retry would fail the same way.
    Final(StoreError),
}

impl PostgresFault {
    pub(crate) fn classify(doing: &'static str, error: &Error) -> Self {
        let detail = describe(error);
        let Some(state) = error.code() else {
            // Without a code the server sent nothing: the connection broke, or the driver could not use the reply.
            let is_line = error.is_closed() || error.source().is_some_and(<dyn StdError>::is::<io::Error>);
            return if is_line {
                Self::Broken(detail)
            } else {
                Self::Final(StoreError::Backend { doing, detail })
            };
        };
        let is = |states: &[&SqlState]| states.contains(&state);
        if is(&[
            &SqlState::T_R_SERIALIZATION_FAILURE,
            &SqlState::T_R_DEADLOCK_DETECTED,
            &SqlState::LOCK_NOT_AVAILABLE,
            // Two transactions created the same row; the second finds it on a retry.
            &SqlState::UNIQUE_VIOLATION,
        ]) {
            Self::Retry(detail)
        } else if is(&[
            &SqlState::ADMIN_SHUTDOWN,
            &SqlState::CRASH_SHUTDOWN,
            &SqlState::CANNOT_CONNECT_NOW,
            &SqlState::TOO_MANY_CONNECTIONS,
            &SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
        ]) {
            Self::Broken(detail)
        } else if is(&[&SqlState::DISK_FULL]) {
            Self::Final(StoreError::DiskFull { path: PathBuf::from("the PostgreSQL server") })
        } else if is(&[&SqlState::READ_ONLY_SQL_TRANSACTION]) {
            Self::Final(StoreError::ReadOnly { path: PathBuf::from("the PostgreSQL server"), detail })
        } else {
            Self::Final(StoreError::Backend { doing, detail })
        }
    }

    /// The error if nothing was written, or nothing was to be.
    pub(crate) fn into_error(self, doing: &'static str) -> StoreError {
        match self {
            Self::Broken(detail) => StoreError::Unreachable { detail },
            Self::Retry(detail) => StoreError::Backend { doing, detail },
            Self::Final(error) => error,
        }
    }
}

/// The server's message with its code, or the driver's with its cause.
pub(crate) fn describe(error: &Error) -> String {
    match (error.as_db_error(), error.source()) {
        (Some(db), _) => format!("{} ({})", db.message(), db.code().code()),
        (None, Some(source)) => format!("{error}: {source}"),
        (None, None) => error.to_string(),
    }
}
