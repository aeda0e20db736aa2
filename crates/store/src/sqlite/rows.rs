//! Decoding stored columns into core's types.

use std::str::FromStr;

use baton_core::base::id::{AttemptId, ProjectId, TaskId};
use baton_core::base::text::NonBlank;
use baton_core::records::change::Versioned;
use baton_core::schedule::Share;
use baton_core::task::Task;
use rusqlite::types::{FromSqlResult, ValueRef};
use rusqlite::{Connection, Params, Row, Statement};
use serde::de::DeserializeOwned;

use crate::error::StoreError;
use crate::model::record_kind::RecordKind;
use crate::sqlite::fault::SqliteFault;

#[expect(clippy::needless_pass_by_value, reason = "called with ids, numbers, texts and errors alike")]
pub(crate) fn bad_row(kind: RecordKind, key: impl ToString, detail: impl ToString) -> StoreError {
    StoreError::BadRow { kind, key: key.to_string(), detail: detail.to_string() }
}

/// A task id as stored.
pub(crate) fn task_key(id: TaskId) -> i64 {
    i64::from(id.bits())
}

pub(crate) fn attempt_key(id: AttemptId) -> i64 {
    id.bits().cast_signed()
}

pub(crate) fn task_id(stored: i64) -> Result<TaskId, SqliteFault> {
    let bits = u32::try_from(stored).map_err(|error| bad_row(RecordKind::Task, stored, error))?;
    Ok(TaskId::from_bits(bits))
}

pub(crate) const fn attempt_id(stored: i64) -> AttemptId {
    AttemptId::from_bits(stored.cast_unsigned())
}

/// Parses a role, an agent's name or a session id.
pub(crate) fn name<T: FromStr<Err: ToString>>(
    stored: FromSqlResult<&str>,
    kind: RecordKind,
) -> Result<T, SqliteFault> {
    let text = stored.map_err(|error| bad_row(kind, "", error))?;
    text.parse().map_err(|error: T::Err| bad_row(kind, text, error.to_string()).into())
}

/// Decodes a JSON column. The key is used in the error only.
pub(crate) fn body<T: DeserializeOwned>(
    stored: ValueRef<'_>,
    kind: RecordKind,
    key: impl ToString,
) -> Result<T, SqliteFault> {
    let text = stored.as_str().map_err(|error| bad_row(kind, key.to_string(), error))?;
    serde_json::from_str(text).map_err(|error| bad_row(kind, key, error).into())
}

/// Decodes a row of (version, body).
pub(crate) fn stored<T: DeserializeOwned>(
    row: &Row<'_>,
    kind: RecordKind,
    key: impl ToString,
) -> Result<Versioned<T>, SqliteFault> {
    let version = row.get::<_, i64>(0)?.cast_unsigned();
    Ok(Versioned { version, value: body(row.get_ref(1)?, kind, key)? })
}

/// Reads one row of (version, body), if it exists.
pub(crate) fn find<T: DeserializeOwned>(
    conn: &Connection,
    sql: &str,
    params: impl Params,
    kind: RecordKind,
    key: impl ToString,
) -> Result<Option<Versioned<T>>, SqliteFault> {
    one(&mut *conn.prepare_cached(sql)?, params, kind, key)
}

/// Like `find`, with a prepared statement.
fn one<T: DeserializeOwned>(
    statement: &mut Statement<'_>,
    params: impl Params,
    kind: RecordKind,
    key: impl ToString,
) -> Result<Option<Versioned<T>>, SqliteFault> {
    let mut rows = statement.query(params)?;
    rows.next()?.map(|row| stored(row, kind, key)).transpose()
}

pub(crate) const TASK: &str = "SELECT version, body FROM tasks WHERE id = ?1";

pub(crate) fn task(conn: &Connection, id: i64) -> Result<Option<Versioned<Task>>, SqliteFault> {
    find(conn, TASK, [id], RecordKind::Task, id)
}

/// Like `task`, with a prepared statement.
pub(crate) fn task_by(
    statement: &mut Statement<'_>,
    id: i64,
) -> Result<Option<Versioned<Task>>, SqliteFault> {
    one(statement, [id], RecordKind::Task, id)
}

pub(crate) fn share(project: Option<i64>, person: Option<&str>) -> Result<Share, SqliteFault> {
    let project = project.map(project_id).transpose()?;
    Ok(Share { project, person: person.and_then(|person| NonBlank::new(person).ok()) })
}

pub(crate) fn project_id(stored: i64) -> Result<ProjectId, SqliteFault> {
    let bits = u32::try_from(stored).map_err(|error| bad_row(RecordKind::Project, stored, error))?;
    Ok(ProjectId::from_bits(bits))
}
