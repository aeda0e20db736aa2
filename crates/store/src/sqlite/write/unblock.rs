//! Unblocking the dependents of a task that is done.
//!
//! A few are unblocked in the transaction that completes the task. Many are unblocked in steps, each a short
//! transaction between other commits. The progress is stored, so it continues after a crash.

use rusqlite::{Connection, OptionalExtension};

use crate::sqlite::fault::SqliteFault;
use crate::sqlite::transaction::Transaction;
use crate::sqlite::write::edges::remove_blocker;

/// The most dependents unblocked in the blocker's own commit; a few milliseconds of work.
const AT_ONCE_MAX: usize = 1_000;

/// Dependents unblocked per step, the longest another commit has to wait.
const STEP_MAX: usize = 250;

/// Called in the transaction in which `blocker` became done.
pub(crate) fn begin(tx: &mut Transaction<'_>, blocker: i64) -> Result<(), SqliteFault> {
    let waiting = dependents_after(tx, blocker, -1, AT_ONCE_MAX + 1)?;
    if waiting.len() > AT_ONCE_MAX {
        let sql = "INSERT OR IGNORE INTO unblocking (blocker, told_to) VALUES (?1, -1)";
        tx.run(sql, [blocker])?;
        return Ok(());
    }
    mark_met(tx, blocker, &waiting)
}

/// Unblocks some more dependents of one blocker. False if none are left.
pub(crate) fn step(tx: &mut Transaction<'_>) -> Result<bool, SqliteFault> {
    let sql = "SELECT blocker, told_to FROM unblocking LIMIT 1";
    let found: Option<(i64, i64)> =
        tx.statement(sql)?.query_row([], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let Some((blocker, told_to)) = found else { return Ok(false) };
    let waiting = dependents_after(tx, blocker, told_to, STEP_MAX)?;
    mark_met(tx, blocker, &waiting)?;
    match waiting.last() {
        Some(last) if waiting.len() == STEP_MAX => {
            let sql = "UPDATE unblocking SET told_to = ?2 WHERE blocker = ?1";
            tx.run(sql, (blocker, last))?;
        }
        Some(_) | None => {
            tx.run("DELETE FROM unblocking WHERE blocker = ?1", [blocker])?;
        }
    }
    Ok(true)
}

pub(crate) fn is_needed(conn: &Connection) -> rusqlite::Result<bool> {
    conn.prepare_cached("SELECT 1 FROM unblocking LIMIT 1")?.exists([])
}

/// In id order. An edge added meanwhile is met from the start, since its blocker is done.
fn dependents_after(
    tx: &mut Transaction<'_>,
    blocker: i64,
    after: i64,
    limit: usize,
) -> Result<Vec<i64>, SqliteFault> {
    let sql = "SELECT task FROM edges WHERE blocker = ?1 AND task > ?2 ORDER BY task LIMIT ?3";
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let statement = tx.statement(sql)?;
    let found = statement.query_map((blocker, after, limit), |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(found)
}

fn mark_met(tx: &mut Transaction<'_>, blocker: i64, waiting: &[i64]) -> Result<(), SqliteFault> {
    for task in waiting {
        // Counts an edge once, however often this runs.
        let sql = "UPDATE edges SET is_met = 1 WHERE task = ?1 AND blocker = ?2 AND is_met = 0";
        if tx.run(sql, (task, blocker))? > 0 {
            remove_blocker(tx, *task)?;
        }
    }
    Ok(())
}
