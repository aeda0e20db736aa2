//! The JSON object of every error: what failed, why, and what to do next.

mod explained;

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use baton_core::base::redact::redact;
use baton_core::transition::refusal::CommandRefusal;
use baton_engine::base::error::{EngineError, ErrorKind, NotFound};
use baton_engine::store_error::{RecordKind, StoreError};
use baton_engine::tasks::error::TaskError;
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
        if let Some(StoreError::BadRow { kind: RecordKind::Cursor, key, .. }) = error.get() {
            return Self::invalid(
                format!("the cursor of {key} belongs to another list"),
                "use the next_cursor of the previous page, or none",
            );
        }
        let reason = Some(error.explained().code.to_owned());
        Self { reason, ..Self::new(error.kind().into(), redact(&error.to_string()), error.hint()) }
    }
}

/// What handlers raise by themselves.
macro_rules! from_failure {
    ($($type:ty),*) => {
        $(impl From<$type> for ApiError {
            fn from(error: $type) -> Self {
                EngineError::from(error).into()
            }
        })*
    };
}
from_failure!(StoreError, NotFound, CommandRefusal, TaskError);

impl From<ErrorKind> for Code {
    fn from(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::NotFound => Self::NotFound,
            ErrorKind::InvalidInput => Self::InvalidInput,
            ErrorKind::Conflict => Self::Conflict,
            ErrorKind::InvalidStatus => Self::InvalidStatus,
            ErrorKind::AlreadyAnswered => Self::AlreadyAnswered,
            ErrorKind::Unavailable => Self::Unavailable,
            ErrorKind::InvalidSettings | ErrorKind::Storage | ErrorKind::Internal => Self::Internal,
        }
    }
}
