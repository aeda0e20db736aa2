//! A change as text: every body serialised already, by whoever asks for the change, so that the one writer has
//! nothing left to do but write.

use baton_core::records::change::{Change, EdgeChange, Record, RecordPut, WriteGuard};
use baton_core::records::event::Event;

use super::rows::of_task;
use crate::columns::body;
use crate::error::StoreError;

pub struct Rendered {
    pub puts: Vec<RenderedPut>,
    pub edges: Vec<EdgeChange>,
    pub events: Vec<RenderedEvent>,
    pub effects: Vec<String>,
}

pub struct RenderedPut {
    pub record: Record,
    pub guard: WriteGuard,
    pub body: String,
}

pub struct RenderedEvent {
    pub task: Option<i64>,
    pub at_ms: i64,
    pub body: String,
}

impl Rendered {
    pub fn of(change: Change) -> Result<Self, StoreError> {
        let Change { puts, edges, events, effects } = change;
        Ok(Self {
            puts: puts.into_iter().map(render).collect::<Result<_, _>>()?,
            edges,
            events: events.iter().map(render_event).collect::<Result<_, _>>()?,
            effects: effects.iter().map(|effect| body("effect", effect)).collect::<Result<_, _>>()?,
        })
    }
}

fn render(put: RecordPut) -> Result<RenderedPut, StoreError> {
    let RecordPut { record, guard } = put;
    let body = match &record {
        Record::Project(project) => body("project", project),
        Record::Session(session) => body("session", session),
        Record::Message(message) => body("message", message),
        Record::Task(task) => body("task", task),
        Record::Attempt(attempt) => body("attempt", attempt),
        Record::Question(question) => body("question", question),
        Record::Plan(plan) => body("plan", plan),
        Record::Run(run) => body("run", run),
        Record::Loop(phase_loop) => body("loop", phase_loop),
        Record::Receipt(receipt) => body("receipt", receipt),
        Record::Hold(hold) => body("hold", hold),
        Record::Spending(spending) => body("spending", spending),
        Record::AccessToken(token) => body("access_token", token),
    };
    Ok(RenderedPut { record, guard, body: body? })
}

fn render_event(event: &Event) -> Result<RenderedEvent, StoreError> {
    let task = event.body.task().map(of_task);
    Ok(RenderedEvent { task, at_ms: event.at.ms(), body: body("event", event)? })
}
