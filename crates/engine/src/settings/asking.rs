//! `[asking]`: who answers when nobody is there, and how long a question waits.

use std::time::Duration;

use baton_core::ask::answer_source::UnattendedPolicy;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AskingSettings {
    pub unattended: Unattended,
    /// Seconds a question of an agent's waits before its default stands, or the work that asked it ends.
    pub expires_after: Option<u32>,
    /// Seconds an agent that asks is kept waiting for the answer before it is let go; it goes on with the answer later.
    pub patience: Option<u32>,
}

/// Clients give up on a tool after a minute.
const PATIENCE_SECONDS: u32 = 45;

/// What stands in for a human who is away.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unattended {
    /// Nothing does: questions wait.
    #[default]
    Human,
    /// The question's own default, where it has one.
    Default,
    /// The work that asks is ended.
    Fail,
    /// A human is called, and no expiry answers.
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
    pub(super) const KEYS: [&str; 3] = ["unattended", "expires_after", "patience"];

    pub const fn policy(&self) -> Option<UnattendedPolicy> {
        self.unattended.policy()
    }

    pub fn patience(&self) -> Duration {
        Duration::from_secs(self.patience.unwrap_or(PATIENCE_SECONDS).into())
    }

    pub fn expires_after(&self) -> Option<Duration> {
        self.expires_after.map(|seconds| Duration::from_secs(seconds.into()))
    }
}
