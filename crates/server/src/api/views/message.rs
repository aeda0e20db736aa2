//! A person's message to the agent of a task.

use baton_core::base::id::TaskId;
use baton_core::base::time::Timestamp;
use baton_core::records::session::Message;
use baton_core::task::Task;
use schemars::JsonSchema;
use serde::Serialize;

use crate::schema::words;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum MessageState {
    /// No agent has got it yet.
    Queued,
    Delivered,
}

/// When a queued message reaches an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum MessageArrival {
    /// The agent at work gets it at its next pause.
    NextPause,
    /// It is part of the prompt of the task's next attempt.
    NextAttempt,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TaskMessageView {
    #[schemars(with = "words::TaskId")]
    pub task_id: TaskId,
    /// Its number in the session.
    pub number: u32,
    pub content: String,
    pub author: String,
    #[schemars(with = "words::Timestamp")]
    pub at: Timestamp,
    pub state: MessageState,
    /// When it reaches an agent; null once it has.
    pub arrives: Option<MessageArrival>,
}

impl TaskMessageView {
    pub(crate) fn new(task: &Task, message: &Message) -> Self {
        let said = task.ledger().messages;
        let is_delivered = said.is_some_and(|said| said.is_delivered(message.number));
        let is_at_work = task.state().live_attempt().is_some();
        let arrives = if is_at_work { MessageArrival::NextPause } else { MessageArrival::NextAttempt };
        Self {
            task_id: task.id(),
            number: message.number,
            content: message.text.to_string(),
            author: message.author.to_string(),
            at: message.at,
            state: if is_delivered { MessageState::Delivered } else { MessageState::Queued },
            arrives: (!is_delivered).then_some(arrives),
        }
    }
}
