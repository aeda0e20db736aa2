//! Who did it. Every change a person, a policy or an agent brings about records which of them it was.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::base::id::AttemptId;
use crate::base::text::NonBlank;

/// The author of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Actor {
    /// A person, by the name they are known under here.
    Human { name: String },
    /// A rule the human set beforehand, by its name in the settings.
    Policy { name: String },
    /// The agent of one attempt, through a tool it was given.
    Agent { attempt: AttemptId },
    /// Baton itself: the rescuer, the recycler, a timer.
    Baton,
}

impl Actor {
    pub fn human(name: impl Into<String>) -> Self {
        Self::Human { name: name.into() }
    }

    pub fn policy(name: impl Into<String>) -> Self {
        Self::Policy { name: name.into() }
    }

    pub const fn is_human(&self) -> bool {
        matches!(self, Self::Human { .. })
    }

    /// The person it is, where it is one and has a name that can be shown and kept anywhere.
    pub fn person(&self) -> Option<NonBlank> {
        match self {
            Self::Human { name } if name.contains(char::is_control) => None,
            Self::Human { name } => NonBlank::new(name.as_str()).ok(),
            Self::Policy { .. } | Self::Agent { .. } | Self::Baton => None,
        }
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Human { name } => write!(f, "{name}"),
            Self::Policy { name } => write!(f, "policy {name}"),
            Self::Agent { attempt } => write!(f, "the agent of {attempt}"),
            Self::Baton => write!(f, "Baton"),
        }
    }
}
