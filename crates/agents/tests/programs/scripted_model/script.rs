//! The model's next output, independent of the agent: its shell tool is found among the offered tools.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Map, Value, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Script {
    steps: Vec<Step>,
    /// How often each step was used.
    #[serde(skip)]
    taken: Vec<u32>,
}

#[derive(Deserialize, Clone)]
#[serde(rename_all = "snake_case")]
enum Step {
    Text(String),
    /// A command for the agent's shell.
    Shell(String),
    /// A tool whose name ends like this, and its arguments.
    Mcp {
        tool: String,
        arguments: Value,
    },
    /// An HTTP status: always, a number of times, or until a file exists; afterwards the next step is used instead.
    Status {
        status: u16,
        #[serde(default)]
        headers: Vec<(String, String)>,
        /// Added to the error message.
        #[serde(default)]
        message: String,
        #[serde(default)]
        times: Option<u32>,
        #[serde(default)]
        until: Option<PathBuf>,
    },
    /// Fails as its provider would, in the words of the provider whose interface is called.
    Failure(ProviderFailure),
    Hang,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ProviderFailure {
    Login,
    Quota,
    Limit,
    Overload,
    Context,
    /// The connection is closed without an answer.
    Network,
}

/// A tool the agent offers.
pub(crate) struct Tool {
    pub(crate) name: String,
    /// Its namespace, if it has one; calls name both.
    pub(crate) space: Option<String>,
    pub(crate) schema: Value,
}

#[derive(Debug)]
pub(crate) enum Reply {
    Output(ModelOutput),
    Status { status: u16, headers: Vec<(String, String)>, message: String },
    Failure(ProviderFailure),
    Hang,
}

#[derive(Debug)]
pub(crate) enum ModelOutput {
    Text(String),
    Call { id: String, name: String, space: Option<String>, arguments: Value },
}

/// The names of the agents' shell tools.
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
            // Agents also request titles and summaries.
            return Reply::Output(ModelOutput::Text("A scripted title".to_owned()));
        }
        // Used-up steps made no turn, so later steps move up.
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
            return Reply::Output(ModelOutput::Text("Nothing is left to do.".to_owned()));
        };
        self.taken[number] += 1;
        match step {
            Step::Text(text) => Reply::Output(ModelOutput::Text(text.clone())),
            Step::Shell(command) => Reply::Output(shell(command, tools, turns)),
            Step::Mcp { tool, arguments } => Reply::Output(mcp(tool, arguments, tools, turns)),
            Step::Status { status, headers, message, .. } => {
                Reply::Status { status: *status, headers: headers.clone(), message: message.clone() }
            }
            Step::Failure(failure) => Reply::Failure(*failure),
            Step::Hang => Reply::Hang,
        }
    }
}

fn shell(command: &str, tools: &[Tool], turns: usize) -> ModelOutput {
    let found = SHELLS.iter().find_map(|name| tools.iter().find(|tool| tool.name.eq_ignore_ascii_case(name)));
    let Some(tool) = found else { return ModelOutput::Text(format!("There is no shell to run {command}")) };
    let properties = &tool.schema["properties"];
    let mut arguments = Map::new();
    if properties["cmd"].is_object() {
        arguments.insert("cmd".to_owned(), json!(command));
    } else if properties["command"]["type"] == "array" {
        arguments.insert("command".to_owned(), json!(["bash", "-lc", command]));
    } else {
        arguments.insert("command".to_owned(), json!(command));
    }
    // Some require a description.
    for required in tool.schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !arguments.contains_key(required) && properties[required]["type"] == "string" {
            arguments.insert(required.to_owned(), json!("scripted"));
        }
    }
    call(tool, Value::Object(arguments), turns)
}

fn mcp(name: &str, arguments: &Value, tools: &[Tool], turns: usize) -> ModelOutput {
    match tools.iter().find(|tool| tool.name.ends_with(name)) {
        Some(tool) => call(tool, arguments.clone(), turns),
        None => ModelOutput::Text(format!("There is no tool {name}")),
    }
}

fn call(tool: &Tool, arguments: Value, turns: usize) -> ModelOutput {
    let Tool { name, space, .. } = tool;
    ModelOutput::Call { id: format!("call_{turns}"), name: name.clone(), space: space.clone(), arguments }
}
