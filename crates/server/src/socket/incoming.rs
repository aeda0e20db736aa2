//! Messages from clients.

use axum::extract::ws::Message;
use baton_core::base::id::{QuestionId, SessionId};
use baton_core::base::text::{AgentName, RecipeId};
use baton_core::people::role::PersonRole;
use baton_core::phase::PhaseStart;
use serde::Deserialize;
use serde_json::Value;

use crate::http::error::ApiError;
use crate::http::idempotency::check_key;

/// A request. The client's id is returned with the response.
pub(super) struct SocketRequest {
    pub id: RequestId,
    pub key: Result<Option<SentKey>, ApiError>,
    /// Also an unusable message has its id.
    pub body: Result<ClientMessage, ApiError>,
}

/// The idempotency key of a message, and what the message says without it and its request id.
pub(super) struct SentKey {
    pub key: String,
    pub body: String,
}

/// The client's own id of a request: a string or a number.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct RequestId(pub Option<Value>);

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ClientMessage {
    Connect {
        token: Option<String>,
    },
    GetAvailableRecipes {},
    StartRecipe {
        session_id: SessionId,
        recipe_id: RecipeId,
        working_directory: String,
        provider: Option<AgentName>,
        /// What is to be done.
        message: Option<String>,
        /// The first phase of the loop.
        from: Option<PhaseStart>,
    },
    ExitRecipe {
        session_id: SessionId,
    },
    Prompt {
        session_id: SessionId,
        content: String,
    },
    Answer {
        question_id: QuestionId,
        answer: String,
    },
    Subscribe {
        session_id: Option<SessionId>,
        #[serde(default)]
        last_seq: u64,
    },
}

impl ClientMessage {
    /// Its `type`.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Connect { .. } => "connect",
            Self::GetAvailableRecipes {} => "get_available_recipes",
            Self::StartRecipe { .. } => "start_recipe",
            Self::ExitRecipe { .. } => "exit_recipe",
            Self::Prompt { .. } => "prompt",
            Self::Answer { .. } => "answer",
            Self::Subscribe { .. } => "subscribe",
        }
    }

    /// The role the request needs.
    pub(super) fn needs(&self) -> PersonRole {
        match self {
            Self::Connect { .. } | Self::GetAvailableRecipes {} | Self::Subscribe { .. } => {
                PersonRole::Viewer
            }
            Self::Prompt { .. } | Self::Answer { .. } => PersonRole::Responder,
            Self::StartRecipe { .. } | Self::ExitRecipe { .. } => PersonRole::Operator,
        }
    }
}

/// Parses a frame; none for control frames.
pub(super) fn read(message: &Message) -> Option<SocketRequest> {
    match message {
        Message::Text(text) => Some(parse(text.as_str())),
        Message::Binary(_) => {
            let error = ApiError::invalid("binary messages are not supported", "send JSON as text");
            Some(SocketRequest { id: RequestId::default(), key: Ok(None), body: Err(error) })
        }
        Message::Ping(_) | Message::Pong(_) | Message::Close(_) => None,
    }
}

fn parse(text: &str) -> SocketRequest {
    let hint = "send {\"type\": …} with one of connect, get_available_recipes, start_recipe, exit_recipe, prompt, \
                answer, subscribe";
    let wrong = |error: serde_json::Error| ApiError::invalid(format!("invalid message: {error}"), hint);
    let value: Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) => {
            return SocketRequest { id: RequestId::default(), key: Ok(None), body: Err(wrong(error)) };
        }
    };
    let id = value.get("request_id").filter(|id| id.is_string() || id.is_number()).cloned();
    let key = sent_key(&value);
    SocketRequest { id: RequestId(id), key, body: serde_json::from_value(value).map_err(wrong) }
}

fn sent_key(message: &Value) -> Result<Option<SentKey>, ApiError> {
    let Some(sent) = message.get("idempotency_key").filter(|sent| !sent.is_null()) else { return Ok(None) };
    let key = check_key(sent.as_str().unwrap_or_default(), "idempotency_key")?;
    let mut rest = message.clone();
    if let Some(fields) = rest.as_object_mut() {
        fields.remove("idempotency_key");
        fields.remove("request_id");
    }
    Ok(Some(SentKey { key, body: rest.to_string() }))
}
