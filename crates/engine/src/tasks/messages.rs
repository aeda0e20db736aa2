//! Messages of people to the agent of a task.
//!
//! A message belongs to the task's session and is noted on the task, in one transaction, so an attempt cannot end as if nothing had
//! been said. The machine that runs the agent delivers it; what is not delivered waits for the next attempt.

use baton_core::base::id::{ProjectId, SessionId, TaskId};
use baton_core::base::text::NonBlank;
use baton_core::base::time::Timestamp;
use baton_core::people::actor::Actor;
use baton_core::records::change::{Change, Record, Versioned, WriteGuard};
use baton_core::records::event::{Event, EventBody};
use baton_core::records::session::{Message, Session};
use baton_core::task::Task;
use baton_core::transition::command::Command;

use crate::base::error::Result;
use crate::tasks::service::TaskService;

/// Messages read at once.
const MESSAGES_PAGE: u32 = 100;

/// What is written together with a message.
pub(crate) type BesideMessage<'a> = dyn Fn(&Message) -> Change + Send + Sync + 'a;

impl TaskService {
    /// Says something to the agent of a task.
    pub async fn say(&self, task: TaskId, text: &NonBlank, actor: &Actor) -> Result<Message> {
        self.say_with(task, text, actor, &|_| Change::new()).await
    }

    /// The same, with what else is to be written in the same transaction.
    pub(crate) async fn say_with(
        &self,
        task: TaskId,
        text: &NonBlank,
        actor: &Actor,
        beside: &BesideMessage<'_>,
    ) -> Result<Message> {
        let mut decision = self.decision(task);
        loop {
            let (message, change) = self.said_to(&self.task(task).await?, text, actor).await?;
            if decision.commit(change.and(beside(&message))).await? {
                return Ok(message);
            }
        }
    }

    /// The message, and the change that writes it.
    pub(crate) async fn said_to(
        &self,
        task: &Versioned<Task>,
        text: &NonBlank,
        actor: &Actor,
    ) -> Result<(Message, Change)> {
        let context = self.context(actor.clone()).await?;
        let spec = task.value.spec();
        let (mut session, guard, opened) =
            self.session_to_write(&spec.session_id, spec.project_id, context.now).await?;
        session.message_count += 1;
        let number = session.message_count;
        let said = task.value.apply(Command::AddMessage { number, text: text.clone() }, &context)?;
        let message = Message {
            session_id: session.id.clone(),
            number,
            author: actor.clone(),
            text: text.clone(),
            at: context.now,
            task_id: Some(spec.id),
        };
        let mut change = Change::transition(task.version, said)
            .put(Record::Session(session), guard)
            .put(Record::Message(message.clone()), WriteGuard::New);
        let opened = opened.into_iter().map(|body| Event { at: context.now, by: actor.clone(), body });
        change.events.splice(0..0, opened);
        Ok((message, change))
    }

    /// The session as it is, or a new one, and what has to be told of that.
    pub(crate) async fn session_to_write(
        &self,
        id: &SessionId,
        project: Option<ProjectId>,
        now: Timestamp,
    ) -> Result<(Session, WriteGuard, Vec<EventBody>)> {
        if let Some(stored) = self.store.session(id).await? {
            return Ok((stored.value, WriteGuard::Version(stored.version), Vec::new()));
        }
        let opened = EventBody::SessionOpened { session: id.clone(), project };
        Ok((Session::open(id.clone(), project, now), WriteGuard::New, vec![opened]))
    }

    /// What people said to the agent of the task, oldest first.
    pub async fn messages_to(&self, task: &Task) -> Result<Vec<Message>> {
        match task.ledger().messages {
            Some(said) => self.messages_between(task, said.first, said.last).await,
            None => Ok(Vec::new()),
        }
    }

    /// Those of them that no agent has got yet.
    pub(crate) async fn queued_messages(&self, task: &Task) -> Result<Vec<Message>> {
        match task.ledger().messages {
            Some(said) if said.has_queued() => {
                self.messages_between(task, said.first.max(said.delivered + 1), said.last).await
            }
            Some(_) | None => Ok(Vec::new()),
        }
    }

    async fn messages_between(&self, task: &Task, first: u32, last: u32) -> Result<Vec<Message>> {
        let session = &task.spec().session_id;
        let (mut found, mut after) = (Vec::new(), first.saturating_sub(1));
        loop {
            let page = self.store.messages(session, after, MESSAGES_PAGE).await?;
            let Some(newest) = page.last().map(|message| message.number) else { return Ok(found) };
            let of_task = |message: &Message| message.task_id == Some(task.id()) && message.number <= last;
            found.extend(page.into_iter().filter(of_task));
            if newest >= last {
                return Ok(found);
            }
            after = newest;
        }
    }
}
