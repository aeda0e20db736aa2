//! What went wrong, for the person: the message, what to do next, and the exit code scripts go by.

use baton_engine::base::error::{EngineError, ErrorKind};
use baton_engine::git::GitError;
use baton_engine::user_tasks::UserTaskError;
use baton_server::client::ClientError;
use baton_server::error::{ApiError, Code};

#[derive(Debug)]
pub struct Fault {
    pub message: String,
    pub hint: String,
    pub code: u8,
}

/// The exit codes people may rely on.
pub const FAILED: u8 = 1;
pub const USAGE: u8 = 2;
pub const UNREACHABLE: u8 = 3;
pub const REFUSED: u8 = 4;
/// A question waits, and nobody is there to answer it.
pub const UNANSWERED: u8 = 10;

impl Fault {
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into(), code: USAGE }
    }
}

impl From<EngineError> for Fault {
    fn from(error: EngineError) -> Self {
        if let Some(error) = error.get::<UserTaskError>() {
            return Self::from(error.clone());
        }
        let code = match error.kind() {
            // Git's own failures are failed work, whatever caused them.
            _ if error.is::<GitError>() => FAILED,
            ErrorKind::NotFound | ErrorKind::InvalidInput | ErrorKind::InvalidSettings => USAGE,
            ErrorKind::Conflict | ErrorKind::InvalidStatus | ErrorKind::AlreadyAnswered => REFUSED,
            ErrorKind::Unavailable | ErrorKind::Storage => UNREACHABLE,
            ErrorKind::Internal => FAILED,
        };
        Self { message: error.to_string(), hint: with_more(&error.hint(), error.explained().code), code }
    }
}

/// The hint, and where to read on: the last line of an error names its code.
pub fn with_more(hint: &str, code: &str) -> String {
    format!("{hint}\nMore: baton explain {code}")
}

impl From<ClientError> for Fault {
    fn from(error: ClientError) -> Self {
        let hint = match &error {
            ClientError::Refused(refusal) => return refusal.into(),
            ClientError::Unreachable(_) | ClientError::Broken(_) => {
                "see whether it was done, then try again; start the server again: baton up"
            }
            ClientError::Silent(_) => "see what baton up says; end it and start it again if it hangs",
            ClientError::Garbled(_) => {
                "the server may be another version of Baton: end it and start it again with baton up"
            }
        };
        Self { message: error.to_string(), hint: with_more(hint, error.explained().code), code: UNREACHABLE }
    }
}

impl From<&ApiError> for Fault {
    fn from(refusal: &ApiError) -> Self {
        let code = match refusal.error {
            Code::InvalidInput | Code::NotFound | Code::TooLarge => USAGE,
            Code::Conflict | Code::InvalidStatus | Code::AlreadyAnswered => REFUSED,
            Code::Unauthorized | Code::Forbidden | Code::TooManyRequests | Code::Unavailable => UNREACHABLE,
            Code::MethodNotAllowed | Code::Internal => FAILED,
        };
        let hint = match &refusal.reason {
            Some(reason) => with_more(&refusal.hint, reason),
            None => refusal.hint.clone(),
        };
        Self { message: refusal.message.clone(), hint, code }
    }
}
