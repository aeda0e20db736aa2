//! Ready tasks and dependencies.

use baton_core::base::id::TaskId;
use baton_core::records::change::Versioned;
use baton_core::task::Task;
use rusqlite::{Connection, OptionalExtension, Params};

use crate::model::query::TaskDependency;
use crate::model::record_kind::RecordKind;
use crate::sqlite::fault::SqliteFault;
use crate::sqlite::rows::{self, bad_row, task_id, task_key};

/// Reads the first tasks of each role and merges them. There are few roles, and each is one index lookup.
pub(crate) fn ready(conn: &Connection, limit: u32) -> Result<Vec<Versioned<Task>>, SqliteFault> {
    let sql =
        "SELECT rank, created_ms, task FROM ready WHERE role = ?1 ORDER BY rank, created_ms, task LIMIT ?2";
    let mut first_of_role = conn.prepare_cached(sql)?;
    let mut found: Vec<(i64, i64, i64)> = Vec::new();
    let mut role = String::new();
    while let Some(next) = role_after(conn, &role)? {
        let rows =
            first_of_role.query_map((&next, limit), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        for row in rows {
            found.push(row?);
        }
        role = next;
    }
    found.sort_unstable();
    found.truncate(limit as usize);
    let task = |id| rows::task(conn, id)?.ok_or_else(|| bad_row(RecordKind::Task, id, "it is gone").into());
    found.into_iter().map(|(_, _, id)| task(id)).collect()
}

fn role_after(conn: &Connection, role: &str) -> Result<Option<String>, SqliteFault> {
    let sql = "SELECT role FROM ready WHERE role > ?1 ORDER BY role LIMIT 1";
    Ok(conn.prepare_cached(sql)?.query_row([role], |row| row.get(0)).optional()?)
}

pub(crate) fn ready_count(conn: &Connection) -> Result<u64, SqliteFault> {
    let count: i64 = conn.prepare_cached("SELECT ready FROM counters")?.query_row([], |row| row.get(0))?;
    Ok(u64::try_from(count).unwrap_or(0))
}

/// Ids are stored as numbers, so a common prefix is a range.
pub(crate) fn tasks_by_prefix(
    conn: &Connection,
    prefix: &str,
    limit: u32,
) -> Result<Vec<TaskId>, SqliteFault> {
    let Some((first, last)) = id_range(prefix) else { return Ok(Vec::new()) };
    let mut statement =
        conn.prepare_cached("SELECT id FROM tasks WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT ?3")?;
    let mut rows = statement.query((first, last, limit))?;
    let mut ids = Vec::new();
    while let Some(row) = rows.next()? {
        ids.push(task_id(row.get(0)?)?);
    }
    Ok(ids)
}

fn id_range(prefix: &str) -> Option<(u32, u32)> {
    const DIGITS: usize = 8;
    if TaskId::PREFIX.starts_with(prefix) {
        return Some((0, u32::MAX));
    }
    let digits = prefix.strip_prefix(TaskId::PREFIX)?;
    let is_hex = digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if !is_hex || digits.len() > DIGITS {
        return None;
    }
    let bound = |filler: &str| {
        u32::from_str_radix(&format!("{digits}{}", filler.repeat(DIGITS - digits.len())), 16).ok()
    };
    Some((bound("0")?, bound("f")?))
}

pub(crate) fn dependencies(conn: &Connection, task: TaskId) -> Result<Vec<TaskDependency>, SqliteFault> {
    let sql = "SELECT task, blocker, is_met FROM edges WHERE task = ?1 ORDER BY blocker";
    edges(conn, sql, [task_key(task)])
}

pub(crate) fn dependents(
    conn: &Connection,
    task: TaskId,
    after: Option<TaskId>,
    limit: u32,
) -> Result<Vec<TaskDependency>, SqliteFault> {
    let sql =
        "SELECT task, blocker, is_met FROM edges WHERE blocker = ?1 AND task > ?2 ORDER BY task LIMIT ?3";
    edges(conn, sql, (task_key(task), after.map_or(-1, task_key), limit))
}

pub(crate) fn edges(
    conn: &Connection,
    sql: &str,
    params: impl Params,
) -> Result<Vec<TaskDependency>, SqliteFault> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    let mut edges = Vec::new();
    while let Some(row) = rows.next()? {
        edges.push(TaskDependency {
            task: task_id(row.get(0)?)?,
            on: task_id(row.get(1)?)?,
            is_met: row.get(2)?,
        });
    }
    Ok(edges)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_a_range_of_numbers() {
        assert_eq!(id_range(""), Some((0, u32::MAX)));
        assert_eq!(id_range("TASK-"), Some((0, u32::MAX)));
        assert_eq!(id_range("TASK-9a"), Some((0x9a00_0000, 0x9aff_ffff)));
        assert_eq!(id_range("TASK-9a69e916"), Some((0x9a69_e916, 0x9a69_e916)));
        for no_task in ["TASK-9A", "TASK-9a69e9160", "PROJ-", "9a", "TASK-+1"] {
            assert_eq!(id_range(no_task), None, "{no_task}");
        }
    }
}
