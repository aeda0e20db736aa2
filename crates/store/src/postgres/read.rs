//! Turning rows back into what core wrote.

use std::fmt::Display;

use baton_core::base::text::NonBlank;
use baton_core::base::time::Timestamp;
use baton_core::records::change::Versioned;
use baton_core::records::event::Event;
use baton_core::schedule::Share;
use serde::de::DeserializeOwned;
use tokio_postgres::Row;

use super::lock::version;
use crate::error::StoreError;
use crate::lease::Lease;
use crate::query::{Cursor, Page, TaskDependency};
use crate::recorded::Recorded;

pub(super) fn bad_row(kind: &'static str, key: &str, error: &dyn Display) -> StoreError {
    StoreError::BadRow { kind, key: key.to_owned(), detail: error.to_string() }
}

pub(super) fn moment(row: &Row, column: usize) -> Timestamp {
    Timestamp::from_ms(row.get(column))
}

pub(super) fn count(row: Option<&Row>) -> u64 {
    row.map_or(0, |row| version(row, 0))
}

/// Reads `key, version, body`.
pub(super) fn stored<T: DeserializeOwned>(kind: &'static str, row: &Row) -> Result<Versioned<T>, StoreError> {
    let value = serde_json::from_str(row.get(2)).map_err(|error| bad_row(kind, row.get(0), &error))?;
    Ok(Versioned { version: version(row, 1), value })
}

pub(super) fn all_stored<T: DeserializeOwned>(
    kind: &'static str,
    rows: &[Row],
) -> Result<Vec<Versioned<T>>, StoreError> {
    rows.iter().map(|row| stored(kind, row)).collect()
}

/// Reads a page of `key, version, body, place`, which was asked for with one row more than `limit`.
pub(super) fn page<T: DeserializeOwned>(
    kind: &'static str,
    rows: &[Row],
    limit: u32,
) -> Result<Page<Versioned<T>>, StoreError> {
    let shown = rows.get(..limit as usize).unwrap_or(rows);
    let is_more = rows.len() > shown.len();
    let next = shown.last().filter(|_| is_more).map(|row| Cursor { at: moment(row, 3), key: row.get(0) });
    Ok(Page { items: all_stored(kind, shown)?, next })
}

pub(super) fn key<T: std::str::FromStr>(kind: &'static str, text: &str) -> Result<T, StoreError>
where
    T::Err: Display,
{
    text.parse().map_err(|error: T::Err| bad_row(kind, text, &error))
}

pub(super) fn lease(row: &Row) -> Result<Lease, StoreError> {
    Ok(Lease {
        attempt: key("lease", row.get(0))?,
        task: key("lease", row.get(1))?,
        worker: row.get(2),
        role: key("lease", row.get(3))?,
        agent: key("lease", row.get(4))?,
        share: share(row, 6)?,
        expires_at: moment(row, 5),
    })
}

/// Two columns, a project and a person, each empty for none.
pub(super) fn share(row: &Row, column: usize) -> Result<Share, StoreError> {
    let (project, person): (&str, &str) = (row.get(column), row.get(column + 1));
    let project = if project.is_empty() { None } else { Some(key("project", project)?) };
    Ok(Share { project, person: NonBlank::new(person).ok() })
}

pub(super) fn dependency(row: &Row) -> Result<TaskDependency, StoreError> {
    Ok(TaskDependency { task: key("edge", row.get(0))?, on: key("edge", row.get(1))?, is_met: row.get(2) })
}

pub(super) fn recorded(row: &Row) -> Result<Recorded, StoreError> {
    let seq = version(row, 0);
    let event: Event =
        serde_json::from_str(row.get(1)).map_err(|error| bad_row("event", &seq.to_string(), &error))?;
    Ok(Recorded { seq, event })
}
