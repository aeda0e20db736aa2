//! Task groups. A page is one statement.

use std::collections::BTreeMap;

use baton_core::base::time::Timestamp;
use rusqlite::{Connection, Params, Row};

use crate::columns::{PROMPTED_ROLES, WHITESPACE, parse_status};
use crate::model::query::{Cursor, FIRST_PROMPT_CHARS_MAX, Page, TaskGroup};
use crate::model::record_kind::RecordKind;
use crate::sqlite::fault::SqliteFault;
use crate::sqlite::rows::{self, bad_row};

/// How many of the latest events are searched for active groups.
const EVENTS_LOOKED_AT: u32 = 2_000;

/// Oldest first; the age of a group is that of its first task.
pub(crate) fn task_groups(
    conn: &Connection,
    cursor: Option<&Cursor>,
    limit: u32,
) -> Result<Page<TaskGroup>, SqliteFault> {
    let (after_ms, after) = cursor.map_or((-1, ""), |cursor| (cursor.at.ms(), cursor.key.as_str()));
    let listed = "SELECT session, created_ms, first_task FROM task_groups
        WHERE (created_ms, session) > (?3, ?4) ORDER BY created_ms, session LIMIT ?5";
    let params = (FIRST_PROMPT_CHARS_MAX, WHITESPACE, after_ms, after, i64::from(limit) + 1);
    let mut items = groups(conn, listed, params)?;
    let is_more = items.len() > limit as usize;
    items.truncate(limit as usize);
    let next = items
        .last()
        .filter(|_| is_more)
        .map(|group| Cursor { at: group.created_at, key: group.session.to_string() });
    Ok(Page { items, next })
}

pub(crate) fn recent_task_groups(conn: &Connection, limit: u32) -> Result<Vec<TaskGroup>, SqliteFault> {
    let listed = "SELECT g.session, g.created_ms, g.first_task FROM (
            SELECT t.session, e.seq FROM (SELECT seq, task FROM events ORDER BY seq DESC LIMIT ?4) e
            CROSS JOIN tasks t ON t.id = e.task
            UNION ALL SELECT session, -1 FROM
                (SELECT session FROM task_groups ORDER BY created_ms DESC, session DESC LIMIT ?3)
        ) found CROSS JOIN task_groups g ON g.session = found.session
        GROUP BY g.session ORDER BY max(found.seq) DESC, g.created_ms DESC LIMIT ?3";
    let params = (FIRST_PROMPT_CHARS_MAX, WHITESPACE, limit, EVENTS_LOOKED_AT);
    let mut items = groups(conn, listed, params)?;
    items.sort_by_key(|group| std::cmp::Reverse(group.latest_updated_at));
    Ok(items)
}

/// `listed` selects the groups; the statement returns one row for each status in each of them. SQLite's text
/// functions stop at NUL, which a body contains in escaped form only, so it is replaced before unescaping.
fn groups(conn: &Connection, listed: &str, params: impl Params) -> Result<Vec<TaskGroup>, SqliteFault> {
    let sql = format!(
        "WITH listed AS MATERIALIZED ({listed}), page AS MATERIALIZED (
            SELECT l.session, l.created_ms,
                CASE WHEN trim(coalesce(f.body ->> '$.spec.description', ''), ?2) = ''
                        OR f.body ->> '$.spec.role' IN ({PROMPTED_ROLES}) THEN substr(f.title, 1, ?1)
                    ELSE substr(f.body ->> '$.spec.description', 1, ?1) END AS prompt,
                (SELECT status FROM tasks WHERE session = l.session ORDER BY updated_ms DESC, id DESC LIMIT 1) AS latest
            FROM listed l LEFT JOIN (SELECT id, title, replace(body, '\\u0000', '\\ufffd') AS body FROM tasks) f
                ON f.id = l.first_task
        )
        SELECT p.session, p.created_ms, p.prompt, p.latest, t.status, count(*), max(t.updated_ms)
        FROM page p CROSS JOIN tasks t ON t.session = p.session
        GROUP BY p.session, t.status ORDER BY p.created_ms, p.session"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query(params)?;
    let mut groups: Vec<TaskGroup> = Vec::new();
    while let Some(row) = rows.next()? {
        let is_same = groups.last().is_some_and(|group| {
            row.get_ref(0).is_ok_and(|name| name.as_str() == Ok(group.session.as_str()))
        });
        if !is_same {
            groups.push(empty_group(row)?);
        }
        if let Some(group) = groups.last_mut() {
            let count = row.get::<_, i64>(5)?.cast_unsigned();
            group.task_count += count;
            group.status_counts.insert(status(row, 4)?, count);
            group.latest_updated_at = group.latest_updated_at.max(Timestamp::from_ms(row.get(6)?));
        }
    }
    Ok(groups)
}

fn empty_group(row: &Row<'_>) -> Result<TaskGroup, SqliteFault> {
    let created_at = Timestamp::from_ms(row.get(1)?);
    let first_prompt: Option<String> = row.get(2)?;
    let session = rows::name(row.get_ref(0)?.as_str(), RecordKind::Session)?;
    Ok(TaskGroup {
        first_prompt: first_prompt
            .ok_or_else(|| bad_row(RecordKind::Session, &session, "its first task is gone"))?,
        session,
        task_count: 0,
        status_counts: BTreeMap::new(),
        latest_status: status(row, 3)?,
        created_at,
        latest_updated_at: created_at,
    })
}

fn status(row: &Row<'_>, column: usize) -> Result<baton_core::task::state::TaskStatus, SqliteFault> {
    let text: String = row.get(column)?;
    parse_status(&text).ok_or_else(|| bad_row(RecordKind::Task, text, "unknown status").into())
}
