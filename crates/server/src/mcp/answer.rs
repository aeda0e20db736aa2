//! A tool's result: text, and whether it is an error.
//!
//! Invalid calls return error text as a result, so that the model reads it and can correct the call; most clients hide
//! protocol errors from the model.

use baton_engine::user_tasks::Ran;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Longest text returned to a model. Longer texts are cut in the middle.
const ANSWER_CHARS_MAX: usize = 30_000;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolAnswer {
    pub text: String,
    pub is_error: bool,
    /// What a program needs of it: for `run_user_task` its exit code and output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ran: Option<UserTaskResult>,
}

/// How a user task ended that an agent ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UserTaskResult {
    pub task_name: String,
    pub succeeded: bool,
    /// Of the command that failed, else zero.
    pub exit_code: i32,
    /// One trailing newline of each is trimmed.
    pub stdout: String,
    pub stderr: String,
    /// What went wrong, where it was not a command's own exit code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl UserTaskResult {
    pub(super) fn new(ran: &Ran) -> Self {
        Self {
            task_name: ran.task_name.clone(),
            succeeded: ran.succeeded,
            exit_code: ran.exit_code,
            stdout: ran.stdout.clone(),
            stderr: ran.stderr.clone(),
            error: ran.fault().map(str::to_owned),
        }
    }
}

impl ToolAnswer {
    pub fn ok(text: impl Into<String>) -> Self {
        Self { text: truncate_middle(text.into()), is_error: false, ran: None }
    }

    pub fn error(text: impl Into<String>) -> Self {
        Self { text: truncate_middle(text.into()), is_error: true, ran: None }
    }

    /// Pretty-printed JSON.
    pub fn json(value: &impl Serialize) -> Self {
        match serde_json::to_string_pretty(value) {
            Ok(text) => Self::ok(text),
            Err(error) => Self::error(format!("cannot serialize the response: {error}")),
        }
    }
}

fn truncate_middle(text: String) -> String {
    let length = text.chars().count();
    if length <= ANSWER_CHARS_MAX {
        return text;
    }
    let half = ANSWER_CHARS_MAX / 2;
    let head: String = text.chars().take(half).collect();
    let tail: String = text.chars().skip(length - half).collect();
    format!("{head}\n… {} characters omitted …\n{tail}", length - 2 * half)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_answer_keeps_head_and_tail() {
        let text = format!("first {} last", "x".repeat(100_000));
        let ToolAnswer { text, .. } = ToolAnswer::ok(text);
        assert!(text.starts_with("first ") && text.ends_with(" last"));
        assert!(text.contains("characters omitted"));
        assert!(text.chars().count() < ANSWER_CHARS_MAX + 100);
    }
}
