//! `[user_tasks]` in the settings.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UserTaskSettings {
    /// Seconds a run may take that an agent or a program asked for. People at a terminal end theirs themselves.
    pub timeout: u64,
    pub trust: Trust,
}

impl UserTaskSettings {
    pub const KEYS: [&str; 2] = ["timeout", "trust"];
}

/// Five minutes: longer than most test suites, shorter than a model's patience.
const TIMEOUT_SECONDS: u64 = 300;

impl Default for UserTaskSettings {
    fn default() -> Self {
        Self { timeout: TIMEOUT_SECONDS, trust: Trust::default() }
    }
}

/// Whether the Taskfile runs as it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// The repository is the human's own; what is in it may run.
    #[default]
    Always,
    /// Nothing runs until a person said yes to the file as it is: `baton tasks --trust`, again after every change.
    Prompt,
}
