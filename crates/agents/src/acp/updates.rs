//! What an agent tells while it works, brought into our words. What we do not know is left out, not guessed.

use agent_client_protocol_schema::v1::{
    ContentBlock, SessionUpdate, StopReason as AcpStopReason, ToolCallStatus, ToolCallUpdate, ToolKind as AcpToolKind,
    Usage, UsageUpdate,
};
use serde_json::Value;

use crate::conversation::Conversation;
use crate::excerpt::excerpt;
use crate::stop_reason::StopReason;
use crate::tool_call::{ToolCall, ToolEnd, ToolKind};
use crate::usage::UsageKind;

/// A title is a line in a list.
const TITLE_BYTES_MAX: usize = 500;

pub fn take(update: SessionUpdate, talk: &mut Conversation) {
    match update {
        SessionUpdate::AgentMessageChunk(chunk) => {
            if let ContentBlock::Text(text) = chunk.content {
                talk.text(&text.text);
            }
        }
        SessionUpdate::ToolCall(call) => {
            let id = call.tool_call_id.to_string();
            talk.tool(&ToolCall { id: id.clone(), title: title(&call.title), kind: kind(call.kind) });
            end(&id, call.status, talk);
        }
        SessionUpdate::ToolCallUpdate(update) => {
            talk.tool(&call_of(&update));
            if let Some(status) = update.fields.status {
                end(&update.tool_call_id.to_string(), status, talk);
            }
        }
        SessionUpdate::UsageUpdate(usage) => cost(&usage, talk),
        // Thoughts, plans, modes and lists of commands decide nothing; the user's own words are known.
        _ => {}
    }
}

fn end(id: &str, status: ToolCallStatus, talk: &mut Conversation) {
    match status {
        ToolCallStatus::Completed => talk.tool_ended(id, ToolEnd::Done),
        ToolCallStatus::Failed => talk.tool_ended(id, ToolEnd::Failed),
        _ => {}
    }
}

pub fn call_of(update: &ToolCallUpdate) -> ToolCall {
    let fields = &update.fields;
    ToolCall {
        id: update.tool_call_id.to_string(),
        title: title(fields.title.as_deref().unwrap_or("a tool without a name")),
        kind: fields.kind.map_or(ToolKind::Other, kind),
    }
}

fn title(text: &str) -> String {
    excerpt(text.trim(), TITLE_BYTES_MAX)
}

fn kind(kind: AcpToolKind) -> ToolKind {
    match kind {
        AcpToolKind::Read => ToolKind::Read,
        AcpToolKind::Edit => ToolKind::Edit,
        AcpToolKind::Delete => ToolKind::Delete,
        AcpToolKind::Move => ToolKind::Move,
        AcpToolKind::Search => ToolKind::Search,
        AcpToolKind::Execute => ToolKind::Execute,
        AcpToolKind::Think => ToolKind::Think,
        AcpToolKind::Fetch => ToolKind::Fetch,
        _ => ToolKind::Other,
    }
}

/// What goes into a tool, for a person: the command where there is one, else all of it.
pub fn input_text(input: Option<&Value>) -> String {
    let Some(input) = input else { return String::new() };
    match &input["command"] {
        Value::String(command) => command.clone(),
        Value::Array(words) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "),
        _ => match input {
            Value::Null => String::new(),
            Value::Object(fields) if fields.is_empty() => String::new(),
            other => other.to_string(),
        },
    }
}

/// The protocol says that this cost is the session's so far.
fn cost(usage: &UsageUpdate, talk: &mut Conversation) {
    let Some(cost) = usage.cost.as_ref().filter(|cost| cost.currency.eq_ignore_ascii_case("usd")) else {
        return;
    };
    if let Some(micro_usd) = crate::report::micro_usd(cost.amount).ok().filter(|&cost| cost > 0) {
        talk.cost(UsageKind::PerSession, micro_usd);
    }
}

pub fn tokens(usage: &Usage, talk: &mut Conversation) {
    // What was read from a cache was read by the model too.
    let cached = usage.cached_read_tokens.unwrap_or(0).saturating_add(usage.cached_write_tokens.unwrap_or(0));
    let kind = talk.preset().tokens_are;
    talk.tokens(kind, usage.input_tokens.saturating_add(cached), usage.output_tokens);
}

pub fn stop_reason(reason: AcpStopReason) -> StopReason {
    match reason {
        AcpStopReason::EndTurn => StopReason::EndTurn,
        AcpStopReason::MaxTokens => StopReason::MaxTokens,
        AcpStopReason::MaxTurnRequests => StopReason::MaxTurns,
        AcpStopReason::Refusal => StopReason::Refusal,
        AcpStopReason::Cancelled => StopReason::Cancelled,
        other => StopReason::Other(format!("{other:?}")),
    }
}
