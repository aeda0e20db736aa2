//! Sessions as the list of task groups shows them.

use std::collections::BTreeMap;

use baton_core::base::id::SessionId;
use baton_core::base::time::Timestamp;
use baton_core::task::state::TaskStatus;
use rusqlite::Connection;

use super::fault::Fault;
use super::lists::PageInTheMaking;
use super::rows::{self, bad_row};
use crate::query::{Cursor, Page, TaskGroup};

/// Oldest first; a group is as old as its first task.
pub fn task_groups(conn: &Connection, cursor: Option<&Cursor>, limit: u32) -> Result<Page<TaskGroup>, Fault> {
    let after = cursor.map_or((-1, ""), |cursor| (cursor.at.ms(), cursor.key.as_str()));
    let sql = "SELECT session, created_ms, first_task FROM task_groups
        WHERE (created_ms, session) > (?1, ?2) ORDER BY created_ms, session";
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(after)?;
    let mut page = PageInTheMaking::new(limit);
    while let Some(row) = rows.next()? {
        if page.is_full() {
            return Ok(page.with_more());
        }
        let session: SessionId = rows::name(row.get_ref(0)?.as_str(), "session")?;
        let group = group(conn, session, Timestamp::from_ms(row.get(1)?), row.get(2)?)?;
        let place = Cursor { at: group.created_at, key: group.session.to_string() };
        page.push(group, place);
    }
    Ok(page.at_the_end())
}

fn group(
    conn: &Connection,
    session: SessionId,
    created_at: Timestamp,
    first_task: i64,
) -> Result<TaskGroup, Fault> {
    let first = rows::task(conn, first_task)?
        .ok_or_else(|| bad_row("task group", &session, "its first task is gone"))?;
    let spec = first.value.spec();
    let has_words = !spec.description.trim().is_empty();
    let first_prompt = if has_words { spec.description.clone() } else { spec.title.to_string() };

    let mut status_counts = BTreeMap::new();
    let mut latest = (created_at.ms(), first_task, first.value.state().status());
    let mut statement = conn.prepare_cached("SELECT status, updated_ms, id FROM tasks WHERE session = ?1")?;
    let mut rows = statement.query([session.as_str()])?;
    while let Some(row) = rows.next()? {
        let status = status_of(row.get_ref(0)?.as_str().unwrap_or_default())
            .ok_or_else(|| bad_row("task", session.as_str(), "its status is none"))?;
        *status_counts.entry(status).or_insert(0) += 1;
        latest = latest.max((row.get(1)?, row.get(2)?, status));
    }
    let (latest_ms, _, latest_status) = latest;
    Ok(TaskGroup {
        session,
        task_count: status_counts.values().sum(),
        status_counts,
        latest_status,
        first_prompt,
        created_at,
        latest_updated_at: Timestamp::from_ms(latest_ms),
    })
}

fn status_of(text: &str) -> Option<TaskStatus> {
    serde_json::from_value(serde_json::Value::from(text)).ok()
}
