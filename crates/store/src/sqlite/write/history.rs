//! Deleting finished effects and old events.

use baton_core::base::id::EffectId;

use crate::sqlite::fault::SqliteFault;
use crate::sqlite::transaction::Transaction;

pub(crate) fn finish_effects(tx: &mut Transaction<'_>, ids: &[EffectId]) -> Result<(), SqliteFault> {
    let statement = tx.statement("DELETE FROM outbox WHERE id = ?1")?;
    for id in ids {
        statement.execute([id.bits().cast_signed()])?;
    }
    Ok(())
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
