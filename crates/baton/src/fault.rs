//! What went wrong, for the person: the message, what to do next, and the exit code scripts go by.

use baton_engine::error::EngineError;
use baton_server::client::ClientError;
use baton_server::http::error::{ApiError, Code};

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
        let code = match &error {
            EngineError::NotFound { .. }
            | EngineError::Plan(_)
            | EngineError::Namespace { .. }
            | EngineError::Ambiguous { .. }
            | EngineError::ProjectPath { .. }
            | EngineError::GateAnswer(_)
            | EngineError::LoopOfTask { .. }
            | EngineError::Cursor(_) => USAGE,
            EngineError::Refused(_)
            | EngineError::Run(_)
            | EngineError::RunOpen { .. }
            | EngineError::NoRun { .. }
            | EngineError::NobodyListens { .. }
            | EngineError::Approval(_)
            | EngineError::Dependency(_)
            | EngineError::Graph(_)
            | EngineError::NotWaiting { .. }
            | EngineError::Overtaken { .. }
            | EngineError::QueueFull(_)
            | EngineError::Token(_)
            | EngineError::TokenRestless { .. }
            | EngineError::Loop(_)
            | EngineError::Ask(_)
            | EngineError::Answer(_)
            | EngineError::Work(_)
            | EngineError::AlreadyAnswered { .. }
            | EngineError::OtherProject { .. }
            | EngineError::ProjectOpen { .. }
            | EngineError::NotArrived { .. }
            | EngineError::TurnTaken { .. }
            | EngineError::KeyReused => REFUSED,
            EngineError::ImportName { .. } | EngineError::Import(_) => USAGE,
            EngineError::Restless { .. }
            | EngineError::ProjectRestless { .. }
            | EngineError::Runner { .. }
            | EngineError::NoAgent { .. }
            | EngineError::SetUp { .. }
            | EngineError::Git(_) => FAILED,
            EngineError::UserTask(error) => return Self::from(error.clone()),
            EngineError::Settings(_) | EngineError::Blank(_) => USAGE,
            EngineError::Folder { .. } | EngineError::Store(_) => UNREACHABLE,
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
