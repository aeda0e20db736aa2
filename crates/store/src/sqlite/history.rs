//! The event log and the outbox, and what may be forgotten of the log.

use baton_core::base::id::EffectId;
use rusqlite::{Connection, Params};

use super::batch::Batch;
use super::fault::Fault;
use super::rows::body;
use crate::outbox::PendingEffect;
use crate::query::Retention;
use crate::recorded::Recorded;

pub fn events_after(conn: &Connection, seq: u64, limit: u32) -> Result<Vec<Recorded>, Fault> {
    let sql = "SELECT seq, body FROM events WHERE seq > ?1 ORDER BY seq LIMIT ?2";
    events(conn, sql, (as_stored(seq), limit))
}

pub fn task_events(conn: &Connection, task: i64, after: u64, limit: u32) -> Result<Vec<Recorded>, Fault> {
    let sql = "SELECT seq, body FROM events WHERE task = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
    events(conn, sql, (task, as_stored(after), limit))
}

fn events(conn: &Connection, sql: &str, params: impl Params) -> Result<Vec<Recorded>, Fault> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    let mut events = Vec::new();
    while let Some(row) = rows.next()? {
        let seq: i64 = row.get(0)?;
        events.push(Recorded { seq: seq.cast_unsigned(), event: body(row.get_ref(1)?, "event", seq)? });
    }
    Ok(events)
}

/// A number beyond what can be stored is beyond every event.
fn as_stored(seq: u64) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}

pub fn last_seq(conn: &Connection) -> rusqlite::Result<u64> {
    conn.prepare_cached("SELECT last_seq FROM counters")?
        .query_row([], |row| row.get::<_, i64>(0).map(i64::cast_unsigned))
}

pub fn pending_effects(
    conn: &Connection,
    after: Option<EffectId>,
    limit: u32,
) -> Result<Vec<PendingEffect>, Fault> {
    let sql = "SELECT id, body FROM outbox WHERE id > ?1 ORDER BY id LIMIT ?2";
    let mut statement = conn.prepare_cached(sql)?;
    let after = after.map_or(0, |id| id.bits().cast_signed());
    let mut rows = statement.query((after, limit))?;
    let mut effects = Vec::new();
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        let effect = body(row.get_ref(1)?, "effect", id)?;
        effects.push(PendingEffect { id: EffectId::from_bits(id.cast_unsigned()), effect });
    }
    Ok(effects)
}

pub fn finish_effects(batch: &mut Batch<'_>, ids: &[EffectId]) -> Result<(), Fault> {
    let statement = batch.statement("DELETE FROM outbox WHERE id = ?1")?;
    for id in ids {
        statement.execute([id.bits().cast_signed()])?;
    }
    Ok(())
}

/// The oldest events that may go. Found by a reader, since looking for them may take longer than a writer
/// should; a finished task does not become unfinished, so what was found may still go when it is removed.
pub fn forgettable(conn: &Connection, retention: &Retention) -> Result<Vec<i64>, Fault> {
    let sql = "SELECT seq FROM events LEFT JOIN tasks ON tasks.id = events.task
        WHERE at_ms < ?1 AND (events.task IS NULL OR tasks.is_finished = 1) ORDER BY seq LIMIT ?2";
    let mut statement = conn.prepare_cached(sql)?;
    let found = statement.query_map((retention.events_before.ms(), retention.rows_max), |row| row.get(0))?;
    Ok(found.collect::<Result<_, _>>()?)
}

/// Returns how many were still there. Numbers are never given out again: they come from the counters.
pub fn forget(batch: &mut Batch<'_>, seqs: &[i64]) -> Result<u64, Fault> {
    let statement = batch.statement("DELETE FROM events WHERE seq = ?1")?;
    let mut removed = 0;
    for seq in seqs {
        removed += statement.execute([seq])?;
    }
    Ok(removed as u64)
}
