//! What the engine has to do once a change is committed. Core names effects and performs none.
//!
//! Each is written to the outbox with the change that caused it and performed under its own id, so that repeating it
//! after a crash has no further effect.

use serde::{Deserialize, Serialize};

use crate::base::id::{AttemptId, QuestionId, RunId, TaskId};
use crate::base::time::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "effect", rename_all = "snake_case")]
pub enum Effect {
    /// Create or find the worktree, then start the agent in it.
    StartAgent {
        task: TaskId,
        attempt: AttemptId,
    },
    /// End the attempt's whole process tree.
    StopAgent {
        attempt: AttemptId,
    },
    /// End the attempt's process tree as soon as no tool of the agent runs.
    EndTurn {
        attempt: AttemptId,
    },
    /// Hand the messages that wait for the task's agent to the attempt, if it runs.
    DeliverMessages {
        attempt: AttemptId,
    },
    /// Save the worktree under a hidden ref (I17), then remove it.
    RetireWorktree {
        attempt: AttemptId,
    },
    /// Notify the human through the configured channels.
    Notify {
        about: Notification,
    },
    ScheduleTimer {
        timer: Timer,
        at: Timestamp,
    },
    CancelTimer {
        timer: Timer,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Notification {
    Question(QuestionId),
    Failed(TaskId),
    RunExited(RunId),
}

/// A timer is identified by its purpose; one that fires late finds nothing and is dropped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Timer {
    QuestionExpires(QuestionId),
    IntakeResumes(crate::base::text::AgentName),
    /// The time has come that a person chose for a task to start.
    TaskStarts(TaskId),
    /// A task waits until the earlier message of its conversation is through; it is looked at until then.
    TaskFollows(TaskId),
}
