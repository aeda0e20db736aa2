//! Reads for many tasks at once, one statement each.
//!
//! SQLite has no arrays, so ids are passed as a JSON list.

use baton_core::ask::question_record::QuestionRecord;
use baton_core::base::id::{AttemptId, QuestionId, SessionId, TaskId};
use baton_core::records::change::Versioned;
use baton_core::records::session::Message;
use baton_core::task::Task;
use baton_core::task::attempt_record::AttemptRecord;
use rusqlite::{Connection, Params};
use serde::de::DeserializeOwned;

use crate::model::query::TaskDependency;
use crate::model::record_kind::RecordKind;
use crate::sqlite::fault::SqliteFault;
use crate::sqlite::read::graph::edges;
use crate::sqlite::rows::{attempt_key, stored, task_key};

/// Ids as the argument of `json_each`.
fn json_list(ids: impl Iterator<Item = i64>) -> String {
    let ids: Vec<String> = ids.map(|id| id.to_string()).collect();
    format!("[{}]", ids.join(","))
}

fn task_list(tasks: &[TaskId]) -> String {
    json_list(tasks.iter().copied().map(task_key))
}

/// Reads rows of (version, body).
fn all<T: DeserializeOwned>(
    conn: &Connection,
    sql: &str,
    params: impl Params,
    kind: RecordKind,
) -> Result<Vec<Versioned<T>>, SqliteFault> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(stored(row, kind, "")?);
    }
    Ok(found)
}

fn values<T>(stored: Vec<Versioned<T>>) -> Vec<T> {
    stored.into_iter().map(|stored| stored.value).collect()
}

pub(crate) fn tasks_by_ids(conn: &Connection, ids: &[TaskId]) -> Result<Vec<Versioned<Task>>, SqliteFault> {
    let sql = "SELECT version, body FROM tasks WHERE id IN (SELECT value FROM json_each(?1)) ORDER BY id";
    all(conn, sql, [task_list(ids)], RecordKind::Task)
}

pub(crate) fn dependencies_of_many(
    conn: &Connection,
    tasks: &[TaskId],
) -> Result<Vec<TaskDependency>, SqliteFault> {
    let sql = "SELECT task, blocker, is_met FROM edges WHERE task IN (SELECT value FROM json_each(?1))
        ORDER BY task, blocker";
    edges(conn, sql, [task_list(tasks)])
}

/// Each index range ends at the last dependent wanted, so a wide fan-out costs no more than a narrow one.
pub(crate) fn dependents_of_many(
    conn: &Connection,
    tasks: &[TaskId],
    limit_each: u32,
) -> Result<Vec<TaskDependency>, SqliteFault> {
    let Some(others) = limit_each.checked_sub(1) else { return Ok(Vec::new()) };
    let sql = "SELECT e.task, e.blocker, e.is_met FROM (SELECT DISTINCT value FROM json_each(?1)) j
        CROSS JOIN edges e ON e.blocker = j.value AND e.task <= coalesce(
            (SELECT task FROM edges WHERE blocker = j.value ORDER BY task LIMIT 1 OFFSET ?2), 4294967295)
        ORDER BY e.blocker, e.task";
    edges(conn, sql, (task_list(tasks), others))
}

pub(crate) fn attempts_of_many(
    conn: &Connection,
    tasks: &[TaskId],
) -> Result<Vec<AttemptRecord>, SqliteFault> {
    let sql = "SELECT version, body FROM attempts WHERE task IN (SELECT value FROM json_each(?1))
        ORDER BY task, number";
    all(conn, sql, [task_list(tasks)], RecordKind::Attempt).map(values)
}

pub(crate) fn last_attempts(conn: &Connection, tasks: &[TaskId]) -> Result<Vec<AttemptRecord>, SqliteFault> {
    let sql = "SELECT version, body FROM attempts a WHERE task IN (SELECT value FROM json_each(?1))
        AND number = (SELECT max(number) FROM attempts WHERE task = a.task) ORDER BY task";
    all(conn, sql, [task_list(tasks)], RecordKind::Attempt).map(values)
}

pub(crate) fn attempts_by_ids(
    conn: &Connection,
    ids: &[AttemptId],
) -> Result<Vec<AttemptRecord>, SqliteFault> {
    let sql = "SELECT version, body FROM attempts WHERE id IN (SELECT value FROM json_each(?1)) ORDER BY id";
    all(conn, sql, [json_list(ids.iter().copied().map(attempt_key))], RecordKind::Attempt).map(values)
}

pub(crate) fn questions_by_ids(
    conn: &Connection,
    ids: &[QuestionId],
) -> Result<Vec<Versioned<QuestionRecord>>, SqliteFault> {
    let sql = "SELECT version, body FROM questions WHERE id IN (SELECT value FROM json_each(?1)) ORDER BY id";
    all(conn, sql, [json_list(ids.iter().map(|id| i64::from(id.bits())))], RecordKind::Question)
}

pub(crate) fn questions_of_many(
    conn: &Connection,
    tasks: &[TaskId],
    is_pending: Option<bool>,
) -> Result<Vec<Versioned<QuestionRecord>>, SqliteFault> {
    let sql = "SELECT version, body FROM questions WHERE task IN (SELECT value FROM json_each(?1))
        AND is_pending = coalesce(?2, is_pending) ORDER BY task, asked_ms, id";
    all(conn, sql, (task_list(tasks), is_pending), RecordKind::Question)
}

pub(crate) fn last_messages(
    conn: &Connection,
    session: &SessionId,
    before: Option<u32>,
    limit: u32,
) -> Result<Vec<Message>, SqliteFault> {
    let sql =
        "SELECT version, body FROM messages WHERE session = ?1 AND number < ?2 ORDER BY number DESC LIMIT ?3";
    let before = before.map_or(i64::MAX, i64::from);
    let mut messages = values(all(conn, sql, (session.as_str(), before, limit), RecordKind::Message)?);
    messages.reverse();
    Ok(messages)
}
