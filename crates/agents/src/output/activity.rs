//! What an agent did, as lines of its log that can be read back: thoughts, its list of things to do, tool calls with their input
//! and output. They are for people; nothing is decided by them.

use serde::{Deserialize, Serialize};

use crate::output::excerpt::excerpt;

/// Longest text of one activity that is kept; its middle is left out.
const TEXT_BYTES_MAX: usize = 8 * 1024;
/// Most entries of a list that are kept.
const ENTRIES_MAX: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "did", rename_all = "snake_case")]
pub enum Activity {
    Thought {
        text: String,
    },
    /// The whole list; it replaces the one before.
    Todo {
        items: Vec<TodoItem>,
    },
    Tool {
        id: String,
        title: String,
        kind: String,
    },
    /// What the tool was called with.
    Input {
        id: String,
        text: String,
    },
    /// What it returned.
    Output {
        id: String,
        text: String,
    },
    /// A file that the tool changed, if the agent says so.
    Change {
        id: String,
        path: String,
        old: String,
        new: String,
    },
    ToolEnd {
        id: String,
        ok: bool,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TodoItem {
    pub text: String,
    pub state: TodoState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoState {
    Pending,
    InProgress,
    Completed,
}

impl TodoState {
    /// As agents write it; anything unknown is pending.
    pub fn read(text: &str) -> Self {
        match text {
            "completed" | "done" => Self::Completed,
            "in_progress" => Self::InProgress,
            _ => Self::Pending,
        }
    }
}

impl Activity {
    /// In bounded space.
    pub(crate) fn shortened(self) -> Self {
        let short = |text: String| excerpt(text.trim_end(), TEXT_BYTES_MAX);
        match self {
            Self::Thought { text } => Self::Thought { text: short(text) },
            Self::Todo { items } => {
                let items = items.into_iter().take(ENTRIES_MAX);
                Self::Todo { items: items.map(|item| TodoItem { text: short(item.text), ..item }).collect() }
            }
            Self::Input { id, text } => Self::Input { id, text: short(text) },
            Self::Output { id, text } => Self::Output { id, text: short(text) },
            Self::Change { id, path, old, new } => {
                Self::Change { id, path, old: short(old), new: short(new) }
            }
            other @ (Self::Tool { .. } | Self::ToolEnd { .. }) => other,
        }
    }
}
