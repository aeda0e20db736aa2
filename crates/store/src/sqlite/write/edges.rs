//! Dependencies. The blocker is read again in the transaction that adds the edge, so that one which is done by then
//! blocks nothing.

use std::collections::{BTreeMap, BTreeSet};

use baton_core::base::id::TaskId;
use baton_core::records::change::{EdgeChange, WriteGuard};
use rusqlite::{OptionalExtension, Row};

use crate::columns::TaskColumns;
use crate::model::commit::Conflict;
use crate::model::record_kind::RecordKind;
use crate::sqlite::fault::SqliteFault;
use crate::sqlite::rows::{task_id, task_key};
use crate::sqlite::transaction::{ReadyKey, Transaction};

pub(crate) fn apply(tx: &mut Transaction<'_>, edge: &EdgeChange) -> Result<(), SqliteFault> {
    match edge {
        EdgeChange::Add { task, on } => add(tx, *task, *on, &mut BTreeSet::new()),
        EdgeChange::Remove { task, on } => remove(tx, task_key(*task), *on),
        EdgeChange::Rewire { from, to } => rewire(tx, *from, to),
    }
}

/// `seen` prevents following a loop of replacements.
fn add(
    tx: &mut Transaction<'_>,
    task: TaskId,
    on: TaskId,
    seen: &mut BTreeSet<TaskId>,
) -> Result<(), SqliteFault> {
    if task == on {
        return Err(Conflict::Cycle { path: vec![task, task] }.into());
    }
    if !seen.insert(on) {
        return Ok(());
    }
    let sql = "SELECT is_done, is_replaced FROM tasks WHERE id = ?1";
    let found: Option<(bool, bool)> =
        tx.statement(sql)?.query_row([task_key(on)], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let Some((is_done, is_replaced)) = found else {
        return Err(Conflict::UnknownDependency { task, on }.into());
    };
    if is_replaced {
        let Some(replaced) = tx.task(task_key(on))? else { return Ok(()) };
        for by in TaskColumns::new(&replaced.value).replaced_by {
            add(tx, task, by, seen)?;
        }
        return Ok(());
    }
    reject_cycle(tx, task, on)?;
    let sql = "INSERT OR IGNORE INTO edges (task, blocker, is_met) VALUES (?1, ?2, ?3)";
    let is_new = tx.run(sql, (task_key(task), task_key(on), is_done))? > 0;
    if is_new && !is_done { add_blocker(tx, task) } else { Ok(()) }
}

/// New edges are added before old ones are removed, so that no dependent becomes ready in between.
fn rewire(tx: &mut Transaction<'_>, from: TaskId, to: &[TaskId]) -> Result<(), SqliteFault> {
    for dependent in dependents(tx, task_key(from))? {
        for on in to {
            add(tx, task_id(dependent)?, *on, &mut BTreeSet::new())?;
        }
        remove(tx, dependent, from)?;
    }
    Ok(())
}

fn remove(tx: &mut Transaction<'_>, dependent: i64, from: TaskId) -> Result<(), SqliteFault> {
    let sql = "DELETE FROM edges WHERE task = ?1 AND blocker = ?2 RETURNING is_met";
    let was_met: Option<bool> =
        tx.statement(sql)?.query_row((dependent, task_key(from)), |row| row.get(0)).optional()?;
    if was_met == Some(false) { remove_blocker(tx, dependent) } else { Ok(()) }
}

fn dependents(tx: &mut Transaction<'_>, blocker: i64) -> Result<Vec<i64>, SqliteFault> {
    let statement = tx.statement("SELECT task FROM edges WHERE blocker = ?1 ORDER BY task")?;
    let found = statement.query_map([blocker], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(found)
}

fn add_blocker(tx: &mut Transaction<'_>, task: TaskId) -> Result<(), SqliteFault> {
    let sql = "UPDATE tasks SET open_blockers = open_blockers + 1 WHERE id = ?1
        RETURNING open_blockers, is_claimable, role, rank, created_ms";
    let after = tx
        .statement(sql)?
        .query_row([task_key(task)], |row| blockers_after(row, task_key(task)))
        .optional()?;
    match after {
        Some((1, true, key)) => tx.set_ready(&key, false),
        Some(_) => Ok(()),
        // The caller read or created the task it adds an edge to.
        None => {
            let (kind, key) = (RecordKind::Task, task.to_string());
            Err(Conflict::Moved { kind, key, expected: WriteGuard::Owned, found: None }.into())
        }
    }
}

pub(crate) fn remove_blocker(tx: &mut Transaction<'_>, task: i64) -> Result<(), SqliteFault> {
    let sql = "UPDATE tasks SET open_blockers = open_blockers - 1 WHERE id = ?1
        RETURNING open_blockers, is_claimable, role, rank, created_ms";
    match tx.statement(sql)?.query_row([task], |row| blockers_after(row, task)).optional()? {
        Some((0, true, key)) => tx.set_ready(&key, true),
        Some(_) | None => Ok(()),
    }
}

fn blockers_after(row: &Row<'_>, task: i64) -> rusqlite::Result<(i64, bool, ReadyKey)> {
    let key = ReadyKey { role: row.get(2)?, rank: row.get(3)?, created_ms: row.get(4)?, task };
    Ok((row.get(0)?, row.get(1)?, key))
}

/// Fails if `on` transitively depends on `task`. A task without dependents cannot be part of a cycle, which is true
/// of every new task, so the usual cost is one index lookup.
fn reject_cycle(tx: &mut Transaction<'_>, task: TaskId, on: TaskId) -> Result<(), SqliteFault> {
    let sql = "SELECT 1 FROM edges WHERE blocker = ?1 LIMIT 1";
    if !tx.statement(sql)?.exists([task_key(task)])? {
        return Ok(());
    }
    let (start, goal) = (task_key(on), task_key(task));
    let mut came_from = BTreeMap::from([(start, None)]);
    let mut next = vec![start];
    let blockers = tx.statement("SELECT blocker FROM edges WHERE task = ?1")?;
    while let Some(here) = next.pop() {
        if here == goal {
            return Err(Conflict::Cycle { path: path(&came_from, task, here)? }.into());
        }
        let found: Vec<i64> = blockers.query_map([here], |row| row.get(0))?.collect::<Result<_, _>>()?;
        for blocker in found {
            came_from.entry(blocker).or_insert_with(|| {
                next.push(blocker);
                Some(here)
            });
        }
    }
    Ok(())
}

fn path(came_from: &BTreeMap<i64, Option<i64>>, task: TaskId, end: i64) -> Result<Vec<TaskId>, SqliteFault> {
    let mut back = vec![task_id(end)?];
    let mut here = end;
    while let Some(Some(before)) = came_from.get(&here) {
        back.push(task_id(*before)?);
        here = *before;
    }
    back.push(task);
    back.reverse();
    Ok(back)
}
