//! Leases: renewed by their workers, read by whoever looks after lost ones.

use baton_core::id::AttemptId;
use baton_core::text::{AgentName, NonBlank, Role};

use crate::model::lease::Lease;
use crate::sqlite::fault::Fault;
use crate::sqlite::rows::{name, of_attempt, of_task};
use crate::sqlite::transaction::Batch;

pub(crate) fn begin(batch: &mut Batch<'_>, lease: &Lease) -> Result<(), Fault> {
    let sql = "INSERT INTO leases (attempt, task, expires_ms, worker, role, agent, project, person)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let values = (
        of_attempt(lease.attempt),
        of_task(lease.task),
        lease.expires_at.ms(),
        &lease.worker,
        lease.role.as_str(),
        lease.agent.as_str(),
        lease.share.project.map(|project| i64::from(project.bits())),
        lease.share.person.as_ref().map(NonBlank::as_str),
    );
    batch.run(sql, values)?;
    batch.running()?.one_more(&lease.role, &lease.agent);
    Ok(())
}

/// The lease of a closed attempt goes with it. Read first and then deleted: `RETURNING` would have SQLite keep the row
/// in a table of its own for the moment, which takes longer than finding it twice.
pub(crate) fn end(batch: &mut Batch<'_>, attempt: i64) -> Result<(), Fault> {
    let Some((role, agent)) = taken_by(batch, attempt)? else { return Ok(()) };
    batch.run("DELETE FROM leases WHERE attempt = ?1", [attempt])?;
    batch.running()?.one_less(role, agent);
    Ok(())
}

fn taken_by(batch: &mut Batch<'_>, attempt: i64) -> Result<Option<(Role, AgentName)>, Fault> {
    let statement = batch.statement("SELECT role, agent FROM leases WHERE attempt = ?1")?;
    let mut rows = statement.query([attempt])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let role = name(row.get_ref(0)?.as_str(), "lease")?;
    Ok(Some((role, name(row.get_ref(1)?.as_str(), "lease")?)))
}

/// A lease that has run out but was taken back by nobody is still its worker's to renew.
pub(crate) fn renew(
    batch: &mut Batch<'_>,
    worker: &str,
    attempts: &[AttemptId],
    lease_ms: i64,
) -> Result<Vec<AttemptId>, Fault> {
    let expires_ms = batch.now.plus_ms(lease_ms).ms();
    let sql = "UPDATE leases SET expires_ms = ?3 WHERE attempt = ?1 AND worker = ?2";
    let statement = batch.statement(sql)?;
    let mut lost = Vec::new();
    for attempt in attempts {
        if statement.execute((of_attempt(*attempt), worker, expires_ms))? == 0 {
            lost.push(*attempt);
        }
    }
    Ok(lost)
}
