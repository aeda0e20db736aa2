//! A change with all bodies serialised. The caller does that on its own thread, so that the writer only writes.

use baton_core::records::change::{Change, EdgeChange, Record, RecordPut, WriteGuard};
use baton_core::records::event::Event;

use crate::columns::{body, record_body, record_key};
use crate::error::StoreError;
use crate::model::commit::Conflict;
use crate::model::record_kind::RecordKind;
use crate::sqlite::rows::task_key;

pub(crate) struct RenderedChange {
    pub(crate) puts: Vec<RenderedPut>,
    pub(crate) edges: Vec<EdgeChange>,
    pub(crate) events: Vec<RenderedEvent>,
    pub(crate) effects: Vec<String>,
}

pub(crate) struct RenderedPut {
    pub(crate) record: Record,
    pub(crate) guard: WriteGuard,
    pub(crate) body: String,
}

pub(crate) struct RenderedEvent {
    pub(crate) task: Option<i64>,
    pub(crate) at_ms: i64,
    pub(crate) body: String,
}

impl RenderedChange {
    pub(crate) fn render(change: Change) -> Result<Self, StoreError> {
        let Change { puts, edges, events, effects } = change;
        Ok(Self {
            puts: puts.into_iter().map(render).collect::<Result<_, _>>()?,
            edges,
            events: events.iter().map(render_event).collect::<Result<_, _>>()?,
            effects: effects
                .iter()
                .map(|effect| body(RecordKind::Effect, effect))
                .collect::<Result<_, _>>()?,
        })
    }
}

impl RenderedPut {
    /// The version the row gets, if `found` satisfies the guard.
    pub(crate) fn next_version(&self, found: Option<u64>) -> Result<i64, Conflict> {
        let is_as_expected = match self.guard {
            WriteGuard::New => found.is_none(),
            WriteGuard::Version(expected) => found == Some(expected),
            WriteGuard::Owned => true,
        };
        if is_as_expected {
            return Ok(found.map_or(1, |version| version.cast_signed() + 1));
        }
        let (kind, key) = record_key(&self.record);
        Err(Conflict::Moved { kind, key, expected: self.guard, found })
    }
}

fn render(put: RecordPut) -> Result<RenderedPut, StoreError> {
    let RecordPut { record, guard } = put;
    let body = record_body(&record)?;
    Ok(RenderedPut { record, guard, body })
}

fn render_event(event: &Event) -> Result<RenderedEvent, StoreError> {
    let task = event.body.task().map(task_key);
    Ok(RenderedEvent { task, at_ms: event.at.ms(), body: body(RecordKind::Event, event)? })
}
