//! The error a command ends with: a message, a hint, and the exit code for scripts.

pub(crate) mod commands;

use baton_engine::base::error::{EngineError, ErrorKind};
use baton_engine::git::GitError;
use baton_engine::user_tasks::UserTaskError;
use baton_server::client::ClientError;
use baton_server::http::error::{ApiError, Code};

#[derive(Debug)]
pub(crate) struct CliError {
    pub(crate) message: String,
    pub(crate) hint: String,
    pub(crate) code: u8,
    /// What `baton explain` explains, where it does.
    pub(crate) reason: Option<String>,
}

// The exit codes; documented, so they do not change.
pub(crate) const FAILED: u8 = 1;
pub(crate) const USAGE: u8 = 2;
pub(crate) const UNREACHABLE: u8 = 3;
pub(crate) const REFUSED: u8 = 4;
/// A question is pending, and there is no terminal to answer it.
pub(crate) const UNANSWERED: u8 = 10;

impl CliError {
    pub(crate) fn failed(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into(), code: FAILED, reason: None }
    }

    pub(crate) fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into(), code: USAGE, reason: None }
    }

    pub(crate) fn unreachable(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into(), code: UNREACHABLE, reason: None }
    }

    pub(crate) fn refused(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into(), code: REFUSED, reason: None }
    }

    pub(crate) fn bug(message: impl Into<String>) -> Self {
        Self::failed(message, "this is a bug in Baton; please report it")
    }
}

impl From<EngineError> for CliError {
    fn from(error: EngineError) -> Self {
        if let Some(error) = error.get::<UserTaskError>() {
            return Self::from(error.clone());
        }
        let code = match error.kind() {
            // A failing git is failed work, whatever caused it.
            _ if error.is::<GitError>() => FAILED,
            ErrorKind::NotFound | ErrorKind::InvalidInput | ErrorKind::InvalidSettings => USAGE,
            ErrorKind::Conflict | ErrorKind::InvalidStatus | ErrorKind::AlreadyAnswered => REFUSED,
            ErrorKind::Unavailable | ErrorKind::Storage => UNREACHABLE,
            ErrorKind::Internal => FAILED,
        };
        let (message, reason) = (error.to_string(), error.explained().code);
        let hint = commands::hint(reason, &error.hint(), &message);
        Self { message, hint, code, reason: Some(reason.to_owned()) }
    }
}

impl From<ClientError> for CliError {
    fn from(error: ClientError) -> Self {
        let hint = match &error {
            ClientError::Refused(refusal) => return refusal.into(),
            ClientError::Unreachable(_) | ClientError::Broken(_) => {
                "check whether the command took effect, then try again; start the server: baton up"
            }
            ClientError::Silent(_) => "check the output of baton up; restart it if it hangs",
            ClientError::Garbled(_) => "the server may be a different version of Baton: restart baton up",
        };
        let reason = Some(error.explained().code.to_owned());
        Self { message: error.to_string(), hint: hint.to_owned(), code: UNREACHABLE, reason }
    }
}

impl From<&ApiError> for CliError {
    fn from(refusal: &ApiError) -> Self {
        let code = match refusal.error {
            Code::InvalidInput | Code::NotFound | Code::TooLarge => USAGE,
            Code::Conflict | Code::InvalidStatus | Code::AlreadyAnswered => REFUSED,
            Code::Unauthorized | Code::Forbidden | Code::TooManyRequests | Code::Unavailable => UNREACHABLE,
            Code::MethodNotAllowed | Code::Internal => FAILED,
        };
        let hint = match &refusal.reason {
            Some(reason) => commands::hint(reason, &refusal.hint, &refusal.message),
            None => refusal.hint.clone(),
        };
        Self { message: refusal.message.clone(), hint, code, reason: refusal.reason.clone() }
    }
}
