//! Events and effects.

use baton_core::base::id::EffectId;
use rusqlite::{Connection, Params};

use crate::model::event::StoredEvent;
use crate::model::outbox::PendingEffect;
use crate::model::query::EventRetention;
use crate::model::record_kind::RecordKind;
use crate::sqlite::fault::SqliteFault;
use crate::sqlite::rows::body;

pub(crate) fn events_after(conn: &Connection, seq: u64, limit: u32) -> Result<Vec<StoredEvent>, SqliteFault> {
    let sql = "SELECT seq, body FROM events WHERE seq > ?1 ORDER BY seq LIMIT ?2";
    events(conn, sql, (stored_seq(seq), limit))
}

pub(crate) fn task_events(
    conn: &Connection,
    task: i64,
    after: u64,
    limit: u32,
) -> Result<Vec<StoredEvent>, SqliteFault> {
    let sql = "SELECT seq, body FROM events WHERE task = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
    events(conn, sql, (task, stored_seq(after), limit))
}

fn events(conn: &Connection, sql: &str, params: impl Params) -> Result<Vec<StoredEvent>, SqliteFault> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    let mut events = Vec::new();
    while let Some(row) = rows.next()? {
        let seq: i64 = row.get(0)?;
        events.push(StoredEvent {
            seq: seq.cast_unsigned(),
            event: body(row.get_ref(1)?, RecordKind::Event, seq)?,
        });
    }
    Ok(events)
}

/// A number too large to store is greater than that of every event.
fn stored_seq(seq: u64) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}

pub(crate) fn last_seq(conn: &Connection) -> rusqlite::Result<u64> {
    conn.prepare_cached("SELECT last_seq FROM counters")?
        .query_row([], |row| row.get::<_, i64>(0).map(i64::cast_unsigned))
}

pub(crate) fn pending_effects(
    conn: &Connection,
    after: Option<EffectId>,
    limit: u32,
) -> Result<Vec<PendingEffect>, SqliteFault> {
    let sql = "SELECT id, body FROM outbox WHERE id > ?1 ORDER BY id LIMIT ?2";
    let mut statement = conn.prepare_cached(sql)?;
    let after = after.map_or(0, |id| id.bits().cast_signed());
    let mut rows = statement.query((after, limit))?;
    let mut effects = Vec::new();
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        let effect = body(row.get_ref(1)?, RecordKind::Effect, id)?;
        effects.push(PendingEffect { id: EffectId::from_bits(id.cast_unsigned()), effect });
    }
    Ok(effects)
}

/// The oldest events that may be pruned. A reader finds them, since the search may take longer than the writer
/// should; finished tasks stay finished, so the result is still valid when the writer deletes them.
pub(crate) fn prunable_events(
    conn: &Connection,
    retention: &EventRetention,
) -> Result<Vec<i64>, SqliteFault> {
    let sql = "SELECT seq FROM events LEFT JOIN tasks ON tasks.id = events.task
        WHERE at_ms < ?1 AND (events.task IS NULL OR tasks.is_finished = 1) ORDER BY seq LIMIT ?2";
    let mut statement = conn.prepare_cached(sql)?;
    let found = statement.query_map((retention.events_before.ms(), retention.rows_max), |row| row.get(0))?;
    Ok(found.collect::<Result<_, _>>()?)
}
