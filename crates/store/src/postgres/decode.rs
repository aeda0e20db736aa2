//! Decoding rows into core's types.

use std::fmt::Display;

use baton_core::base::id::TaskId;
use baton_core::base::text::NonBlank;
use baton_core::base::time::Timestamp;
use baton_core::records::change::Versioned;
use baton_core::records::event::Event;
use baton_core::schedule::Share;
use serde::de::DeserializeOwned;
use tokio_postgres::Row;

use crate::error::StoreError;
use crate::model::event::StoredEvent;
use crate::model::lease::Lease;
use crate::model::query::{Cursor, Page, TaskDependency};
use crate::model::record_kind::RecordKind;
use crate::postgres::connect::fault::PostgresFault;

pub(crate) fn bad_row(kind: RecordKind, key: &str, error: &dyn Display) -> StoreError {
    StoreError::BadRow { kind, key: key.to_owned(), detail: error.to_string() }
}

pub(crate) fn timestamp(row: &Row, column: usize) -> Timestamp {
    Timestamp::from_ms(row.get(column))
}

pub(crate) fn count(row: Option<&Row>) -> u64 {
    row.map_or(0, |row| version(row, 0))
}

/// Decodes `key, version, body`.
pub(crate) fn stored<T: DeserializeOwned>(kind: RecordKind, row: &Row) -> Result<Versioned<T>, StoreError> {
    let value = serde_json::from_str(row.get(2)).map_err(|error| bad_row(kind, row.get(0), &error))?;
    Ok(Versioned { version: version(row, 1), value })
}

pub(crate) fn all_stored<T: DeserializeOwned>(
    kind: RecordKind,
    rows: &[Row],
) -> Result<Vec<Versioned<T>>, StoreError> {
    rows.iter().map(|row| stored(kind, row)).collect()
}

/// Decodes a page of `key, version, body, place`, queried with one row more than `limit`.
pub(crate) fn page<T: DeserializeOwned>(
    kind: RecordKind,
    rows: &[Row],
    limit: u32,
) -> Result<Page<Versioned<T>>, StoreError> {
    let shown = rows.get(..limit as usize).unwrap_or(rows);
    let is_more = rows.len() > shown.len();
    let next = shown.last().filter(|_| is_more).map(|row| Cursor { at: timestamp(row, 3), key: row.get(0) });
    Ok(Page { items: all_stored(kind, shown)?, next })
}

pub(crate) fn key<T: std::str::FromStr>(kind: RecordKind, text: &str) -> Result<T, StoreError>
where
    T::Err: Display,
{
    text.parse().map_err(|error: T::Err| bad_row(kind, text, &error))
}

pub(crate) fn lease(row: &Row) -> Result<Lease, StoreError> {
    Ok(Lease {
        attempt: key(RecordKind::Lease, row.get(0))?,
        task: key(RecordKind::Lease, row.get(1))?,
        worker: row.get(2),
        role: key(RecordKind::Lease, row.get(3))?,
        agent: key(RecordKind::Lease, row.get(4))?,
        share: share(row, 6)?,
        expires_at: timestamp(row, 5),
    })
}

/// Two columns, project and person, each empty for none.
pub(crate) fn share(row: &Row, column: usize) -> Result<Share, StoreError> {
    let (project, person): (&str, &str) = (row.get(column), row.get(column + 1));
    let project = if project.is_empty() { None } else { Some(key(RecordKind::Project, project)?) };
    Ok(Share { project, person: NonBlank::new(person).ok() })
}

pub(crate) fn dependency(row: &Row) -> Result<TaskDependency, StoreError> {
    Ok(TaskDependency {
        task: key(RecordKind::Edge, row.get(0))?,
        on: key(RecordKind::Edge, row.get(1))?,
        is_met: row.get(2),
    })
}

pub(crate) fn recorded(row: &Row) -> Result<StoredEvent, StoreError> {
    let seq = version(row, 0);
    let event: Event = serde_json::from_str(row.get(1))
        .map_err(|error| bad_row(RecordKind::Event, &seq.to_string(), &error))?;
    Ok(StoredEvent { seq, event })
}

pub(crate) fn texts<'a>(ids: impl IntoIterator<Item = &'a TaskId>) -> Vec<String> {
    ids.into_iter().map(ToString::to_string).collect()
}

pub(crate) fn version(row: &Row, column: usize) -> u64 {
    u64::try_from(row.get::<_, i64>(column)).unwrap_or(0)
}

pub(crate) fn task_id(text: &str) -> Result<TaskId, PostgresFault> {
    text.parse().map_err(|_| {
        let detail = "not a task id".to_owned();
        PostgresFault::Final(StoreError::BadRow { kind: RecordKind::Task, key: text.to_owned(), detail })
    })
}
