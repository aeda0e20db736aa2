//! A session: a conversation with the human, and the group its tasks belong to. They are one thing (I4).

use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::event::{Event, EventBody};
use crate::id::{ProjectId, SessionId, TaskId};
use crate::priority::Priority;
use crate::queued_answer::QueuedAnswer;
use crate::task::{Task, TaskSpec};
use crate::task_type::TaskType;
use crate::text::{NonBlank, RecipeId};
use crate::time::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    pub id: SessionId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
    pub created_at: Timestamp,
    pub message_count: u32,
    /// Answers laid down for questions still to come, first in first used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queued: Vec<QueuedAnswer>,
}

/// One thing somebody said.
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
pub struct Request {
    pub task_id: TaskId,
    pub task_type: TaskType,
    pub priority: Priority,
    pub recipe: Option<RecipeId>,
}

/// A message taken in: written in one transaction, or not at all (I3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Posted {
    pub session: Session,
    pub message: Message,
    pub task: Task,
    pub events: Vec<Event>,
}

impl Session {
    pub fn open(id: SessionId, project_id: Option<ProjectId>, now: Timestamp) -> Self {
        Self { id, project_id, created_at: now, message_count: 0, queued: Vec::new() }
    }

    /// I3: one message, one task more, in this session's group.
    pub fn post(&self, text: NonBlank, request: Request, author: &Actor, now: Timestamp) -> Posted {
        let Request { task_id, task_type, priority, recipe } = request;
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
        Posted { session, message, task: Task::create(spec).asked_by(author.person()), events }
    }
}

/// Longest title made from a message; the whole text is the description.
const TITLE_CHARS_MAX: usize = 80;

/// The first line that says something, cut to a title's length.
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

    fn posted_to(session: &Session, text: &str, bits: u32) -> Posted {
        let request = Request {
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
}
