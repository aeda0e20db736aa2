//! Answers the human gives before they are asked. The session keeps them until a matching question is asked.

use serde::{Deserialize, Serialize};

use crate::base::explanation::Explanation;
use crate::base::id::TaskId;
use crate::base::text::NonBlank;

/// The most answers one session queues. A script that queues more has lost count.
pub const QUEUED_ANSWERS_MAX: usize = 1_000;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueuedAnswer {
    pub text: NonBlank,
    /// Only for questions of this task; if `None`, for any question of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the session already has {QUEUED_ANSWERS_MAX} queued answers; wait until some are used")]
pub struct QueueFull;

impl QueueFull {
    pub const EXPLAINED: Explanation = Explanation {
        code: "queue_full",
        means: "The session has as many queued answers as it may keep.",
        cause: "Answers were queued many times, and no question matched them.",
        next: "See what is asked; queued answers are removed as questions use them.",
    };
}
