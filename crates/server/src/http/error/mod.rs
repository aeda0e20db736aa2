//! The JSON object of every error: what failed, why, and what to do next.

mod explained;

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use baton_core::access_token::TokenRefusal;
use baton_core::approval::ApprovalRefusal;
use baton_core::ask_refusal::AnswerRefusal;
use baton_core::loop_refusal::LoopRefusal;
use baton_core::phase_work::WorkRefusal;
use baton_core::redact::redact;
use baton_core::refusal::Refusal;
use baton_engine::error::EngineError;
use baton_engine::store_error::{Conflict, RecordKind, StoreError};
use baton_engine::user_tasks::UserTaskError;
use baton_engine::worktree::GitError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The codes clients may branch on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ErrorCode")]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Code {
    InvalidInput,
    Unauthorized,
    Forbidden,
    NotFound,
    MethodNotAllowed,
    Conflict,
    InvalidStatus,
    AlreadyAnswered,
    TooLarge,
    TooManyRequests,
    Internal,
    /// The store is busy, full or unreachable, or the request timed out. Retrying may help.
    Unavailable,
}

impl Code {
    pub const fn status(self) -> StatusCode {
        match self {
            Self::InvalidInput => StatusCode::BAD_REQUEST,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::Forbidden => StatusCode::FORBIDDEN,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::Conflict | Self::InvalidStatus | Self::AlreadyAnswered => StatusCode::CONFLICT,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::TooManyRequests => StatusCode::TOO_MANY_REQUESTS,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Error")]
pub struct ApiError {
    pub error: Code,
    pub message: String,
    pub hint: String,
    /// The exact case where the code covers several; see `baton explain`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The files with merge conflicts. Omitted in all other errors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<String>,
}

pub type Result<T, E = ApiError> = std::result::Result<T, E>;

/// The `Retry-After` of 429 and 503 responses, in seconds.
const RETRY_AFTER_SECONDS: &str = "1";

impl ApiError {
    pub fn new(error: Code, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { error, message: message.into(), hint: hint.into(), reason: None, conflicts: Vec::new() }
    }

    pub fn invalid(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(Code::InvalidInput, message, hint)
    }

    pub fn not_found(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(Code::NotFound, message, hint)
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let status = self.error.status();
        if status.is_server_error() {
            tracing::error!(code = ?self.error, message = %redact(&self.message), "request failed");
        }
        let mut response = (status, Json(&self)).into_response();
        let headers = response.headers_mut();
        match self.error {
            Code::TooManyRequests | Code::Unavailable => {
                headers.insert(header::RETRY_AFTER, header::HeaderValue::from_static(RETRY_AFTER_SECONDS));
            }
            Code::Unauthorized => {
                headers.insert(header::WWW_AUTHENTICATE, header::HeaderValue::from_static("Bearer"));
            }
            _ => {}
        }
        response
    }
}

impl From<EngineError> for ApiError {
    fn from(error: EngineError) -> Self {
        // The cursor parsed, so it belongs to another list; the stored rows are fine.
        if let EngineError::Store(StoreError::BadRow { kind: RecordKind::Cursor, key, .. }) = &error {
            return Self::invalid(
                format!("the cursor of {key} belongs to another list"),
                "use the next_cursor of the previous page, or none",
            );
        }
        let reason = Some(error.explained().code.to_owned());
        Self { reason, ..Self::new(code_of(&error), redact(&error.to_string()), error.hint()) }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        EngineError::from(error).into()
    }
}

fn code_of(error: &EngineError) -> Code {
    match error {
        EngineError::NotFound { .. } => Code::NotFound,
        EngineError::Plan(_)
        | EngineError::Ambiguous { .. }
        | EngineError::ProjectPath { .. }
        | EngineError::Namespace { .. }
        | EngineError::GateAnswer(_)
        | EngineError::LoopOfTask { .. }
        | EngineError::Blank(_)
        | EngineError::Work(WorkRefusal::Unreadable(_))
        | EngineError::Token(TokenRefusal::Over(_))
        | EngineError::Cursor(_) => Code::InvalidInput,
        EngineError::Refused(refusal) | EngineError::Approval(ApprovalRefusal::Refused(refusal)) => {
            code_of_refusal(refusal)
        }
        EngineError::Approval(_)
        | EngineError::Restless { .. }
        | EngineError::Overtaken { .. }
        | EngineError::OtherProject { .. }
        | EngineError::ProjectOpen { .. }
        | EngineError::NotArrived { .. }
        | EngineError::TurnTaken { .. }
        | EngineError::ProjectRestless { .. }
        | EngineError::KeyReused => Code::Conflict,
        EngineError::ImportName { .. } | EngineError::Import(_) => Code::InvalidInput,
        EngineError::Dependency(conflict) => match conflict {
            Conflict::UnknownDependency { .. } => Code::InvalidInput,
            Conflict::Moved { .. } | Conflict::Cycle { .. } => Code::Conflict,
        },
        EngineError::RunOpen { .. }
        | EngineError::QueueFull(_)
        | EngineError::Ask(_)
        | EngineError::Token(TokenRefusal::Taken(_) | TokenRefusal::TooMany(_))
        | EngineError::TokenRestless { .. } => Code::Conflict,
        EngineError::Work(WorkRefusal::OutOfTurn(_) | WorkRefusal::NotAsked(_)) => Code::InvalidStatus,
        EngineError::Answer(refusal) | EngineError::Loop(LoopRefusal::Answer(refusal)) => {
            code_of_answer(refusal)
        }
        EngineError::Loop(_) => Code::InvalidStatus,
        EngineError::NotWaiting { .. }
        | EngineError::NoRun { .. }
        | EngineError::NobodyListens { .. }
        | EngineError::Run(_) => Code::InvalidStatus,
        EngineError::AlreadyAnswered { .. } => Code::AlreadyAnswered,
        EngineError::UserTask(error) => code_of_user_task(error),
        EngineError::Git(error) => code_of_git(error),
        EngineError::Store(error) => code_of_store(error),
        EngineError::Folder { .. }
        | EngineError::Graph(_)
        | EngineError::NoAgent { .. }
        | EngineError::Runner { .. }
        | EngineError::SetUp { .. }
        | EngineError::Settings(_) => Code::Internal,
    }
}

pub const fn code_of_user_task(error: &UserTaskError) -> Code {
    match error {
        UserTaskError::NoTaskfile | UserTaskError::Unknown { .. } => Code::NotFound,
        UserTaskError::OpenQuote | UserTaskError::TemplateInArgs => Code::InvalidInput,
        UserTaskError::Unreadable(_) | UserTaskError::Untrusted => Code::Conflict,
        UserTaskError::Folder { .. } | UserTaskError::Lost(_) => Code::Internal,
    }
}

const fn code_of_answer(refusal: &AnswerRefusal) -> Code {
    match refusal {
        AnswerRefusal::AlreadyAnswered { .. } => Code::AlreadyAnswered,
        AnswerRefusal::UnknownQuestion { .. } => Code::NotFound,
        AnswerRefusal::Unreadable { .. } => Code::InvalidInput,
        AnswerRefusal::Withdrawn { .. }
        | AnswerRefusal::HumanOnly { .. }
        | AnswerRefusal::AutomationStopped { .. }
        | AnswerRefusal::IsGate { .. } => Code::Conflict,
    }
}

const fn code_of_refusal(refusal: &Refusal) -> Code {
    match refusal {
        Refusal::UnreadableChoice { .. } | Refusal::NotBreakdown { .. } | Refusal::BadReplacement { .. } => {
            Code::InvalidInput
        }
        Refusal::WrongState { .. }
        | Refusal::NotReleased { .. }
        | Refusal::SplitByHand { .. }
        | Refusal::WaitingOn { .. }
        | Refusal::HasBegun { .. }
        | Refusal::IsPlan { .. } => Code::InvalidStatus,
        Refusal::Stale { .. }
        | Refusal::OtherQuestion { .. }
        | Refusal::HumanOnly { .. }
        | Refusal::AutomationStopped { .. }
        | Refusal::NotPending { .. }
        | Refusal::MayNotAsk { .. }
        | Refusal::TooLarge { .. }
        | Refusal::NeedsHuman { .. }
        | Refusal::NotYours { .. }
        | Refusal::NotTooLarge { .. } => Code::Conflict,
    }
}

/// Separates invalid requests, conflicts with the current state, and internal failures.
const fn code_of_git(error: &GitError) -> Code {
    match error {
        GitError::NotARepository { .. }
        | GitError::NoCommits { .. }
        | GitError::NoBranch { .. }
        | GitError::NoBaseBranch { .. } => Code::InvalidInput,
        GitError::InTheWay { .. }
        | GitError::CheckedOut { .. }
        | GitError::Unrelated { .. }
        | GitError::KeptMoving { .. }
        | GitError::HandedOn { .. }
        | GitError::KeptChanging { .. }
        | GitError::Exists { .. } => Code::Conflict,
        GitError::Busy { .. } | GitError::TimedOut { .. } => Code::Unavailable,
        GitError::Missing { .. }
        | GitError::TooOld { .. }
        | GitError::Failed { .. }
        | GitError::TooLong { .. }
        | GitError::Garbled { .. }
        | GitError::File { .. }
        | GitError::BadCopy { .. }
        | GitError::NoWorktree { .. }
        | GitError::NoVault { .. }
        | GitError::NotKept { .. } => Code::Internal,
    }
}

const fn code_of_store(error: &StoreError) -> Code {
    match error {
        StoreError::Busy { .. }
        | StoreError::InUse { .. }
        | StoreError::DiskFull { .. }
        | StoreError::Unreachable { .. }
        | StoreError::CommitUnknown { .. }
        | StoreError::Closed => Code::Unavailable,
        StoreError::Damaged { .. }
        | StoreError::NotAStore { .. }
        | StoreError::Unreadable { .. }
        | StoreError::Newer { .. }
        | StoreError::ReadOnly { .. }
        | StoreError::BadRow { .. }
        | StoreError::Backend { .. } => Code::Internal,
    }
}
