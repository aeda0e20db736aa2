//! Codex by its own stream (`codex exec --json`).
//!
//! It has no limit of turns and asks for no permission: what it may do is its sandbox, which is opened for the
//! worktree and the git folders behind it. It cannot be asked to stop, so it is ended.

use serde_json::{Value, json};

use crate::asking::asker::Reply;
use crate::asking::pending::AskId;
use crate::driver::Launch;
use crate::driver::tool_server::{TOKEN, ToolServer};
use crate::protocols::native::{read, text_of, too_long};
use crate::report::stop_reason::StopReason;
use crate::report::tool_call::{ToolCall, ToolEnd, ToolKind};
use crate::report::usage::UsageKind;
use crate::run::conversation::Conversation;
use crate::run::protocol::Tongue;

/// A question to the human may take as long as it takes; the server decides when to give up.
const TOOL_TIMEOUT_S: u32 = 24 * 60 * 60;

pub fn tongue(launch: &Launch) -> Box<dyn Tongue> {
    let resumed = launch.session.resume.as_ref().map(|resume| resume.agent_session.clone());
    Box::new(CodexTongue { prompt: launch.prompt.clone(), resumed, error: None })
}

/// Everything that makes it a stream, behind whatever the settings say. The prompt comes on standard input.
pub fn arguments(launch: &Launch) -> Vec<String> {
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
    words.push("--json".to_owned());
    if let Some(resume) = &session.resume {
        words.extend(["resume".to_owned(), resume.agent_session.clone()]);
    }
    words.push("-".to_owned());
    words
}

/// Without `required` the first turn begins before the tools are there.
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
            // By name, so that the values stay in the environment: a command line is everyone's.
            let ours = tools.shim_environment(&launch.environment, "").into_iter();
            let names: Vec<String> = ours.map(|(name, _)| name).collect();
            settings.push(("env_vars".to_owned(), json!(names)));
        }
        (None, None) => return Vec::new(),
    }
    settings
}

struct CodexTongue {
    prompt: String,
    /// The session it is to go on with.
    resumed: Option<String>,
    /// The last thing it complained of; a failed turn may say less.
    error: Option<String>,
}

impl CodexTongue {
    /// It begins a new thread when it does not know the one it was told to go on with, and says nothing of it.
    fn thread(&self, id: &str, talk: &mut Conversation) {
        match &self.resumed {
            Some(resumed) if resumed != id => talk.failed(format!("there is no session {resumed}")),
            Some(_) | None => talk.session(id),
        }
    }

    fn item(kind: &str, item: &Value, talk: &mut Conversation) {
        let id = text_of(item, "id");
        match text_of(item, "type") {
            "agent_message" if kind == "item.completed" => {
                talk.text(text_of(item, "text"));
                talk.end_of_text();
            }
            "error" => talk.hearing.note(&format!("the agent says: {}", text_of(item, "message"))),
            "agent_message" | "reasoning" | "todo_list" => {}
            other => {
                talk.tool(&ToolCall { id: id.to_owned(), title: title(other, item), kind: tool_kind(other) });
                if kind == "item.completed" {
                    talk.tool_ended(id, if has_failed(item) { ToolEnd::Failed } else { ToolEnd::Done });
                }
            }
        }
    }

    fn failed(&mut self, line: &Value, talk: &mut Conversation) {
        let said = line["error"]["message"].as_str().map(str::to_owned);
        let said = said.or_else(|| self.error.take()).unwrap_or_else(|| "the turn failed".to_owned());
        talk.failed(said);
    }
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

impl Tongue for CodexTongue {
    fn begin(&mut self, talk: &mut Conversation) {
        talk.send(&std::mem::take(&mut self.prompt));
        talk.end_of_words();
    }

    fn line(&mut self, line: &str, talk: &mut Conversation) {
        let Some(line) = read(line, talk) else { return };
        match text_of(&line, "type") {
            "thread.started" => self.thread(text_of(&line, "thread_id"), talk),
            "turn.started" => talk.prompted(),
            kind @ ("item.started" | "item.updated" | "item.completed") => {
                Self::item(kind, &line["item"], talk);
            }
            "error" => {
                let said = text_of(&line, "message").to_owned();
                talk.hearing.note(&format!("the agent says: {said}"));
                self.error = Some(said);
            }
            "turn.completed" => {
                let count = |key: &str| line["usage"][key].as_u64().unwrap_or(0);
                // Cached input is part of the input here.
                talk.tokens(UsageKind::PerSession, count("input_tokens"), count("output_tokens"));
                talk.stopped(StopReason::EndTurn);
            }
            "turn.failed" => self.failed(&line, talk),
            _ => {}
        }
    }

    fn too_long(&mut self, beginning: &str, talk: &mut Conversation) {
        too_long(beginning, talk);
    }

    /// It never asks.
    fn answered(&mut self, _: AskId, _: Reply, _: &mut Conversation) {}

    fn cancel(&mut self, talk: &mut Conversation) {
        talk.over();
    }
}
