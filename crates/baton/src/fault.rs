//! What went wrong, for the person: the message, what to do next, and the exit code scripts go by.

use baton_engine::error::EngineError;

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
            | EngineError::Cursor(_) => USAGE,
            EngineError::Refused(_)
            | EngineError::Run(_)
            | EngineError::RunOpen { .. }
            | EngineError::NoRun { .. }
            | EngineError::Approval(_)
            | EngineError::Dependency(_)
            | EngineError::Graph(_)
            | EngineError::NotWaiting { .. }
            | EngineError::QueueFull(_)
            | EngineError::Loop(_)
            | EngineError::Ask(_)
            | EngineError::Answer(_)
            | EngineError::Work(_)
            | EngineError::AlreadyAnswered { .. }
            | EngineError::OtherProject { .. }
            | EngineError::KeyReused => REFUSED,
            EngineError::Restless { .. }
            | EngineError::Runner { .. }
            | EngineError::NoAgent { .. }
            | EngineError::SetUp { .. }
            | EngineError::Git(_) => FAILED,
            EngineError::UserTask(error) => return Self::from(error.clone()),
            EngineError::Settings(_) | EngineError::Blank(_) => USAGE,
            EngineError::Folder { .. } | EngineError::Store(_) => UNREACHABLE,
        };
        Self { message: error.to_string(), hint: error.hint(), code }
    }
}
