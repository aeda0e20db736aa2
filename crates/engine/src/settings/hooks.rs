//! `[hooks]`: commands of people that run around the work.

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When a command runs. A `before` that fails stops what it runs before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookName {
    BeforeAttempt,
    AfterAttempt,
    BeforeLanding,
    AfterLanding,
    OnQuestion,
    BeforeRemove,
}

impl HookName {
    pub const ALL: [Self; 6] = [
        Self::BeforeAttempt,
        Self::AfterAttempt,
        Self::BeforeLanding,
        Self::AfterLanding,
        Self::OnQuestion,
        Self::BeforeRemove,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BeforeAttempt => "before_attempt",
            Self::AfterAttempt => "after_attempt",
            Self::BeforeLanding => "before_landing",
            Self::AfterLanding => "after_landing",
            Self::OnQuestion => "on_question",
            Self::BeforeRemove => "before_remove",
        }
    }
}

impl fmt::Display for HookName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// `[hooks]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HookSettings {
    /// A program and its arguments, run in the worktree before its agent starts. If it fails, the agent does not start,
    /// and you are asked. Every hook gets a JSON object about the task on standard input.
    pub before_attempt: Vec<String>,
    /// Run in the worktree after an attempt has ended.
    pub after_attempt: Vec<String>,
    /// Run before accepted work is merged or enters its lane. If it fails, the work is not accepted.
    pub before_landing: Vec<String>,
    /// Run after work was merged.
    pub after_landing: Vec<String>,
    /// Run when a question waits for you.
    pub on_question: Vec<String>,
    /// Run in the worktree before it is removed. If it fails, the worktree stays, and is tried again.
    pub before_remove: Vec<String>,
    /// The longest a hook may take.
    pub seconds: u32,
    /// Whether hooks run in the fence of checks, or with your rights. In the fence, those without a worktree run in an empty
    /// folder; with your rights, in your checkout.
    pub run_as: HookRights,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HookRights {
    /// in the fence of checks
    Fence,
    /// with your rights
    Person,
}

impl Default for HookSettings {
    fn default() -> Self {
        Self {
            before_attempt: Vec::new(),
            after_attempt: Vec::new(),
            before_landing: Vec::new(),
            after_landing: Vec::new(),
            on_question: Vec::new(),
            before_remove: Vec::new(),
            seconds: 60,
            run_as: HookRights::Fence,
        }
    }
}

impl HookSettings {
    /// The command of a hook, if there is one.
    pub fn command(&self, name: HookName) -> Option<&[String]> {
        let command = match name {
            HookName::BeforeAttempt => &self.before_attempt,
            HookName::AfterAttempt => &self.after_attempt,
            HookName::BeforeLanding => &self.before_landing,
            HookName::AfterLanding => &self.after_landing,
            HookName::OnQuestion => &self.on_question,
            HookName::BeforeRemove => &self.before_remove,
        };
        (!command.is_empty()).then_some(command)
    }

    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.seconds.into())
    }
}
