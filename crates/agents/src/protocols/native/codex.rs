//! Codex's native stream (`codex exec --json`).
//!
//! It has no turn limit and asks no permission; its sandbox, opened for the working folder and the `.git` in it, limits it. It
//! cannot be asked to stop, so it is ended.

use serde_json::{Value, json};

use crate::asking::asker::AskReply;
use crate::asking::pending::AskId;
use crate::driver::Launch;
use crate::driver::tool_server::{TOKEN, ToolServer};
use crate::output::activity::{Activity, TodoItem, TodoState};
use crate::protocols::native::{read, text_of, too_long};
use crate::report::stop_reason::StopReason;
use crate::report::tool_call::{ToolCall, ToolKind, ToolOutcome};
use crate::report::usage::UsageKind;
use crate::run::conversation::Conversation;
use crate::run::protocol::Protocol;

/// A question to a human may take long; the server decides when to give up.
const TOOL_TIMEOUT_S: u32 = 24 * 60 * 60;

pub(super) fn protocol(launch: &Launch) -> Box<dyn Protocol> {
    let resumed = launch.session.resume.as_ref().map(|resume| resume.agent_session.clone());
    Box::new(CodexProtocol { prompt: launch.prompt.clone(), resumed, error: None })
}

/// Arguments that select the stream, appended to the configured command. The prompt comes on standard input.
pub(super) fn arguments(launch: &Launch) -> Vec<String> {
    let mut words = vec!["exec".to_owned()];
    let mut set = |key: &str, value: &Value| {
        words.push("-c".to_owned());
        words.push(format!("{key}={value}"));
    };
    let session = &launch.session;
    set("approval_policy", &json!("never"));
    if !launch.command.iter().any(|word| word.starts_with("sandbox_mode=") || word.contains("bypass")) {
        set("sandbox_mode", &json!("workspace-write"));
    }
    if !session.git_folders.is_empty() {
        set("sandbox_workspace_write.writable_roots", &json!(session.git_folders));
    }
    if let Some(tools) = &session.tools {
        for (key, value) in server_settings(tools, launch) {
            set(&format!("mcp_servers.{}.{key}", tools.name), &value);
        }
    }
    if let Some(model) = &session.model {
        set("model", &json!(model));
    }
    if let Some(effort) = &session.effort {
        set("model_reasoning_effort", &json!(effort));
    }
    words.push("--json".to_owned());
    if let Some(resume) = &session.resume {
        words.extend(["resume".to_owned(), resume.agent_session.clone()]);
    }
    words.push("-".to_owned());
    words
}

/// Without `required` the first turn begins before the tools are ready.
fn server_settings(tools: &ToolServer, launch: &Launch) -> Vec<(String, Value)> {
    let mut settings = vec![
        ("required".to_owned(), json!(true)),
        ("tool_timeout_sec".to_owned(), json!(TOOL_TIMEOUT_S)),
        ("default_tools_approval_mode".to_owned(), json!("approve")),
    ];
    match (&tools.url, tools.shim()) {
        (Some(url), _) => {
            settings.push(("url".to_owned(), json!(url)));
            settings.push(("bearer_token_env_var".to_owned(), json!(TOKEN)));
        }
        (None, Some((program, arguments))) => {
            settings.push(("command".to_owned(), json!(program)));
            settings.push(("args".to_owned(), json!(arguments)));
            // By name: every user can read a command line.
            let ours = tools.shim_environment(&launch.environment, "").into_iter();
            let names: Vec<String> = ours.map(|(name, _)| name).collect();
            settings.push(("env_vars".to_owned(), json!(names)));
        }
        (None, None) => return Vec::new(),
    }
    settings
}

struct CodexProtocol {
    prompt: String,
    /// The session to resume.
    resumed: Option<String>,
    /// The last error event; a failed turn may say less.
    error: Option<String>,
}

impl CodexProtocol {
    /// When it does not know the session to resume, it silently starts a new one.
    fn thread(&self, id: &str, conversation: &mut Conversation) {
        match &self.resumed {
            Some(resumed) if resumed != id => conversation.fail(format!("there is no session {resumed}")),
            Some(_) | None => conversation.set_session(id),
        }
    }

    fn item(kind: &str, item: &Value, conversation: &mut Conversation) {
        let id = text_of(item, "id");
        match text_of(item, "type") {
            "agent_message" if kind == "item.completed" => {
                conversation.push_text(text_of(item, "text"));
                conversation.end_message();
            }
            "error" => conversation.output.log_note(&format!("the agent says: {}", text_of(item, "message"))),
            "reasoning" if kind == "item.completed" => conversation.push_thought(text_of(item, "text")),
            "todo_list" => {
                let entries = item["items"].as_array().into_iter().flatten();
                let state = |entry: &Value| {
                    if entry["completed"] == true { TodoState::Completed } else { TodoState::Pending }
                };
                let items = entries
                    .map(|entry| TodoItem { text: text_of(entry, "text").to_owned(), state: state(entry) });
                conversation.show(Activity::Todo { items: items.collect() });
            }
            "agent_message" | "reasoning" => {}
            other => {
                conversation.note_tool(&ToolCall {
                    id: id.to_owned(),
                    title: title(other, item),
                    kind: tool_kind(other),
                });
                if kind == "item.completed" {
                    show_result(id, item, conversation);
                    conversation
                        .end_tool(id, if has_failed(item) { ToolOutcome::Failed } else { ToolOutcome::Done });
                }
            }
        }
    }

    fn failed(&mut self, line: &Value, conversation: &mut Conversation) {
        let said = line["error"]["message"].as_str().map(str::to_owned);
        let said = said.or_else(|| self.error.take()).unwrap_or_else(|| "the turn failed".to_owned());
        conversation.fail(said);
    }
}

/// What a tool returned: its output, or the files it changed.
fn show_result(id: &str, item: &Value, conversation: &mut Conversation) {
    let changed = item["changes"].as_array().into_iter().flatten();
    let changed: Vec<String> = changed
        .map(|change| format!("{} {}", text_of(change, "kind"), text_of(change, "path")).trim().to_owned())
        .collect();
    let text = match (text_of(item, "aggregated_output"), changed.is_empty()) {
        ("", true) => return,
        ("", false) => changed.join("\n"),
        (output, _) => output.to_owned(),
    };
    conversation.show(Activity::Output { id: id.to_owned(), text });
}

fn has_failed(item: &Value) -> bool {
    let is_bad_exit = item["exit_code"].as_i64().is_some_and(|code| code != 0);
    is_bad_exit || !item["error"].is_null() || matches!(text_of(item, "status"), "failed" | "declined")
}

fn title(kind: &str, item: &Value) -> String {
    match kind {
        "command_execution" => text_of(item, "command").to_owned(),
        "mcp_tool_call" => format!("{}.{}", text_of(item, "server"), text_of(item, "tool")),
        "web_search" => format!("search: {}", text_of(item, "query")),
        other => other.replace('_', " "),
    }
}

fn tool_kind(kind: &str) -> ToolKind {
    match kind {
        "command_execution" => ToolKind::Execute,
        "file_change" => ToolKind::Edit,
        "web_search" => ToolKind::Fetch,
        _ => ToolKind::Other,
    }
}

impl Protocol for CodexProtocol {
    fn begin(&mut self, conversation: &mut Conversation) {
        conversation.send(&std::mem::take(&mut self.prompt));
        conversation.close_input();
    }

    fn handle_line(&mut self, line: &str, conversation: &mut Conversation) {
        let Some(line) = read(line, conversation) else { return };
        match text_of(&line, "type") {
            "thread.started" => self.thread(text_of(&line, "thread_id"), conversation),
            "turn.started" => conversation.mark_prompted(),
            kind @ ("item.started" | "item.updated" | "item.completed") => {
                Self::item(kind, &line["item"], conversation);
            }
            "error" => {
                let said = text_of(&line, "message").to_owned();
                conversation.output.log_note(&format!("the agent says: {said}"));
                self.error = Some(said);
            }
            "turn.completed" => {
                let count = |key: &str| line["usage"][key].as_u64().unwrap_or(0);
                // Includes cached input.
                conversation.add_tokens(UsageKind::PerSession, count("input_tokens"), count("output_tokens"));
                conversation.end_turn(StopReason::EndTurn);
            }
            "turn.failed" => self.failed(&line, conversation),
            _ => {}
        }
    }

    fn handle_oversized_line(&mut self, beginning: &str, conversation: &mut Conversation) {
        too_long(beginning, conversation);
    }

    /// It never asks.
    fn deliver_answer(&mut self, _: AskId, _: AskReply, _: &mut Conversation) {}

    /// Its input is closed: it gets messages with its next prompt.
    fn steer(&mut self, _: &mut Conversation) {}

    fn cancel(&mut self, conversation: &mut Conversation) {
        conversation.finish();
    }
}
