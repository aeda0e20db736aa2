//! Who did it. Every change records the person, policy or agent that caused it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::base::id::AttemptId;
use crate::base::text::NonBlank;

/// The author of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Actor {
    /// A person, by name.
    Human { name: String },
    /// A rule a person set in advance, by its name in the settings.
    Policy { name: String },
    /// The agent of one attempt, through one of its tools.
    Agent { attempt: AttemptId },
    /// Baton itself: lease expiry, the recycler, a timer.
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

    /// The attempt whose agent it is.
    pub const fn attempt(&self) -> Option<AttemptId> {
        match self {
            Self::Agent { attempt } => Some(*attempt),
            Self::Human { .. } | Self::Policy { .. } | Self::Baton => None,
        }
    }

    /// The person's name, if the actor is a person and the name can be displayed and stored.
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
