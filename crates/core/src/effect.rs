//! What the engine has to do once a change is committed. Core names effects and performs none.
//!
//! Each is written to the outbox with the change that caused it and carried out under its own id, so doing
//! it again after a crash does it once.

use serde::{Deserialize, Serialize};

use crate::id::{AttemptId, QuestionId, RunId, TaskId};
use crate::time::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "effect", rename_all = "snake_case")]
pub enum Effect {
    /// Make or find the worktree, then start the agent in it.
    StartAgent {
        task: TaskId,
        attempt: AttemptId,
    },
    /// End the attempt's whole process tree.
    StopAgent {
        attempt: AttemptId,
    },
    /// Keep everything in the worktree under a hidden ref (I17), then remove it.
    RetireWorktree {
        attempt: AttemptId,
    },
    /// Tell the human, by whatever means they set.
    Notify {
        about: Notice,
    },
    ScheduleTimer {
        timer: Timer,
        at: Timestamp,
    },
    CancelTimer {
        timer: Timer,
    },
}

impl Effect {
    /// As the log names it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::StartAgent { .. } => "start_agent",
            Self::StopAgent { .. } => "stop_agent",
            Self::RetireWorktree { .. } => "retire_worktree",
            Self::Notify { .. } => "notify",
            Self::ScheduleTimer { .. } => "schedule_timer",
            Self::CancelTimer { .. } => "cancel_timer",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Notice {
    Question(QuestionId),
    Failed(TaskId),
    RunExited(RunId),
}

/// A timer is known by what it is for; one that fires late finds nothing of that id and is dropped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Timer {
    QuestionExpires(QuestionId),
    IntakeResumes(crate::text::AgentName),
}
