//! What came before a message in its conversation: the earlier messages, and the tasks they made.

use std::collections::BTreeMap;

use baton_core::base::id::TaskId;
use baton_core::records::session::Message;
use baton_core::task::Task;

use crate::base::error::Result;
use crate::tasks::service::TaskService;

/// Earlier messages that count as the conversation; older ones are left out.
const PAST_MESSAGES_MAX: u32 = 50;
/// Messages read at once while looking for a task's own.
const MESSAGES_PAGE: u32 = 100;

/// An earlier message, and the task it made or was said to.
#[derive(Debug, Clone)]
pub struct PastMessage {
    pub message: Message,
    pub task: Option<Task>,
}

/// The conversation before a message, oldest first.
#[derive(Debug, Clone, Default)]
pub struct PastConversation {
    pub messages: Vec<PastMessage>,
    /// Older messages that are not among them.
    pub left_out: u32,
}

impl TaskService {
    /// What came before the message that made the task. Empty for a task that no message made.
    pub async fn past_conversation(&self, task: &Task) -> Result<PastConversation> {
        let Some(number) = self.message_of(task).await? else { return Ok(PastConversation::default()) };
        let session = &task.spec().session_id;
        let messages = self.store.last_messages(session, Some(number), PAST_MESSAGES_MAX).await?;
        let left_out = messages.first().map_or(0, |first| first.number.saturating_sub(1));
        let ids: Vec<TaskId> = messages.iter().filter_map(|message| message.task_id).collect();
        let found = self.store.tasks_by_ids(&ids).await?;
        let tasks: BTreeMap<TaskId, Task> =
            found.into_iter().map(|stored| (stored.value.id(), stored.value)).collect();
        let with_task = |message: Message| {
            let task = message.task_id.and_then(|id| tasks.get(&id).cloned());
            PastMessage { message, task }
        };
        Ok(PastConversation { messages: messages.into_iter().map(with_task).collect(), left_out })
    }

    /// The number of the message that made the task: written with it, so both have the same time.
    async fn message_of(&self, task: &Task) -> Result<Option<u32>> {
        let spec = task.spec();
        let mut before = None;
        loop {
            let page = self.store.last_messages(&spec.session_id, before, MESSAGES_PAGE).await?;
            let Some(first) = page.first() else { return Ok(None) };
            let is_own =
                |message: &&Message| message.task_id == Some(spec.id) && message.at == spec.created_at;
            if let Some(own) = page.iter().find(is_own) {
                return Ok(Some(own.number));
            }
            if first.at < spec.created_at {
                return Ok(None);
            }
            before = Some(first.number);
        }
    }
}
