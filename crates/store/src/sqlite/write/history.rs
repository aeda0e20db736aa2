//! Deleting finished effects, old events and old verdicts.

use baton_core::base::id::EffectId;

use crate::model::query::EventRetention;
use crate::sqlite::fault::SqliteFault;
use crate::sqlite::transaction::Transaction;

pub(crate) fn finish_effects(tx: &mut Transaction<'_>, ids: &[EffectId]) -> Result<(), SqliteFault> {
    let statement = tx.statement("DELETE FROM outbox WHERE id = ?1")?;
    for id in ids {
        statement.execute([id.bits().cast_signed()])?;
    }
    Ok(())
}

/// Where one is needed that is gone, the checks run again.
pub(crate) fn delete_verdicts(
    tx: &mut Transaction<'_>,
    retention: &EventRetention,
) -> Result<u64, SqliteFault> {
    let sql = "DELETE FROM verdicts WHERE key IN
        (SELECT key FROM verdicts WHERE checked_ms < ?1 ORDER BY checked_ms LIMIT ?2)";
    let removed = tx.statement(sql)?.execute((retention.events_before.ms(), retention.rows_max))?;
    Ok(removed as u64)
}

/// Returns how many still existed. Numbers are never reused: they come from the counters.
pub(crate) fn delete_events(tx: &mut Transaction<'_>, seqs: &[i64]) -> Result<u64, SqliteFault> {
    let statement = tx.statement("DELETE FROM events WHERE seq = ?1")?;
    let mut removed = 0;
    for seq in seqs {
        removed += statement.execute([seq])?;
    }
    Ok(removed as u64)
}
