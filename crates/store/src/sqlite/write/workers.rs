//! Worker heartbeats and named locks.

use baton_core::schedule::worker::Worker;

use crate::columns;
use crate::model::record_kind::RecordKind;
use crate::sqlite::fault::SqliteFault;
use crate::sqlite::transaction::Transaction;

pub(crate) fn beat(tx: &mut Transaction<'_>, worker: &Worker) -> Result<(), SqliteFault> {
    let sql = "INSERT INTO workers (name, seen_ms, body) VALUES (?1, ?2, ?3)
        ON CONFLICT (name) DO UPDATE SET seen_ms = excluded.seen_ms, body = excluded.body";
    tx.run(sql, (&worker.name, tx.now.ms(), columns::body(RecordKind::Worker, worker)?))?;
    Ok(())
}

pub(crate) fn forget(tx: &mut Transaction<'_>, name: &str) -> Result<(), SqliteFault> {
    tx.run("DELETE FROM workers WHERE name = ?1", [name])?;
    Ok(())
}

/// A lock is free if it was released or has expired.
pub(crate) fn lock(
    tx: &mut Transaction<'_>,
    name: &str,
    holder: &str,
    lock_ms: i64,
) -> Result<bool, SqliteFault> {
    let sql = "INSERT INTO locks (name, holder, expires_ms) VALUES (?1, ?2, ?3)
        ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_ms = excluded.expires_ms
        WHERE locks.holder = excluded.holder OR locks.expires_ms <= ?4";
    let (now, until) = (tx.now.ms(), tx.now.plus_ms(lock_ms).ms());
    let statement = tx.statement(sql)?;
    Ok(statement.execute((name, holder, until, now))? == 1)
}

pub(crate) fn unlock(tx: &mut Transaction<'_>, name: &str, holder: &str) -> Result<(), SqliteFault> {
    tx.run("DELETE FROM locks WHERE name = ?1 AND holder = ?2", (name, holder))?;
    Ok(())
}
