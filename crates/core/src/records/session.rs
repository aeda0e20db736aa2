//! A session: a conversation with the human, and the group of its tasks. They are one thing (I4).

use serde::{Deserialize, Serialize};

use crate::ask::queued_answer::{QUEUED_ANSWERS_MAX, QueueFull, QueuedAnswer};
use crate::base::id::{ProjectId, SessionId, TaskId};
use crate::base::priority::Priority;
use crate::base::task_type::TaskType;
use crate::base::text::{NonBlank, RecipeId};
use crate::base::time::Timestamp;
use crate::people::actor::Actor;
use crate::records::event::{Event, EventBody};
use crate::task::{Task, TaskSpec};

/// The heading of the part of a prompt that tells what was said before the message.
pub const HISTORY_HEADING: &str = "## Earlier in this conversation";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    pub id: SessionId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
    pub created_at: Timestamp,
    pub message_count: u32,
    /// Answers queued for later questions, first in, first used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queued: Vec<QueuedAnswer>,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    pub session_id: SessionId,
    /// 1 for the first of its session.
    pub number: u32,
    pub author: Actor,
    pub text: NonBlank,
    pub at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
}

/// What a message asks for, apart from its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskRequest {
    pub task_id: TaskId,
    pub task_type: TaskType,
    pub priority: Priority,
    pub recipe: Option<RecipeId>,
}

/// An accepted message: written in one transaction, or not at all (I3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostedMessage {
    pub session: Session,
    pub message: Message,
    pub task: Task,
    pub events: Vec<Event>,
}

impl PostedMessage {
    /// The same, for a task that starts after that of an earlier message.
    #[must_use]
    pub fn behind(self, earlier: Option<TaskId>) -> Self {
        let Some(earlier) = earlier else { return self };
        let spec = self.task.spec().clone();
        let requester = self.task.asker().cloned();
        let task = Task::create_behind(spec, earlier).with_requester(requester);
        let mut events = self.events;
        for event in &mut events {
            if let EventBody::TaskCreated { spec, .. } = &mut event.body {
                **spec = task.spec().clone();
            }
        }
        Self { task, events, ..self }
    }
}

impl Session {
    pub fn open(id: SessionId, project_id: Option<ProjectId>, now: Timestamp) -> Self {
        Self { id, project_id, created_at: now, message_count: 0, queued: Vec::new() }
    }

    /// I3: one message adds one task to this session's group.
    pub fn post(
        &self,
        text: NonBlank,
        request: TaskRequest,
        author: &Actor,
        now: Timestamp,
    ) -> PostedMessage {
        let TaskRequest { task_id, task_type, priority, recipe } = request;
        let session = Self { message_count: self.message_count + 1, ..self.clone() };
        let spec = TaskSpec {
            project_id: session.project_id,
            description: text.to_string(),
            priority,
            recipe,
            ..TaskSpec::new(task_id, session.id.clone(), task_type, title_of(&text), now)
        };
        let message = Message {
            session_id: session.id.clone(),
            number: session.message_count,
            author: author.clone(),
            text: text.clone(),
            at: now,
            task_id: Some(task_id),
        };
        let mut bodies = Vec::new();
        if self.message_count == 0 {
            bodies.push(EventBody::SessionOpened { session: self.id.clone(), project: self.project_id });
        }
        bodies.push(EventBody::MessagePosted { session: self.id.clone(), text, task: Some(task_id) });
        bodies.push(EventBody::TaskCreated { spec: Box::new(spec.clone()), depends_on: Vec::new() });
        let events = bodies.into_iter().map(|body| Event { at: now, by: author.clone(), body }).collect();
        PostedMessage { session, message, task: Task::create(spec).with_requester(author.person()), events }
    }
}

impl Session {
    pub fn with_queued(&self, answer: QueuedAnswer) -> Result<Self, QueueFull> {
        if self.queued.len() >= QUEUED_ANSWERS_MAX {
            return Err(QueueFull);
        }
        let mut session = self.clone();
        session.queued.push(answer);
        Ok(session)
    }

    /// The queued answers for questions of `task`, in order, each with its index in the queue.
    pub fn queued_for(&self, task: Option<TaskId>) -> (Vec<usize>, Vec<NonBlank>) {
        let fits = |answer: &QueuedAnswer| answer.task.is_none() || answer.task == task;
        let of_task = self.queued.iter().enumerate().filter(|(_, answer)| fits(answer));
        of_task.map(|(place, answer)| (place, answer.text.clone())).unzip()
    }

    /// The queue without the answer at `place`.
    pub fn without_queued(&self, place: usize) -> Self {
        let mut session = self.clone();
        if place < session.queued.len() {
            session.queued.remove(place);
        }
        session
    }
}

/// Longest title made from a message; the full text is the description.
const TITLE_CHARS_MAX: usize = 80;

/// The first non-blank line, cut to a title's length.
fn title_of(text: &NonBlank) -> NonBlank {
    let line =
        text.as_str().lines().map(str::trim).find(|line| NonBlank::new(*line).is_ok()).unwrap_or_default();
    let mut title: String = line.chars().take(TITLE_CHARS_MAX).collect();
    if line.chars().count() > TITLE_CHARS_MAX {
        title.push('…');
    }
    NonBlank::or(&title, text.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn posted_to(session: &Session, text: &str, bits: u32) -> PostedMessage {
        let request = TaskRequest {
            task_id: TaskId::from_bits(bits),
            task_type: TaskType::Implementation,
            priority: Priority::default(),
            recipe: None,
        };
        session.post(NonBlank::new(text).unwrap(), request, &Actor::human("mia"), Timestamp::from_ms(5))
    }

    #[test]
    fn i3_i4_each_message_adds_one_task_to_its_own_session() {
        let mut session = Session::open("test-session".parse().unwrap(), None, Timestamp::from_ms(1));
        for number in 1..=3 {
            let posted = posted_to(&session, "do it", number);
            assert_eq!(posted.task.spec().session_id, session.id);
            assert_eq!(posted.message.number, number);
            assert_eq!(posted.message.task_id, Some(posted.task.id()));
            session = posted.session;
        }
        assert_eq!(session.message_count, 3);
    }

    #[test]
    fn the_title_is_the_first_line_and_the_description_is_everything() {
        let session = Session::open("s".parse().unwrap(), None, Timestamp::from_ms(1));
        let posted = posted_to(&session, "\n  Fix the login  \n\nIt fails on Mondays.", 1);
        assert_eq!(posted.task.spec().title.as_str(), "Fix the login");
        assert!(posted.task.spec().description.contains("Mondays"));
        let long = posted_to(&session, &"w".repeat(200), 2);
        assert_eq!(long.task.spec().title.as_str().chars().count(), 81);
    }

    fn session() -> Session {
        Session::open("cli".parse().unwrap(), None, Timestamp::from_ms(1))
    }

    fn answer(text: &'static str, task: Option<u32>) -> QueuedAnswer {
        QueuedAnswer { text: NonBlank::fixed(text), task: task.map(TaskId::from_bits) }
    }

    #[test]
    fn a_question_gets_the_answers_of_its_task_and_of_everybody_in_order() {
        let session = session().with_queued(answer("for one", Some(1))).unwrap();
        let session = session.with_queued(answer("for all", None)).unwrap();
        let session = session.with_queued(answer("for two", Some(2))).unwrap();
        let texts = |task: Option<u32>| {
            let (places, texts) = session.queued_for(task.map(TaskId::from_bits));
            (places, texts.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        assert_eq!(texts(Some(1)), (vec![0, 1], vec!["for one".to_owned(), "for all".to_owned()]));
        assert_eq!(texts(Some(2)), (vec![1, 2], vec!["for all".to_owned(), "for two".to_owned()]));
        assert_eq!(texts(None), (vec![1], vec!["for all".to_owned()]));
        assert_eq!(session.without_queued(1).queued.len(), 2);
        assert_eq!(session.without_queued(9), session);
    }

    #[test]
    fn the_queue_is_bounded() {
        let mut session = session();
        for _ in 0..QUEUED_ANSWERS_MAX {
            session.queued.push(answer("yes", None));
        }
        assert_eq!(session.with_queued(answer("yes", None)), Err(QueueFull));
    }
}
