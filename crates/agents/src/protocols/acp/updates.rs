//! What an agent tells while it works, brought into our words. What we do not know is left out, not guessed.

use serde_json::Value;

use crate::output::excerpt::excerpt;
use crate::protocols::acp::messages::{self, Cost, ToolStatus, Update, Usage};
use crate::report::stop_reason::StopReason;
use crate::report::tool_call::{ToolCall, ToolEnd, ToolKind};
use crate::report::usage::UsageKind;
use crate::run::conversation::Conversation;

/// A title is a line in a list.
const TITLE_BYTES_MAX: usize = 500;

pub fn take(update: Update, talk: &mut Conversation) {
    match update {
        Update::AgentMessageChunk { content } => talk.text(content.text.as_deref().unwrap_or_default()),
        Update::ToolCall(call) => {
            talk.tool_announced(&call_of(&call));
            end(&call, talk);
        }
        // Some agents never announce a call and only update it.
        Update::ToolChange(call) => {
            talk.tool(&call_of(&call));
            end(&call, talk);
        }
        Update::Usage { cost: Some(spent) } => cost(&spent, talk),
        Update::Usage { cost: None } | Update::Other => {}
    }
}

fn end(call: &messages::ToolCall, talk: &mut Conversation) {
    match call.status {
        Some(ToolStatus::Completed) => talk.tool_ended(&call.id, ToolEnd::Done),
        Some(ToolStatus::Failed) => talk.tool_ended(&call.id, ToolEnd::Failed),
        Some(ToolStatus::Open) | None => {}
    }
}

pub fn call_of(call: &messages::ToolCall) -> ToolCall {
    ToolCall {
        id: call.id.clone(),
        title: title(call.title.as_deref().unwrap_or("a tool without a name")),
        kind: call.kind.map_or(ToolKind::Other, kind),
    }
}

fn title(text: &str) -> String {
    excerpt(text.trim(), TITLE_BYTES_MAX)
}

fn kind(kind: messages::ToolKind) -> ToolKind {
    match kind {
        messages::ToolKind::Read => ToolKind::Read,
        messages::ToolKind::Edit => ToolKind::Edit,
        messages::ToolKind::Delete => ToolKind::Delete,
        messages::ToolKind::Move => ToolKind::Move,
        messages::ToolKind::Search => ToolKind::Search,
        messages::ToolKind::Execute => ToolKind::Execute,
        messages::ToolKind::Think => ToolKind::Think,
        messages::ToolKind::Fetch => ToolKind::Fetch,
        messages::ToolKind::Other => ToolKind::Other,
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
fn cost(spent: &Cost, talk: &mut Conversation) {
    if !spent.currency.eq_ignore_ascii_case("usd") {
        return;
    }
    if let Some(micro_usd) = crate::report::micro_usd(spent.amount).ok().filter(|&cost| cost > 0) {
        talk.cost(UsageKind::PerSession, micro_usd);
    }
}

pub fn tokens(usage: &Usage, talk: &mut Conversation) {
    // What was read from a cache was read by the model too.
    let cached = usage.cached_read_tokens.unwrap_or(0).saturating_add(usage.cached_write_tokens.unwrap_or(0));
    let kind = talk.preset().tokens_are;
    talk.tokens(kind, usage.input.saturating_add(cached), usage.output);
}

pub fn stop_reason(reason: &Value) -> StopReason {
    match reason.as_str() {
        Some("end_turn") => StopReason::EndTurn,
        Some("max_tokens") => StopReason::MaxTokens,
        Some("max_turn_requests") => StopReason::MaxTurns,
        Some("refusal") => StopReason::Refusal,
        Some("cancelled") => StopReason::Cancelled,
        Some(other) => StopReason::Other(other.to_owned()),
        None => StopReason::Other("no reason given".to_owned()),
    }
}
