//! An attempt as stored in the history: who ran, from when, and how it ended.

use serde::{Deserialize, Serialize};

use crate::base::id::TaskId;
use crate::base::time::Timestamp;
use crate::task::attempt::{Attempt, AttemptEnd, Evidence};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptRecord {
    pub task_id: TaskId,
    pub attempt: Attempt,
    /// `None` while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closing: Option<AttemptClosing>,
    /// What an attempt used that ended without a report. Where there is one, its evidence says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<AttemptUse>,
}

impl AttemptRecord {
    pub fn new(task_id: TaskId, attempt: Attempt, closing: Option<AttemptClosing>) -> Self {
        Self { task_id, attempt, closing, used: None }
    }

    /// When it ended, and what its agents used; none while it runs, and where nobody was left to count.
    pub fn ended_with(&self) -> Option<(Timestamp, AttemptUse)> {
        match self.closing.as_ref()? {
            AttemptClosing::Ended { at, end } => Some((*at, AttemptUse::from(&end.verified))),
            AttemptClosing::Lost { at } | AttemptClosing::Stopped { at } => self.used.map(|used| (*at, used)),
        }
    }
}

/// What the agents of one attempt used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AttemptUse {
    pub turns: u32,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// Millionths of a dollar.
    pub cost_micro_usd: u64,
    pub duration_ms: u64,
}

impl AttemptUse {
    #[must_use]
    pub fn plus(self, more: Self) -> Self {
        Self {
            turns: self.turns.saturating_add(more.turns),
            input_tokens: self.input_tokens.saturating_add(more.input_tokens),
            output_tokens: self.output_tokens.saturating_add(more.output_tokens),
            cost_micro_usd: self.cost_micro_usd.saturating_add(more.cost_micro_usd),
            duration_ms: self.duration_ms.saturating_add(more.duration_ms),
        }
    }
}

impl From<&Evidence> for AttemptUse {
    fn from(evidence: &Evidence) -> Self {
        Self {
            turns: evidence.turns,
            input_tokens: evidence.input_tokens,
            output_tokens: evidence.output_tokens,
            cost_micro_usd: evidence.cost_micro_usd,
            duration_ms: evidence.duration_ms,
        }
    }
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
