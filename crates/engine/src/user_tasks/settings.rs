//! `[user_tasks]` in the settings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct UserTaskSettings {
    /// How many seconds a user task may run that an agent or a program started. Those you start have no limit.
    pub timeout: u64,
    /// Whether `.agent/Taskfile.yml` may run.
    pub trust: Trust,
}

/// Five minutes: longer than most test suites, shorter than a model's patience.
const TIMEOUT_SECONDS: u64 = 300;

impl Default for UserTaskSettings {
    fn default() -> Self {
        Self { timeout: TIMEOUT_SECONDS, trust: Trust::default() }
    }
}

/// `user_tasks.trust`
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// without asking
    #[default]
    Always,
    /// only after `baton tasks --trust`, again after every change
    Prompt,
}
