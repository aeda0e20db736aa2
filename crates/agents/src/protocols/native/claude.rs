//! Claude Code by its own stream (`claude -p`, JSON in and out).
//!
//! The stream goes both ways, so permissions come to us as they do in the protocol of the adapter, and a turn
//! can be interrupted. Neither the exit code nor the word `success` is believed: a run in which every tool was
//! refused ends with both.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::asking::asker::Reply;
use crate::asking::pending::AskId;
use crate::asking::permission::{Consent, PermissionRequest};
use crate::driver::Launch;
use crate::driver::tool_server::{TOKEN, ToolServer};
use crate::protocols::native::{read, text_of, too_long};
use crate::report::micro_usd;
use crate::report::stop_reason::StopReason;
use crate::report::tool_call::{ToolCall, ToolEnd, ToolKind};
use crate::report::usage::UsageKind;
use crate::run::conversation::{Conversation, Ruling};
use crate::run::protocol::Tongue;

/// How the one request that we make is named.
const INTERRUPT_ID: &str = "baton-interrupt";

pub fn tongue(launch: &Launch) -> Box<dyn Tongue> {
    Box::new(ClaudeTongue { prompt: launch.prompt.clone(), pending: BTreeMap::new() })
}

/// Everything that makes it a stream, behind whatever the settings say.
pub fn arguments(launch: &Launch) -> Vec<String> {
    let mut words: Vec<String> =
        ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
            .into_iter()
            .chain(["--permission-prompt-tool", "stdio"])
            .map(str::to_owned)
            .collect();
    let session = &launch.session;
    if let Some(tools) = &session.tools {
        words.extend([
            "--mcp-config".to_owned(),
            mcp_config(tools, launch),
            "--strict-mcp-config".to_owned(),
        ]);
        // Baton's own tools need nobody's permission.
        words.extend(["--allowedTools".to_owned(), format!("mcp__{}", tools.name)]);
    }
    if let Some(model) = &session.model {
        words.extend(["--model".to_owned(), model.clone()]);
    }
    if let Some(resume) = &session.resume {
        words.extend(["--resume".to_owned(), resume.agent_session.clone()]);
    }
    words
}

/// Values stay in the environment, where only its owner can read them: a command line is everyone's.
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

struct ClaudeTongue {
    prompt: String,
    /// Requests that wait for a human.
    pending: BTreeMap<AskId, Pending>,
}

struct Pending {
    request_id: Value,
    input: Value,
    call_id: String,
    title: String,
}

impl Pending {
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

impl ClaudeTongue {
    fn assistant(message: &Value, talk: &mut Conversation) {
        for block in message["content"].as_array().into_iter().flatten() {
            match text_of(block, "type") {
                "text" => {
                    talk.text(text_of(block, "text"));
                    talk.end_of_text();
                }
                "tool_use" => {
                    talk.tool_announced(&call(text_of(block, "id"), text_of(block, "name"), &block["input"]));
                }
                _ => {}
            }
        }
    }

    fn user(message: &Value, talk: &mut Conversation) {
        for block in message["content"].as_array().into_iter().flatten() {
            if text_of(block, "type") == "tool_result" {
                let end = if block["is_error"] == true { ToolEnd::Failed } else { ToolEnd::Done };
                talk.tool_ended(text_of(block, "tool_use_id"), end);
            }
        }
    }

    fn control_request(&mut self, line: &Value, talk: &mut Conversation) {
        let request = &line["request"];
        if request["subtype"] != "can_use_tool" {
            let error = json!({"subtype": "error", "request_id": line["request_id"], "error": "Baton has no such thing"});
            return talk.send(&json!({"type": "control_response", "response": error}).to_string());
        }
        let call = call(text_of(request, "tool_use_id"), text_of(request, "tool_name"), &request["input"]);
        let pending = Pending {
            request_id: line["request_id"].clone(),
            input: request["input"].clone(),
            call_id: call.id.clone(),
            title: call.title.clone(),
        };
        let input = command_of(&request["input"]).unwrap_or_else(|| request["input"].to_string());
        match talk.permission(&PermissionRequest { call, input, can_be_remembered: false }) {
            Ruling::Allow => talk.send(&pending.allow()),
            Ruling::Deny => talk.send(&pending.deny("This is not allowed here. Go on without it.", false)),
            Ruling::Void => talk.send(&pending.deny("The turn is being ended.", true)),
            Ruling::Asked(ask) => drop(self.pending.insert(ask, pending)),
        }
    }

    fn result(line: &Value, talk: &mut Conversation) {
        let usage = &line["usage"];
        let count = |key: &str| usage[key].as_u64().unwrap_or(0);
        let input =
            count("input_tokens") + count("cache_read_input_tokens") + count("cache_creation_input_tokens");
        talk.tokens(UsageKind::PerTurn, input, count("output_tokens"));
        // The tokens are this run's, the cost is the whole session's.
        if let Some(cost) = line["total_cost_usd"].as_f64().and_then(|usd| micro_usd(usd).ok()) {
            talk.cost(UsageKind::PerSession, cost);
        }
        for denial in line["permission_denials"].as_array().into_iter().flatten() {
            let id = text_of(denial, "tool_use_id");
            let call = call(id, text_of(denial, "tool_name"), &denial["tool_input"]);
            talk.record.refused(id, &call.title);
        }
        if talk.is_ending() {
            return talk.stopped(StopReason::Cancelled);
        }
        let subtype = text_of(line, "subtype");
        match (subtype, line["is_error"] == true) {
            ("error_max_turns", _) => talk.stopped(StopReason::MaxTurns),
            // `success` with an error is how it reports what its provider said.
            (_, true) | ("error_during_execution", _) => talk.failed(error_of(line)),
            ("success", false) => talk.stopped(match text_of(line, "stop_reason") {
                "refusal" => StopReason::Refusal,
                "max_tokens" => StopReason::MaxTokens,
                _ => StopReason::EndTurn,
            }),
            (other, false) => talk.stopped(StopReason::Other(other.to_owned())),
        }
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

impl Tongue for ClaudeTongue {
    fn begin(&mut self, talk: &mut Conversation) {
        let text = std::mem::take(&mut self.prompt);
        let message = json!({"role": "user", "content": [{"type": "text", "text": text}]});
        talk.send(&json!({"type": "user", "message": message}).to_string());
    }

    fn line(&mut self, line: &str, talk: &mut Conversation) {
        let Some(line) = read(line, talk) else { return };
        match (text_of(&line, "type"), text_of(&line, "subtype")) {
            ("system", "init") => {
                talk.session(text_of(&line, "session_id"));
                talk.prompted();
            }
            ("system", "api_retry") => talk.hearing.note(&format!("the agent tries again: {line}")),
            ("assistant", _) => Self::assistant(&line["message"], talk),
            ("user", _) => Self::user(&line["message"], talk),
            ("control_request", _) => self.control_request(&line, talk),
            ("result", _) => Self::result(&line, talk),
            _ => {}
        }
    }

    fn too_long(&mut self, beginning: &str, talk: &mut Conversation) {
        too_long(beginning, talk);
    }

    fn answered(&mut self, ask: AskId, reply: Reply, talk: &mut Conversation) {
        let Reply::Answer(text) = reply else { return };
        let Some(pending) = self.pending.remove(&ask) else { return };
        match Consent::read(&text) {
            Consent::Once | Consent::Always => talk.send(&pending.allow()),
            Consent::Refused(words) => {
                talk.record.refused(&pending.call_id, &pending.title);
                let words = words.unwrap_or_else(|| "The human said no.".to_owned());
                talk.send(&pending.deny(&words, false));
            }
        }
    }

    fn cancel(&mut self, talk: &mut Conversation) {
        let request = json!({"subtype": "interrupt"});
        talk.send(
            &json!({"type": "control_request", "request_id": INTERRUPT_ID, "request": request}).to_string(),
        );
        for (_, pending) in std::mem::take(&mut self.pending) {
            talk.send(&pending.deny("The turn is being ended.", true));
        }
    }
}
