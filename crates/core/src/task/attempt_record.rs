//! An attempt as stored in the history: who ran, from when, and how it ended.

use serde::{Deserialize, Serialize};

use crate::base::id::TaskId;
use crate::base::time::Timestamp;
use crate::task::attempt::{Attempt, AttemptEnd};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptRecord {
    pub task_id: TaskId,
    pub attempt: Attempt,
    /// `None` while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closing: Option<AttemptClosing>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "closing", rename_all = "snake_case")]
pub enum AttemptClosing {
    Ended {
        at: Timestamp,
        end: Box<AttemptEnd>,
    },
    /// Its lease expired: the process is gone, or the machine is unreachable.
    Lost {
        at: Timestamp,
    },
    /// The task was cancelled while it ran.
    Stopped {
        at: Timestamp,
    },
}
