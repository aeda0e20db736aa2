//! A question as stored in the inbox. It outlives the server, the agent and the attempt that asked.

use serde::{Deserialize, Serialize};

use crate::ask::answer_source::AnsweredBy;
use crate::ask::question::Question;
use crate::base::id::{SessionId, TaskId};
use crate::base::text::NonBlank;
use crate::base::time::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionRecord {
    #[serde(flatten)]
    pub question: Question,
    pub session_id: SessionId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    pub asked_at: Timestamp,
    #[serde(flatten)]
    pub state: QuestionState,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum QuestionState {
    Pending,
    Answered {
        at: Timestamp,
        answer: NonBlank,
        answered_by: AnsweredBy,
    },
    /// The answer is no longer needed.
    Withdrawn {
        at: Timestamp,
        reason: NonBlank,
    },
}
