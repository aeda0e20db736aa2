//! What came before a message in its conversation: the earlier messages, and the tasks they made.

use std::collections::{BTreeMap, BTreeSet};

use baton_core::base::id::{SessionId, TaskId};
use baton_core::base::text::Role;
use baton_core::base::time::Timestamp;
use baton_core::people::actor::Actor;
use baton_core::phase::work::PhaseWork;
use baton_core::records::change::Change;
use baton_core::records::session::Message;
use baton_core::task::Task;
use baton_core::task::state::{ReplacedBy, TaskState};
use baton_core::transition::command::Command;

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
    /// The tasks that replaced it: the subtasks of a loop's plan, or of a breakdown.
    pub parts: Vec<Task>,
}

impl PastMessage {
    /// The task, and those that replaced it.
    pub(crate) fn tasks(&self) -> impl Iterator<Item = &Task> {
        self.task.iter().chain(&self.parts)
    }
}

/// The conversation before a message, oldest first.
#[derive(Debug, Clone, Default)]
pub struct PastConversation {
    pub messages: Vec<PastMessage>,
    /// Older messages that are not among them.
    pub left_out: u32,
    /// When the message came; none where there is no such message.
    pub until: Option<Timestamp>,
}

impl TaskService {
    /// The task of the newest message that somebody works on or will: a further one starts after it, on its work.
    pub(crate) async fn message_under_way(&self, session: &SessionId) -> Result<Option<TaskId>> {
        let messages = self.store.last_messages(session, None, PAST_MESSAGES_MAX).await?;
        let ids: Vec<TaskId> = messages.iter().filter_map(|message| message.task_id).collect();
        let tasks = self.store.tasks_by_ids(&ids).await?;
        let under_way: BTreeSet<TaskId> = tasks
            .into_iter()
            .filter(|stored| stored.value.is_under_way())
            .map(|stored| stored.value.id())
            .collect();
        Ok(ids.into_iter().rev().find(|id| under_way.contains(id)))
    }

    /// Starts a task that follows another one, once nobody works on that any more. False while it has to wait. One that a
    /// person has released, cancelled or held since is left alone, and so is one whose forerunner a person has stopped (I22).
    pub(crate) async fn start_after_earlier(&self, id: TaskId) -> Result<bool> {
        let mut decision = self.decision(id);
        loop {
            let Some(stored) = self.store.task(id).await? else { return Ok(true) };
            let Some(earlier) = stored.value.waits_behind() else { return Ok(true) };
            let earlier = self.task(earlier).await?.value;
            if earlier.is_under_way() || *earlier.state() == TaskState::Held {
                return Ok(false);
            }
            let context = self.context(Actor::policy("conversation")).await?;
            let transition = stored.value.apply(Command::Release, &context)?;
            if decision.commit(Change::transition(stored.version, transition)).await? {
                return Ok(true);
            }
        }
    }

    /// What came before the message that made the task, or the goal that a loop works on with it. Empty for a task that no
    /// message made.
    pub async fn past_conversation(&self, task: &Task) -> Result<PastConversation> {
        let found = match self.message_of(task).await? {
            Some(number) => Some((number, task.spec().created_at)),
            None => match self.goal_of(task).await? {
                Some(goal) => self.message_of(&goal).await?.map(|number| (number, goal.spec().created_at)),
                None => None,
            },
        };
        let Some((number, until)) = found else { return Ok(PastConversation::default()) };
        let session = &task.spec().session_id;
        let messages = self.store.last_messages(session, Some(number), PAST_MESSAGES_MAX).await?;
        let left_out = messages.first().map_or(0, |first| first.number.saturating_sub(1));
        let ids: Vec<TaskId> = messages.iter().filter_map(|message| message.task_id).collect();
        let found = self.store.tasks_by_ids(&ids).await?;
        let mut tasks: BTreeMap<TaskId, Task> =
            found.into_iter().map(|stored| (stored.value.id(), stored.value)).collect();
        let replaced: Vec<TaskId> = tasks.values().flat_map(replaced_by).copied().collect();
        let parts = self.store.tasks_by_ids(&replaced).await?;
        tasks.extend(parts.into_iter().map(|stored| (stored.value.id(), stored.value)));
        let with_task = |message: Message| {
            let task = message.task_id.and_then(|id| tasks.get(&id).cloned());
            let replaced = task.iter().flat_map(replaced_by);
            let parts = replaced.filter_map(|id| tasks.get(id).cloned()).collect();
            PastMessage { message, task, parts }
        };
        let messages = messages.into_iter().map(with_task).collect();
        Ok(PastConversation { messages, left_out, until: Some(until) })
    }

    /// The task that a loop works on with this one: what it plans with it, or what it is a subtask of.
    async fn goal_of(&self, task: &Task) -> Result<Option<Task>> {
        let [plan, execute, _] = Role::loop_phases();
        let (spec, mut goal) = (task.spec(), None);
        if spec.role == execute {
            goal = spec.planned_in;
        } else if spec.role == plan
            && let Some(stored) = self.store.phase_loop(&spec.session_id).await?
            && let PhaseWork::Plan(work) = stored.value.work()
        {
            goal = work.subject().map(|subject| subject.id);
        }
        match goal {
            Some(goal) => Ok(self.store.task(goal).await?.map(|stored| stored.value)),
            None => Ok(None),
        }
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

/// The tasks that stand for a task that was replaced.
fn replaced_by(task: &Task) -> &[TaskId] {
    match task.state() {
        TaskState::Recycled { replaced_by: ReplacedBy::Tasks(tasks) } => tasks,
        _ => &[],
    }
}
