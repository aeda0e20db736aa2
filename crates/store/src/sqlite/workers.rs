//! Who works here, and what only one of them may do at a time.

use baton_core::base::time::Timestamp;
use baton_core::schedule::worker::{Worker, WorkerSighting};
use rusqlite::Connection;

use super::batch::Batch;
use super::fault::Fault;
use super::rows::body;
use crate::columns;

pub fn beat(batch: &mut Batch<'_>, worker: &Worker) -> Result<(), Fault> {
    let sql = "INSERT INTO workers (name, seen_ms, body) VALUES (?1, ?2, ?3)
        ON CONFLICT (name) DO UPDATE SET seen_ms = excluded.seen_ms, body = excluded.body";
    batch.run(sql, (&worker.name, batch.now.ms(), columns::body("worker", worker)?))?;
    Ok(())
}

pub fn leave(batch: &mut Batch<'_>, name: &str) -> Result<(), Fault> {
    batch.run("DELETE FROM workers WHERE name = ?1", [name])?;
    Ok(())
}

pub fn all(conn: &Connection) -> Result<Vec<WorkerSighting>, Fault> {
    let mut statement = conn.prepare_cached("SELECT name, seen_ms, body FROM workers ORDER BY name")?;
    let mut rows = statement.query([])?;
    let mut workers = Vec::new();
    while let Some(row) = rows.next()? {
        let name: String = row.get(0)?;
        let worker = body(row.get_ref(2)?, "worker", name)?;
        workers.push(WorkerSighting { worker, seen_at: Timestamp::from_ms(row.get(1)?) });
    }
    Ok(workers)
}

/// A lock is free when its holder let it go or may not be waited for any longer.
pub fn lock(batch: &mut Batch<'_>, name: &str, holder: &str, lock_ms: i64) -> Result<bool, Fault> {
    let sql = "INSERT INTO locks (name, holder, expires_ms) VALUES (?1, ?2, ?3)
        ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_ms = excluded.expires_ms
        WHERE locks.holder = excluded.holder OR locks.expires_ms <= ?4";
    let (now, until) = (batch.now.ms(), batch.now.plus_ms(lock_ms).ms());
    let statement = batch.statement(sql)?;
    Ok(statement.execute((name, holder, until, now))? == 1)
}

pub fn unlock(batch: &mut Batch<'_>, name: &str, holder: &str) -> Result<(), Fault> {
    batch.run("DELETE FROM locks WHERE name = ?1 AND holder = ?2", (name, holder))?;
    Ok(())
}
