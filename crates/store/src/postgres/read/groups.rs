//! Task groups. A page is one statement.

use std::collections::BTreeMap;

use baton_core::task::state::TaskStatus;
use tokio_postgres::Row;

use crate::columns::{PROMPTED_ROLES, parse_status};
use crate::error::StoreError;
use crate::model::query::{Cursor, Page, TaskGroup};
use crate::model::record_kind::RecordKind;
use crate::postgres::decode::{bad_row, key, timestamp, version};

/// How many of the latest events are searched for active groups.
pub(crate) const EVENTS_LOOKED_AT: i64 = 2_000;

const PAGE: &str = "SELECT session, created_ms FROM groups WHERE (created_ms, session) > ($3, $4)
    ORDER BY created_ms, session LIMIT $5";
const RECENT: &str = "SELECT g.session, g.created_ms FROM (
        SELECT t.session, e.seq FROM (SELECT seq, task FROM events ORDER BY seq DESC LIMIT $4) e
        JOIN tasks t ON t.id = e.task
        UNION ALL SELECT session, -1 FROM
            (SELECT session FROM groups ORDER BY created_ms DESC, session DESC LIMIT $3) AS newest
    ) found JOIN groups g ON g.session = found.session
    GROUP BY g.session ORDER BY max(found.seq) DESC, g.created_ms DESC LIMIT $3";

/// Groups after ($3, $4), at most $5, oldest first. For $1 and $2 see [`statement`].
pub(crate) fn page_statement() -> String {
    statement(PAGE)
}

/// The $3 groups with the most recent activity among the last $4 events. For $1 and $2 see [`statement`].
pub(crate) fn recent_statement() -> String {
    statement(RECENT)
}

/// `listed` selects the groups; the statement returns one row for each status in each of them. $1 is the length of
/// the first prompt, $2 the characters that count as blank. PostgreSQL's text cannot hold NUL, which a body contains
/// in escaped form only, so it is replaced before unescaping.
fn statement(listed: &str) -> String {
    format!(
        "WITH listed AS MATERIALIZED ({listed})
        SELECT p.session, p.created_ms,
            left(CASE WHEN btrim(coalesce(f.spec ->> 'description', ''), $2) = ''
                    OR f.spec ->> 'role' IN ({PROMPTED_ROLES}) THEN f.spec ->> 'title'
                ELSE f.spec ->> 'description' END, $1),
            l.status, c.status, c.tasks, c.updated_ms
        FROM listed p
        CROSS JOIN LATERAL (SELECT replace(body, '\\u0000', '\\ufffd')::json -> 'spec' AS spec FROM tasks
            WHERE session = p.session ORDER BY created_ms, id LIMIT 1) f
        CROSS JOIN LATERAL (SELECT status FROM tasks WHERE session = p.session
            ORDER BY updated_ms DESC, id DESC LIMIT 1) l
        CROSS JOIN LATERAL (SELECT status, count(*) AS tasks, max(updated_ms) AS updated_ms FROM tasks
            WHERE session = p.session GROUP BY status) c
        ORDER BY p.created_ms, p.session"
    )
}

/// The first `limit` groups; `rows` may hold one more.
pub(crate) fn page(rows: &[Row], limit: u32) -> Result<Page<TaskGroup>, StoreError> {
    let mut items = groups(rows)?;
    let is_more = items.len() > limit as usize;
    items.truncate(limit as usize);
    let next = items
        .last()
        .filter(|_| is_more)
        .map(|group| Cursor { at: group.created_at, key: group.session.to_string() });
    Ok(Page { items, next })
}

pub(crate) fn groups(rows: &[Row]) -> Result<Vec<TaskGroup>, StoreError> {
    let mut groups: Vec<TaskGroup> = Vec::new();
    for row in rows {
        if groups.last().is_none_or(|group| group.session.as_str() != row.get::<_, &str>(0)) {
            groups.push(empty_group(row)?);
        }
        if let Some(group) = groups.last_mut() {
            let count = version(row, 5);
            group.task_count += count;
            group.status_counts.insert(status(row.get(4))?, count);
            group.latest_updated_at = group.latest_updated_at.max(timestamp(row, 6));
        }
    }
    Ok(groups)
}

fn empty_group(row: &Row) -> Result<TaskGroup, StoreError> {
    Ok(TaskGroup {
        session: key(RecordKind::Session, row.get(0))?,
        task_count: 0,
        status_counts: BTreeMap::new(),
        latest_status: status(row.get(3))?,
        first_prompt: row.get::<_, Option<String>>(2).unwrap_or_default(),
        created_at: timestamp(row, 1),
        latest_updated_at: timestamp(row, 1),
    })
}

fn status(text: &str) -> Result<TaskStatus, StoreError> {
    parse_status(text).ok_or_else(|| bad_row(RecordKind::Task, text, &"unknown status"))
}
