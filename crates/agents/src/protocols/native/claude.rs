//! Claude Code's native stream (`claude -p`, JSON in and out).
//!
//! The stream goes both ways, so Baton decides about permissions and can interrupt a turn. Neither exit code 0 nor
//! `success` is trusted: a run in which every tool call was refused ends with both.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::asking::asker::AskReply;
use crate::asking::pending::AskId;
use crate::asking::permission::{Consent, PermissionRequest};
use crate::driver::Launch;
use crate::driver::tool_server::{TOKEN, ToolServer};
use crate::output::activity::{Activity, TodoItem, TodoState};
use crate::protocols::native::{read, text_of, too_long};
use crate::report::micro_usd;
use crate::report::stop_reason::StopReason;
use crate::report::tool_call::{ToolCall, ToolKind, ToolOutcome};
use crate::report::usage::UsageKind;
use crate::run::conversation::{Conversation, PermissionRuling};
use crate::run::protocol::Protocol;

/// Id of the only kind of request Baton makes.
const INTERRUPT_ID: &str = "baton-interrupt";

pub(super) fn protocol(launch: &Launch) -> Box<dyn Protocol> {
    Box::new(ClaudeProtocol {
        prompt: launch.prompt.clone(),
        pending: BTreeMap::new(),
        is_interrupted: false,
        tokens: CountedTokens::default(),
    })
}

/// Arguments that select the stream, appended to the configured command.
pub(super) fn arguments(launch: &Launch) -> Vec<String> {
    let mut words: Vec<String> =
        ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
            .into_iter()
            .chain(["--permission-prompt-tool", "stdio"])
            .map(str::to_owned)
            .collect();
    let session = &launch.session;
    if let Some(tools) = &session.tools {
        // Beside the servers of the project and of the person's own settings.
        words.extend(["--mcp-config".to_owned(), mcp_config(tools, launch)]);
        // Baton's own tools need no permission.
        words.extend(["--allowedTools".to_owned(), format!("mcp__{}", tools.name)]);
    }
    if let Some(model) = &session.model {
        words.extend(["--model".to_owned(), model.clone()]);
    }
    if let Some(effort) = &session.effort {
        words.extend(["--effort".to_owned(), effort.clone()]);
    }
    if let Some(resume) = &session.resume {
        words.extend(["--resume".to_owned(), resume.agent_session.clone()]);
    }
    words
}

/// Refers to values by variable: every user can read a command line.
fn mcp_config(tools: &ToolServer, launch: &Launch) -> String {
    let server = match (&tools.url, tools.shim()) {
        (Some(url), _) => {
            json!({"type": "http", "url": url, "headers": {"Authorization": format!("Bearer ${{{TOKEN}}}")}})
        }
        (None, Some((program, arguments))) => {
            let names = tools.shim_environment(&launch.environment, "").into_iter().map(|(name, _)| name);
            let variables: BTreeMap<String, String> =
                names.map(|name| (name.clone(), format!("${{{name}}}"))).collect();
            json!({"type": "stdio", "command": program, "args": arguments, "env": variables})
        }
        (None, None) => return json!({"mcpServers": {}}).to_string(),
    };
    json!({"mcpServers": {tools.name.clone(): server}}).to_string()
}

struct ClaudeProtocol {
    prompt: String,
    /// Waiting for a human.
    pending: BTreeMap<AskId, PendingToolUse>,
    /// The turn is being cut short for a message.
    is_interrupted: bool,
    tokens: CountedTokens,
}

/// Tokens that were counted message by message. The result has them all, but only at the end of the run.
#[derive(Default)]
struct CountedTokens {
    input: u64,
    output: u64,
    /// A message comes in several lines, each with what it has used so far.
    message: String,
    of_message: (u64, u64),
}

impl CountedTokens {
    /// What this line of a message adds.
    fn add(&mut self, id: &str, (input, output): (u64, u64)) -> (u64, u64) {
        if self.message != id {
            id.clone_into(&mut self.message);
            self.of_message = (0, 0);
        }
        let new = (input.saturating_sub(self.of_message.0), output.saturating_sub(self.of_message.1));
        self.of_message = (self.of_message.0.max(input), self.of_message.1.max(output));
        self.input = self.input.saturating_add(new.0);
        self.output = self.output.saturating_add(new.1);
        new
    }

    /// What is missing of all that the run has used.
    fn rest(&self, (input, output): (u64, u64)) -> (u64, u64) {
        (input.saturating_sub(self.input), output.saturating_sub(self.output))
    }
}

/// Input with what came from the cache, and output.
fn tokens_of(usage: &Value) -> (u64, u64) {
    let count = |key: &str| usage[key].as_u64().unwrap_or(0);
    let cached = count("cache_read_input_tokens").saturating_add(count("cache_creation_input_tokens"));
    (count("input_tokens").saturating_add(cached), count("output_tokens"))
}

struct PendingToolUse {
    request_id: Value,
    input: Value,
    call_id: String,
    title: String,
}

impl PendingToolUse {
    fn allow(&self) -> String {
        control(&self.request_id, &json!({"behavior": "allow", "updatedInput": self.input}))
    }

    fn deny(&self, message: &str, interrupt: bool) -> String {
        control(&self.request_id, &json!({"behavior": "deny", "message": message, "interrupt": interrupt}))
    }
}

fn control(request_id: &Value, response: &Value) -> String {
    let response = json!({"subtype": "success", "request_id": request_id, "response": response});
    json!({"type": "control_response", "response": response}).to_string()
}

/// One message of the user.
fn user_message(text: &str) -> String {
    let message = json!({"role": "user", "content": [{"type": "text", "text": text}]});
    json!({"type": "user", "message": message}).to_string()
}

fn interrupt() -> String {
    let request = json!({"subtype": "interrupt"});
    json!({"type": "control_request", "request_id": INTERRUPT_ID, "request": request}).to_string()
}

impl ClaudeProtocol {
    fn assistant(&mut self, message: &Value, conversation: &mut Conversation) {
        let (input, output) = self.tokens.add(text_of(message, "id"), tokens_of(&message["usage"]));
        if input > 0 || output > 0 {
            conversation.add_tokens(UsageKind::PerTurn, input, output);
        }
        for block in message["content"].as_array().into_iter().flatten() {
            match text_of(block, "type") {
                "text" => {
                    conversation.push_text(text_of(block, "text"));
                    conversation.end_message();
                }
                "thinking" => conversation.push_thought(text_of(block, "thinking")),
                "tool_use" => {
                    let (id, name) = (text_of(block, "id"), text_of(block, "name"));
                    conversation.announce_tool(&call(id, name, &block["input"]));
                    show_input(id, name, &block["input"], conversation);
                }
                _ => {}
            }
        }
    }

    fn user(message: &Value, conversation: &mut Conversation) {
        for block in message["content"].as_array().into_iter().flatten() {
            if text_of(block, "type") == "tool_result" {
                let end = if block["is_error"] == true { ToolOutcome::Failed } else { ToolOutcome::Done };
                let id = text_of(block, "tool_use_id");
                let text = result_text(&block["content"]);
                if !text.trim().is_empty() {
                    conversation.show(Activity::Output { id: id.to_owned(), text });
                }
                conversation.end_tool(id, end);
            }
        }
    }

    fn control_request(&mut self, line: &Value, conversation: &mut Conversation) {
        let request = &line["request"];
        if request["subtype"] != "can_use_tool" {
            let error = json!({"subtype": "error", "request_id": line["request_id"], "error": "Baton does not support this request"});
            return conversation.send(&json!({"type": "control_response", "response": error}).to_string());
        }
        let call = call(text_of(request, "tool_use_id"), text_of(request, "tool_name"), &request["input"]);
        let pending = PendingToolUse {
            request_id: line["request_id"].clone(),
            input: request["input"].clone(),
            call_id: call.id.clone(),
            title: call.title.clone(),
        };
        let input = command_of(&request["input"]).unwrap_or_else(|| request["input"].to_string());
        match conversation.request_permission(&PermissionRequest { call, input, can_be_remembered: false }) {
            PermissionRuling::Allow => conversation.send(&pending.allow()),
            PermissionRuling::Deny => {
                conversation.send(&pending.deny("This is not allowed here. Continue without it.", false));
            }
            PermissionRuling::Void => conversation.send(&pending.deny("The turn is being ended.", true)),
            PermissionRuling::Asked(ask) => drop(self.pending.insert(ask, pending)),
        }
    }

    fn result(&mut self, line: &Value, conversation: &mut Conversation) {
        let (input, output) = self.tokens.rest(tokens_of(&line["usage"]));
        conversation.add_tokens(UsageKind::PerTurn, input, output);
        // Tokens cover this run, the cost covers the session.
        if let Some(cost) = line["total_cost_usd"].as_f64().and_then(|usd| micro_usd(usd).ok()) {
            conversation.add_cost(UsageKind::PerSession, cost);
        }
        for denial in line["permission_denials"].as_array().into_iter().flatten() {
            let id = text_of(denial, "tool_use_id");
            let call = call(id, text_of(denial, "tool_name"), &denial["tool_input"]);
            conversation.record.refuse_call(id, &call.title);
        }
        if conversation.is_ending() {
            return conversation.end_turn(StopReason::Cancelled);
        }
        let subtype = text_of(line, "subtype");
        // The input stays open, so the conversation goes on with what people said meanwhile.
        let can_go_on =
            std::mem::take(&mut self.is_interrupted) || (subtype == "success" && line["is_error"] != true);
        if can_go_on && let Some(text) = conversation.take_messages() {
            return conversation.send(&user_message(&text));
        }
        match (subtype, line["is_error"] == true) {
            ("error_max_turns", _) => conversation.end_turn(StopReason::MaxTurns),
            // An error of the provider is reported as `success` with `is_error`.
            (_, true) | ("error_during_execution", _) => conversation.fail(error_of(line)),
            ("success", false) => conversation.end_turn(match text_of(line, "stop_reason") {
                "refusal" => StopReason::Refusal,
                "max_tokens" => StopReason::MaxTokens,
                _ => StopReason::EndTurn,
            }),
            (other, false) => conversation.end_turn(StopReason::Other(other.to_owned())),
        }
    }
}

/// What a tool was called with: the change to a file, the list of things to do, or all of it.
fn show_input(id: &str, name: &str, input: &Value, conversation: &mut Conversation) {
    let text = |key: &str| text_of(input, key).to_owned();
    conversation.show(match name {
        "Edit" => Activity::Change {
            id: id.to_owned(),
            path: text("file_path"),
            old: text("old_string"),
            new: text("new_string"),
        },
        "Write" => Activity::Change {
            id: id.to_owned(),
            path: text("file_path"),
            old: String::new(),
            new: text("content"),
        },
        "TodoWrite" => {
            let entries = input["todos"].as_array().into_iter().flatten();
            let item = |entry: &Value| TodoItem {
                text: text_of(entry, "content").to_owned(),
                state: TodoState::read(text_of(entry, "status")),
            };
            Activity::Todo { items: entries.map(item).collect() }
        }
        _ => {
            let text = command_of(input).unwrap_or_else(|| input.to_string());
            Activity::Input { id: id.to_owned(), text }
        }
    });
}

/// The text of a tool's result: a string, or blocks of which some are text.
fn result_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            blocks.iter().map(|block| text_of(block, "text")).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

fn error_of(line: &Value) -> String {
    let errors: Vec<&str> =
        line["errors"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let said = [text_of(line, "result"), &errors.join("\n")].join("\n").trim().to_owned();
    if said.is_empty() { format!("the run ended with {}", text_of(line, "subtype")) } else { said }
}

fn command_of(input: &Value) -> Option<String> {
    input["command"].as_str().or(input["file_path"].as_str()).map(str::to_owned)
}

fn call(id: &str, name: &str, input: &Value) -> ToolCall {
    let title = command_of(input).map_or_else(|| name.to_owned(), |about| format!("{name}: {about}"));
    let kind = match name {
        "Bash" | "BashOutput" | "KillShell" => ToolKind::Execute,
        "Read" | "NotebookRead" => ToolKind::Read,
        "Edit" | "Write" | "MultiEdit" | "NotebookEdit" => ToolKind::Edit,
        "Grep" | "Glob" | "LS" | "ToolSearch" => ToolKind::Search,
        "WebFetch" | "WebSearch" => ToolKind::Fetch,
        "Task" | "TodoWrite" => ToolKind::Think,
        _ => ToolKind::Other,
    };
    ToolCall { id: id.to_owned(), title, kind }
}

impl Protocol for ClaudeProtocol {
    fn begin(&mut self, conversation: &mut Conversation) {
        conversation.send(&user_message(&std::mem::take(&mut self.prompt)));
    }

    fn handle_line(&mut self, line: &str, conversation: &mut Conversation) {
        let Some(line) = read(line, conversation) else { return };
        match (text_of(&line, "type"), text_of(&line, "subtype")) {
            ("system", "init") => {
                conversation.set_session(text_of(&line, "session_id"));
                conversation.mark_prompted();
            }
            ("system", "api_retry") => conversation.output.log_note(&format!("the agent retries: {line}")),
            ("assistant", _) => self.assistant(&line["message"], conversation),
            ("user", _) => Self::user(&line["message"], conversation),
            ("control_request", _) => self.control_request(&line, conversation),
            ("result", _) => self.result(&line, conversation),
            _ => {}
        }
    }

    fn handle_oversized_line(&mut self, beginning: &str, conversation: &mut Conversation) {
        too_long(beginning, conversation);
    }

    fn deliver_answer(&mut self, ask: AskId, reply: AskReply, conversation: &mut Conversation) {
        let AskReply::Answer(text) = reply else { return };
        let Some(pending) = self.pending.remove(&ask) else { return };
        match Consent::read(&text) {
            Consent::Once | Consent::Always => conversation.send(&pending.allow()),
            Consent::Refused(words) => {
                conversation.record.refuse_call(&pending.call_id, &pending.title);
                let words = words.unwrap_or_else(|| "The user refused.".to_owned());
                conversation.send(&pending.deny(&words, false));
            }
        }
    }

    /// The message follows when the turn has ended.
    fn steer(&mut self, conversation: &mut Conversation) {
        if !std::mem::replace(&mut self.is_interrupted, true) {
            conversation.send(&interrupt());
        }
    }

    fn cancel(&mut self, conversation: &mut Conversation) {
        conversation.send(&interrupt());
        for (_, pending) in std::mem::take(&mut self.pending) {
            conversation.send(&pending.deny("The turn is being ended.", true));
        }
    }
}
