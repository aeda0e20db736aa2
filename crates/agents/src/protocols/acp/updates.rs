//! Translates session updates. Unknown content is ignored, not guessed.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::output::activity::{Activity, TodoItem, TodoState};
use crate::output::excerpt::excerpt;
use crate::protocols::acp::messages::{
    self, AcpCost, AcpPlanEntry, AcpToolContent, AcpUsage, SessionUpdate, ToolStatus,
};
use crate::report::stop_reason::StopReason;
use crate::report::tool_call::{ToolCall, ToolKind, ToolOutcome};
use crate::report::usage::UsageKind;
use crate::run::conversation::Conversation;

const TITLE_BYTES_MAX: usize = 500;

pub(super) fn take(update: SessionUpdate, conversation: &mut Conversation) {
    match update {
        SessionUpdate::AgentMessageChunk { content } => {
            conversation.push_text(content.text.as_deref().unwrap_or_default());
        }
        SessionUpdate::AgentThoughtChunk { content } => {
            conversation.push_thought(content.text.as_deref().unwrap_or_default());
        }
        SessionUpdate::Plan { entries } => conversation.show(todo(&entries)),
        SessionUpdate::ToolCall(call) => {
            conversation.announce_tool(&call_of(&call));
            end(&call, conversation);
        }
        // Some agents never announce a call and only update it.
        SessionUpdate::ToolChange(call) => {
            conversation.note_tool(&call_of(&call));
            end(&call, conversation);
        }
        SessionUpdate::Usage { cost: Some(spent) } => cost(&spent, conversation),
        SessionUpdate::Usage { cost: None } | SessionUpdate::Other => {}
    }
}

fn todo(entries: &Value) -> Activity {
    let item = |entry: AcpPlanEntry| TodoItem { text: entry.content, state: TodoState::read(&entry.status) };
    Activity::Todo { items: readable(entries).map(item).collect() }
}

/// The elements that can be read.
fn readable<T: DeserializeOwned>(list: &Value) -> impl Iterator<Item = T> {
    let elements = list.as_array().into_iter().flatten();
    elements.filter_map(|element| serde_json::from_value(element.clone()).ok())
}

/// What the call was given and what it returned, as far as this update says.
fn show(call: &messages::AcpToolCall, conversation: &mut Conversation) {
    let id = &call.id;
    let input = input_text(call.raw_input.as_ref());
    if !input.is_empty() {
        conversation.show(Activity::Input { id: id.clone(), text: input });
    }
    let mut has_text = false;
    for content in readable(&call.content) {
        match content {
            AcpToolContent::Content { content } => {
                let text = content.text.unwrap_or_default();
                if !text.trim().is_empty() {
                    has_text = true;
                    conversation.show(Activity::Output { id: id.clone(), text });
                }
            }
            AcpToolContent::Diff { path, old_text, new_text } => conversation.show(Activity::Change {
                id: id.clone(),
                path,
                old: old_text.unwrap_or_default(),
                new: new_text,
            }),
            AcpToolContent::Other => {}
        }
    }
    if let Some(output) = call.raw_output.as_ref().filter(|output| !has_text && !output.is_null()) {
        let text = output.as_str().map_or_else(|| output.to_string(), str::to_owned);
        conversation.show(Activity::Output { id: id.clone(), text });
    }
}

fn end(call: &messages::AcpToolCall, conversation: &mut Conversation) {
    show(call, conversation);
    match call.status {
        Some(ToolStatus::Completed) => conversation.end_tool(&call.id, ToolOutcome::Done),
        Some(ToolStatus::Failed) => conversation.end_tool(&call.id, ToolOutcome::Failed),
        Some(ToolStatus::Open) | None => {}
    }
}

pub(super) fn call_of(call: &messages::AcpToolCall) -> ToolCall {
    ToolCall {
        id: call.id.clone(),
        title: title(call.title.as_deref().unwrap_or("a tool without a name")),
        kind: call.kind.map_or(ToolKind::Other, kind),
    }
}

fn title(text: &str) -> String {
    excerpt(text.trim(), TITLE_BYTES_MAX)
}

fn kind(kind: messages::AcpToolKind) -> ToolKind {
    match kind {
        messages::AcpToolKind::Read => ToolKind::Read,
        messages::AcpToolKind::Edit => ToolKind::Edit,
        messages::AcpToolKind::Delete => ToolKind::Delete,
        messages::AcpToolKind::Move => ToolKind::Move,
        messages::AcpToolKind::Search => ToolKind::Search,
        messages::AcpToolKind::Execute => ToolKind::Execute,
        messages::AcpToolKind::Think => ToolKind::Think,
        messages::AcpToolKind::Fetch => ToolKind::Fetch,
        messages::AcpToolKind::Other => ToolKind::Other,
    }
}

/// A tool's input for display: the command if there is one, else all of it.
pub(super) fn input_text(input: Option<&Value>) -> String {
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

/// Per the protocol, the cost covers the session so far.
fn cost(spent: &AcpCost, conversation: &mut Conversation) {
    if !spent.currency.eq_ignore_ascii_case("usd") {
        return;
    }
    if let Some(micro_usd) = crate::report::micro_usd(spent.amount).ok().filter(|&cost| cost > 0) {
        conversation.add_cost(UsageKind::PerSession, micro_usd);
    }
}

pub(super) fn tokens(usage: &AcpUsage, conversation: &mut Conversation) {
    // Cached tokens are input too.
    let cached = usage.cached_read_tokens.unwrap_or(0).saturating_add(usage.cached_write_tokens.unwrap_or(0));
    let kind = conversation.preset().token_kind;
    conversation.add_tokens(kind, usage.input.saturating_add(cached), usage.output);
}

pub(super) fn stop_reason(reason: &Value) -> StopReason {
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
