//! From stored columns back to core's values.

use std::str::FromStr;

use baton_core::base::id::{AttemptId, TaskId};
use baton_core::records::change::Versioned;
use baton_core::task::Task;
use rusqlite::types::{FromSqlResult, ValueRef};
use rusqlite::{Connection, Params, Row, Statement};
use serde::de::DeserializeOwned;

use super::batch::Batch;
use super::fault::Fault;
use crate::error::StoreError;

#[expect(clippy::needless_pass_by_value, reason = "called with ids, numbers, texts and errors alike")]
pub fn bad_row(kind: &'static str, key: impl ToString, detail: impl ToString) -> StoreError {
    StoreError::BadRow { kind, key: key.to_string(), detail: detail.to_string() }
}

/// A task's id as it is stored.
pub fn of_task(id: TaskId) -> i64 {
    i64::from(id.bits())
}

pub fn of_attempt(id: AttemptId) -> i64 {
    id.bits().cast_signed()
}

pub fn task_id(stored: i64) -> Result<TaskId, Fault> {
    let bits = u32::try_from(stored).map_err(|error| bad_row("task id", stored, error))?;
    Ok(TaskId::from_bits(bits))
}

pub const fn attempt_id(stored: i64) -> AttemptId {
    AttemptId::from_bits(stored.cast_unsigned())
}

/// A role or an agent's name.
pub fn name<T: FromStr<Err: ToString>>(stored: FromSqlResult<&str>, kind: &'static str) -> Result<T, Fault> {
    let text = stored.map_err(|error| bad_row(kind, "", error))?;
    text.parse().map_err(|error: T::Err| bad_row(kind, text, error.to_string()).into())
}

/// The JSON in a column. The key only says which row it was, should it not read back.
pub fn body<T: DeserializeOwned>(
    stored: ValueRef<'_>,
    kind: &'static str,
    key: impl ToString,
) -> Result<T, Fault> {
    let text = stored.as_str().map_err(|error| bad_row(kind, key.to_string(), error))?;
    serde_json::from_str(text).map_err(|error| bad_row(kind, key, error).into())
}

/// A row of (version, body).
pub fn stored<T: DeserializeOwned>(
    row: &Row<'_>,
    kind: &'static str,
    key: impl ToString,
) -> Result<Versioned<T>, Fault> {
    let version = row.get::<_, i64>(0)?.cast_unsigned();
    Ok(Versioned { version, value: body(row.get_ref(1)?, kind, key)? })
}

/// One row of (version, body), where there is one.
pub fn find<T: DeserializeOwned>(
    conn: &Connection,
    sql: &str,
    params: impl Params,
    kind: &'static str,
    key: impl ToString,
) -> Result<Option<Versioned<T>>, Fault> {
    one(&mut *conn.prepare_cached(sql)?, params, kind, key)
}

/// As `find`, with a statement at hand.
fn one<T: DeserializeOwned>(
    statement: &mut Statement<'_>,
    params: impl Params,
    kind: &'static str,
    key: impl ToString,
) -> Result<Option<Versioned<T>>, Fault> {
    let mut rows = statement.query(params)?;
    rows.next()?.map(|row| stored(row, kind, key)).transpose()
}

const TASK: &str = "SELECT version, body FROM tasks WHERE id = ?1";

pub fn task(conn: &Connection, id: i64) -> Result<Option<Versioned<Task>>, Fault> {
    find(conn, TASK, [id], "task", id)
}

/// As `task`, inside the writer's transaction.
pub fn task_in(batch: &mut Batch<'_>, id: i64) -> Result<Option<Versioned<Task>>, Fault> {
    one(batch.statement(TASK)?, [id], "task", id)
}
