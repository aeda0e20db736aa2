//! `[asking]`: how questions are answered when no person is there, and how long they wait.

use std::time::Duration;

use baton_core::ask::answer_source::UnattendedPolicy;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AskingSettings {
    /// What happens to a question when no person is there.
    pub unattended: Unattended,
    /// How many seconds a question of an agent waits. Then its default answer is used or, if it has none, the work that
    /// asked it ends. Without it, questions wait forever.
    pub expires_after: Option<u32>,
    /// How many seconds a running agent waits for an answer. Then its attempt ends, and another continues with the
    /// answer later.
    pub patience: u32,
}

/// MCP clients cancel a tool call after a minute.
const PATIENCE_SECONDS: u32 = 45;

impl Default for AskingSettings {
    fn default() -> Self {
        Self { unattended: Unattended::default(), expires_after: None, patience: PATIENCE_SECONDS }
    }
}

/// `asking.unattended`
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unattended {
    /// it waits for a person
    #[default]
    Human,
    /// its default answer is used, if it has one
    Default,
    /// the work that asked it ends
    Fail,
    /// a person is notified, and it never expires
    Escalate,
}

impl Unattended {
    pub const fn policy(self) -> Option<UnattendedPolicy> {
        match self {
            Self::Human => None,
            Self::Default => Some(UnattendedPolicy::DefaultAnswer),
            Self::Fail => Some(UnattendedPolicy::FailClosed),
            Self::Escalate => Some(UnattendedPolicy::Escalate),
        }
    }
}

impl AskingSettings {
    pub const fn policy(&self) -> Option<UnattendedPolicy> {
        self.unattended.policy()
    }

    pub fn patience(&self) -> Duration {
        Duration::from_secs(self.patience.into())
    }

    pub fn expires_after(&self) -> Option<Duration> {
        self.expires_after.map(|seconds| Duration::from_secs(seconds.into()))
    }
}
