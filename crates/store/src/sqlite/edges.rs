//! Who waits on whom. A blocker is looked at again in the transaction that adds the edge, so that one which
//! is done by now blocks nobody.

use std::collections::{BTreeMap, BTreeSet};

use baton_core::base::id::TaskId;
use baton_core::records::change::{EdgeChange, WriteGuard};
use rusqlite::{OptionalExtension, Row};

use super::batch::{Batch, ReadyKey};
use super::fault::Fault;
use super::rows::{self, of_task, task_id};
use crate::columns::TaskColumns;
use crate::commit::Conflict;

pub fn apply(batch: &mut Batch<'_>, edge: &EdgeChange) -> Result<(), Fault> {
    match edge {
        EdgeChange::Add { task, on } => add(batch, *task, *on, &mut BTreeSet::new()),
        EdgeChange::Rewire { from, to } => rewire(batch, *from, to),
    }
}

/// `seen` keeps replacements of replacements from being followed for ever.
fn add(batch: &mut Batch<'_>, task: TaskId, on: TaskId, seen: &mut BTreeSet<TaskId>) -> Result<(), Fault> {
    if task == on {
        return Err(Conflict::Cycle { path: vec![task, task] }.into());
    }
    if !seen.insert(on) {
        return Ok(());
    }
    let sql = "SELECT is_done, is_replaced FROM tasks WHERE id = ?1";
    let found: Option<(bool, bool)> =
        batch.statement(sql)?.query_row([of_task(on)], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let Some((is_done, is_replaced)) = found else {
        return Err(Conflict::UnknownDependency { task, on }.into());
    };
    if is_replaced {
        let Some(replaced) = rows::task_in(batch, of_task(on))? else { return Ok(()) };
        for by in TaskColumns::of(&replaced.value).replaced_by {
            add(batch, task, by, seen)?;
        }
        return Ok(());
    }
    refuse_circle(batch, task, on)?;
    let sql = "INSERT OR IGNORE INTO edges (task, blocker, is_met) VALUES (?1, ?2, ?3)";
    let is_new = batch.run(sql, (of_task(task), of_task(on), is_done))? > 0;
    if is_new && !is_done { one_more_blocker(batch, task) } else { Ok(()) }
}

/// The new edges come before the old ones go, so that no dependent looks free in between.
fn rewire(batch: &mut Batch<'_>, from: TaskId, to: &[TaskId]) -> Result<(), Fault> {
    for dependent in dependents(batch, of_task(from))? {
        for on in to {
            add(batch, task_id(dependent)?, *on, &mut BTreeSet::new())?;
        }
        let sql = "DELETE FROM edges WHERE task = ?1 AND blocker = ?2 RETURNING is_met";
        let was_met: Option<bool> =
            batch.statement(sql)?.query_row((dependent, of_task(from)), |row| row.get(0)).optional()?;
        if was_met == Some(false) {
            one_blocker_less(batch, dependent)?;
        }
    }
    Ok(())
}

fn dependents(batch: &mut Batch<'_>, blocker: i64) -> Result<Vec<i64>, Fault> {
    let statement = batch.statement("SELECT task FROM edges WHERE blocker = ?1 ORDER BY task")?;
    let found = statement.query_map([blocker], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(found)
}

fn one_more_blocker(batch: &mut Batch<'_>, task: TaskId) -> Result<(), Fault> {
    let sql = "UPDATE tasks SET open_blockers = open_blockers + 1 WHERE id = ?1
        RETURNING open_blockers, is_claimable, role, rank, created_ms";
    let after =
        batch.statement(sql)?.query_row([of_task(task)], |row| after(row, of_task(task))).optional()?;
    match after {
        Some((1, true, key)) => batch.set_ready(&key, false),
        Some(_) => Ok(()),
        // Whoever adds an edge names a task it has read or made.
        None => {
            let (kind, key) = ("task", task.to_string());
            Err(Conflict::Moved { kind, key, expected: WriteGuard::Owned, found: None }.into())
        }
    }
}

pub fn one_blocker_less(batch: &mut Batch<'_>, task: i64) -> Result<(), Fault> {
    let sql = "UPDATE tasks SET open_blockers = open_blockers - 1 WHERE id = ?1
        RETURNING open_blockers, is_claimable, role, rank, created_ms";
    match batch.statement(sql)?.query_row([task], |row| after(row, task)).optional()? {
        Some((0, true, key)) => batch.set_ready(&key, true),
        Some(_) | None => Ok(()),
    }
}

fn after(row: &Row<'_>, task: i64) -> rusqlite::Result<(i64, bool, ReadyKey)> {
    let key = ReadyKey { role: row.get(2)?, rank: row.get(3)?, created_ms: row.get(4)?, task };
    Ok((row.get(0)?, row.get(1)?, key))
}

/// Whether `on` waits, however far off, on `task`. Nobody can while nobody waits on `task` at all, which is so
/// for every task that is just being made: then this costs one look into an index.
fn refuse_circle(batch: &mut Batch<'_>, task: TaskId, on: TaskId) -> Result<(), Fault> {
    let sql = "SELECT 1 FROM edges WHERE blocker = ?1 LIMIT 1";
    if !batch.statement(sql)?.exists([of_task(task)])? {
        return Ok(());
    }
    let (start, goal) = (of_task(on), of_task(task));
    let mut came_from = BTreeMap::from([(start, None)]);
    let mut next = vec![start];
    let blockers = batch.statement("SELECT blocker FROM edges WHERE task = ?1")?;
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

fn path(came_from: &BTreeMap<i64, Option<i64>>, task: TaskId, end: i64) -> Result<Vec<TaskId>, Fault> {
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
