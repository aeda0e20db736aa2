//! A change: rows, edges, events and effects that are written together or not at all.
//!
//! Core builds changes; the store commits them. Nothing else writes rows, so there is no second way to change a task.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ask::question_record::QuestionRecord;
use crate::base::id::{ProjectId, TaskId};
use crate::graph::Standing;
use crate::landing::verdict::Verdict;
use crate::limits::hold::Hold;
use crate::limits::spending::Spending;
use crate::people::access_token::AccessToken;
use crate::phase::phase_loop::PhaseLoop;
use crate::recipe::run::Run;
use crate::records::attachment::Attachment;
use crate::records::effect::Effect;
use crate::records::event::{Event, EventBody};
use crate::records::project::Project;
use crate::records::receipt::Receipt;
use crate::records::session::{Message, PostedMessage, Session};
use crate::records::transition::Transition;
use crate::recycle::plan_record::PlanRecord;
use crate::routine::Routine;
use crate::task::Task;
use crate::task::attempt_record::AttemptRecord;

/// A row as read: the value, and the version a change must name to replace it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Versioned<T> {
    pub version: u64,
    pub value: T,
}

/// One row of any kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    Project(Project),
    Session(Session),
    Message(Message),
    Task(Box<Task>),
    Attempt(AttemptRecord),
    Question(QuestionRecord),
    Plan(PlanRecord),
    Run(Box<Run>),
    Loop(Box<PhaseLoop>),
    Receipt(Receipt),
    Hold(Hold),
    Spending(Spending),
    AccessToken(Box<AccessToken>),
    Verdict(Box<Verdict>),
    Attachment(Box<Attachment>),
    Routine(Box<Routine>),
}

/// What must hold for the stored row, or the whole change fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteGuard {
    /// It does not exist yet.
    New,
    /// It still has the version that was read.
    Version(u64),
    /// Guarded by another row of the same change: an attempt or a question belongs to its task.
    Owned,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordPut {
    pub record: Record,
    pub guard: WriteGuard,
}

/// A change to the dependencies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EdgeChange {
    /// `task` waits on `on`. If `on` was replaced by other tasks, it waits on those instead.
    Add { task: TaskId, on: TaskId },
    /// `task` does not wait on `on` any more.
    Remove { task: TaskId, on: TaskId },
    /// Everything that waits on `from` at commit time waits on each of `to` instead.
    Rewire { from: TaskId, to: Vec<TaskId> },
}

/// All of it, or none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Change {
    pub puts: Vec<RecordPut>,
    pub edges: Vec<EdgeChange>,
    pub events: Vec<Event>,
    pub effects: Vec<Effect>,
}

impl Change {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn put(mut self, record: Record, guard: WriteGuard) -> Self {
        self.puts.push(RecordPut { record, guard });
        self
    }

    /// A new task and its dependencies.
    pub fn create(task: Task, depends_on: &[TaskId], event: Event) -> Self {
        let id = task.id();
        let mut change = Self::new().put(Record::Task(Box::new(task)), WriteGuard::New);
        change.edges = depends_on.iter().map(|on| EdgeChange::Add { task: id, on: *on }).collect();
        change.events.push(event);
        change
    }

    /// A transition of a task that was read at `version`.
    pub fn transition(version: u64, transition: Transition) -> Self {
        let Transition { task, created, attempts, questions, events, effects } = transition;
        let mut change = Self::new().put(Record::Task(Box::new(task)), WriteGuard::Version(version));
        for task in created {
            change = change.put(Record::Task(Box::new(task)), WriteGuard::New);
        }
        for attempt in attempts {
            change = change.put(Record::Attempt(attempt), WriteGuard::Owned);
        }
        for question in questions {
            change = change.put(Record::Question(question), WriteGuard::Owned);
        }
        change.events = events;
        change.effects = effects;
        change
    }

    /// A chat message: the session, the message and its task (I3).
    pub fn post_message(session_version: Option<u64>, posted: PostedMessage) -> Self {
        let PostedMessage { session, message, task, events } = posted;
        let session_guard = session_version.map_or(WriteGuard::New, WriteGuard::Version);
        let mut change = Self::new()
            .put(Record::Session(session), session_guard)
            .put(Record::Message(message), WriteGuard::New)
            .put(Record::Task(Box::new(task)), WriteGuard::New);
        change.events = events;
        change
    }

    /// Both changes, in one transaction.
    pub fn and(mut self, other: Change) -> Self {
        self.puts.extend(other.puts);
        self.edges.extend(other.edges);
        self.events.extend(other.events);
        self.effects.extend(other.effects);
        self
    }

    /// The open work that it gives to projects: new tasks, and those that a person brings back. None of these projects is
    /// complete any more.
    pub fn new_work(&self) -> BTreeMap<ProjectId, Vec<TaskId>> {
        let is_brought_back = |id: TaskId| {
            self.events
                .iter()
                .any(|event| matches!(&event.body, EventBody::TaskRetried { task } if *task == id))
        };
        let added = self.puts.iter().filter_map(|put| match &put.record {
            Record::Task(task) if put.guard == WriteGuard::New || is_brought_back(task.id()) => Some(task),
            Record::Task(_)
            | Record::Project(_)
            | Record::Session(_)
            | Record::Message(_)
            | Record::Attempt(_)
            | Record::Question(_)
            | Record::Plan(_)
            | Record::Run(_)
            | Record::Loop(_)
            | Record::Receipt(_)
            | Record::Hold(_)
            | Record::Spending(_)
            | Record::AccessToken(_)
            | Record::Verdict(_)
            | Record::Attachment(_)
            | Record::Routine(_) => None,
        });
        let mut work: BTreeMap<ProjectId, Vec<TaskId>> = BTreeMap::new();
        for task in added.filter(|task| task.standing() == Standing::Open) {
            if let Some(project) = task.spec().project_id {
                work.entry(project).or_default().push(task.id());
            }
        }
        work
    }
}
