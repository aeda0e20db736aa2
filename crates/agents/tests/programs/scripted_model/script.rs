//! What the model says next, in no agent's words: which tool is the shell is found in what the agent offers.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Map, Value, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Script {
    steps: Vec<Step>,
    /// How often each step with a limit was taken.
    #[serde(skip)]
    taken: Vec<u32>,
}

#[derive(Deserialize, Clone)]
#[serde(rename_all = "snake_case")]
enum Step {
    Text(String),
    /// A command for the agent's shell.
    Shell(String),
    /// A tool whose name ends so, and its arguments.
    Mcp {
        tool: String,
        arguments: Value,
    },
    /// An answer of HTTP: for ever, so many times, or until a file is there; after that the next step is taken in its
    /// place.
    Status {
        status: u16,
        #[serde(default)]
        headers: Vec<(String, String)>,
        /// What it says of the error, beside its kind.
        #[serde(default)]
        message: String,
        #[serde(default)]
        times: Option<u32>,
        #[serde(default)]
        until: Option<PathBuf>,
    },
    Hang,
}

/// A tool the agent offers.
pub(crate) struct Tool {
    pub name: String,
    /// The name space it is offered in, where it is in one; it is called by both.
    pub space: Option<String>,
    pub schema: Value,
}

#[derive(Debug)]
pub(crate) enum Reply {
    Said(Said),
    Status { status: u16, headers: Vec<(String, String)>, message: String },
    Hang,
}

#[derive(Debug)]
pub(crate) enum Said {
    Text(String),
    Call { id: String, name: String, space: Option<String>, arguments: Value },
}

/// What agents call their shell.
const SHELLS: [&str; 7] = [
    "bash",
    "shell",
    "developer__shell",
    "run_shell_command",
    "exec_command",
    "shell_command",
    "execute_command",
];

impl Script {
    pub(crate) fn parse(text: &str) -> Self {
        let mut script: Self = serde_json::from_str(text).unwrap();
        script.taken = vec![0; script.steps.len()];
        script
    }

    pub(crate) fn reply(&mut self, turns: usize, tools: &[Tool]) -> Reply {
        if tools.is_empty() {
            // A title, a summary: agents ask for those beside the conversation.
            return Reply::Said(Said::Text("A scripted title".to_owned()));
        }
        // Steps that were used up made no turn, so those behind them move up.
        let mut number = 0;
        let mut left = turns;
        while number < self.steps.len() {
            match &self.steps[number] {
                Step::Status { times: Some(times), .. } if self.taken[number] >= *times => number += 1,
                Step::Status { until: Some(file), .. } if file.exists() => number += 1,
                _ if left == 0 => break,
                Step::Status { times: Some(_), .. } | Step::Status { until: Some(_), .. } => number += 1,
                _ => {
                    left -= 1;
                    number += 1;
                }
            }
        }
        let Some(step) = self.steps.get(number) else {
            return Reply::Said(Said::Text("Nothing is left to do.".to_owned()));
        };
        self.taken[number] += 1;
        match step {
            Step::Text(text) => Reply::Said(Said::Text(text.clone())),
            Step::Shell(command) => Reply::Said(shell(command, tools, turns)),
            Step::Mcp { tool, arguments } => Reply::Said(mcp(tool, arguments, tools, turns)),
            Step::Status { status, headers, message, .. } => {
                Reply::Status { status: *status, headers: headers.clone(), message: message.clone() }
            }
            Step::Hang => Reply::Hang,
        }
    }
}

fn shell(command: &str, tools: &[Tool], turns: usize) -> Said {
    let found = SHELLS.iter().find_map(|name| tools.iter().find(|tool| tool.name.eq_ignore_ascii_case(name)));
    let Some(tool) = found else { return Said::Text(format!("There is no shell to run {command}")) };
    let properties = &tool.schema["properties"];
    let mut arguments = Map::new();
    if properties["cmd"].is_object() {
        arguments.insert("cmd".to_owned(), json!(command));
    } else if properties["command"]["type"] == "array" {
        arguments.insert("command".to_owned(), json!(["bash", "-lc", command]));
    } else {
        arguments.insert("command".to_owned(), json!(command));
    }
    // Some insist on a description.
    for required in tool.schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !arguments.contains_key(required) && properties[required]["type"] == "string" {
            arguments.insert(required.to_owned(), json!("scripted"));
        }
    }
    call(tool, Value::Object(arguments), turns)
}

fn mcp(name: &str, arguments: &Value, tools: &[Tool], turns: usize) -> Said {
    match tools.iter().find(|tool| tool.name.ends_with(name)) {
        Some(tool) => call(tool, arguments.clone(), turns),
        None => Said::Text(format!("There is no tool {name}")),
    }
}

fn call(tool: &Tool, arguments: Value, turns: usize) -> Said {
    let Tool { name, space, .. } = tool;
    Said::Call { id: format!("call_{turns}"), name: name.clone(), space: space.clone(), arguments }
}
