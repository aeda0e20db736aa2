//! What a tool answers: plain text, and whether it is bad news.
//!
//! A mistake in a call is an answer too. A model that reads what was wrong can do better; a protocol error it
//! mostly never sees.

use baton_engine::error::EngineError;
use serde::{Deserialize, Serialize};

/// The longest answer a model is given. What is cut out is in the middle, and the cut says so.
const ANSWER_CHARS_MAX: usize = 30_000;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolAnswer {
    pub text: String,
    pub is_error: bool,
}

impl ToolAnswer {
    pub fn ok(text: impl Into<String>) -> Self {
        Self { text: truncate_middle(text.into()), is_error: false }
    }

    pub fn error(text: impl Into<String>) -> Self {
        Self { text: truncate_middle(text.into()), is_error: true }
    }

    /// A document, readable by a model as it is.
    pub fn json(value: &impl Serialize) -> Self {
        match serde_json::to_string_pretty(value) {
            Ok(text) => Self::ok(text),
            Err(error) => Self::error(format!("the answer does not read as JSON: {error}")),
        }
    }

    pub fn of(result: Result<Self, EngineError>) -> Self {
        result.unwrap_or_else(|error| Self::error(format!("{error}\n{}", error.hint())))
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
    format!("{head}\n… {} characters are left out here …\n{tail}", length - 2 * half)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_answer_keeps_its_head_and_its_tail() {
        let text = format!("first {} last", "x".repeat(100_000));
        let ToolAnswer { text, .. } = ToolAnswer::ok(text);
        assert!(text.starts_with("first ") && text.ends_with(" last"));
        assert!(text.contains("characters are left out here"));
        assert!(text.chars().count() < ANSWER_CHARS_MAX + 100);
    }
}
