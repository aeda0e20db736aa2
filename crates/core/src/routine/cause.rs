//! What started one run of a routine.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::base::git_name::CommitId;
use crate::base::id::TaskId;
use crate::base::time::Timestamp;

/// Its text form, with the routine's id before it, is the key under which it runs exactly once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "cause", rename_all = "snake_case")]
pub enum Cause {
    /// A moment of the schedule.
    Instant { at: Timestamp },
    /// The branch moved to this commit. A branch may come back to a commit, so they are counted.
    Commit { commit: CommitId, number: u64 },
    /// This task was done.
    Done { task: TaskId },
    /// Somebody called, for the nth time or with a key of their own, and may have said why.
    Call {
        key: String,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        content: String,
    },
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Instant { at } => write!(f, "{at}"),
            Self::Commit { commit, number } => write!(f, "{commit}#{number}"),
            Self::Done { task } => write!(f, "{task}"),
            Self::Call { key, .. } => write!(f, "call-{key}"),
        }
    }
}

impl Cause {
    /// For the task: why it exists.
    pub fn describe(&self) -> String {
        match self {
            Self::Instant { at } => format!("It was due at {at}."),
            Self::Commit { commit, .. } => format!("The branch moved to {commit}."),
            Self::Done { task } => format!("{task} is done."),
            Self::Call { content, .. } if content.is_empty() => "Somebody called.".to_owned(),
            Self::Call { content, .. } => format!("Somebody called, with these words:\n\n{content}"),
        }
    }
}
