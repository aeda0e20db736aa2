//! Answers the human lays down before they are asked. The session keeps them until a question comes that one fits.

use serde::{Deserialize, Serialize};

use crate::base::explanation::Explanation;
use crate::base::id::TaskId;
use crate::base::text::NonBlank;

/// Answers one session keeps. A script that lays down more has lost count.
pub const QUEUED_ANSWERS_MAX: usize = 1_000;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueuedAnswer {
    pub text: NonBlank,
    /// Only for questions of this task; for any of the session's where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the session has its {QUEUED_ANSWERS_MAX} answers laid down already; let some be used first")]
pub struct QueueFull;

impl QueueFull {
    pub const EXPLAINED: Explanation = Explanation {
        code: "queue_full",
        means: "The session has as many answers laid down as it may keep.",
        cause: "`baton answer --queue` was called again and again, and no question came that an answer fits.",
        next: "Look what is asked (`baton questions`); answers are used up as questions come.",
    };
}
