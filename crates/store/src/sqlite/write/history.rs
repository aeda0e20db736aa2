//! Removing what is done with: effects that were carried out, and old events.

use baton_core::id::EffectId;

use crate::sqlite::fault::Fault;
use crate::sqlite::transaction::Batch;

pub(crate) fn finish_effects(batch: &mut Batch<'_>, ids: &[EffectId]) -> Result<(), Fault> {
    let statement = batch.statement("DELETE FROM outbox WHERE id = ?1")?;
    for id in ids {
        statement.execute([id.bits().cast_signed()])?;
    }
    Ok(())
}

/// Returns how many were still there. Numbers are never given out again: they come from the counters.
pub(crate) fn forget(batch: &mut Batch<'_>, seqs: &[i64]) -> Result<u64, Fault> {
    let statement = batch.statement("DELETE FROM events WHERE seq = ?1")?;
    let mut removed = 0;
    for seq in seqs {
        removed += statement.execute([seq])?;
    }
    Ok(removed as u64)
}
