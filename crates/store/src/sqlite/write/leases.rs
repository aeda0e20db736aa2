//! Beginning, renewing and ending leases.

use baton_core::base::id::AttemptId;
use baton_core::base::text::{AgentName, NonBlank, Role};

use crate::model::lease::Lease;
use crate::model::record_kind::RecordKind;
use crate::sqlite::fault::SqliteFault;
use crate::sqlite::rows::{attempt_key, name, task_key};
use crate::sqlite::transaction::Transaction;

pub(crate) fn begin(tx: &mut Transaction<'_>, lease: &Lease) -> Result<(), SqliteFault> {
    let sql = "INSERT INTO leases (attempt, task, expires_ms, worker, role, agent, project, person)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    let values = (
        attempt_key(lease.attempt),
        task_key(lease.task),
        lease.expires_at.ms(),
        &lease.worker,
        lease.role.as_str(),
        lease.agent.as_str(),
        lease.share.project.map(|project| i64::from(project.bits())),
        lease.share.person.as_ref().map(NonBlank::as_str),
    );
    tx.run(sql, values)?;
    tx.running()?.increment(&lease.role, &lease.agent);
    Ok(())
}

/// Deletes the lease of a closed attempt. Reads first and then deletes: with `RETURNING` SQLite builds a temporary
/// table, which takes longer than two lookups.
pub(crate) fn end(tx: &mut Transaction<'_>, attempt: i64) -> Result<(), SqliteFault> {
    let Some((role, agent)) = role_and_agent(tx, attempt)? else { return Ok(()) };
    tx.run("DELETE FROM leases WHERE attempt = ?1", [attempt])?;
    tx.running()?.decrement(role, agent);
    Ok(())
}

fn role_and_agent(tx: &mut Transaction<'_>, attempt: i64) -> Result<Option<(Role, AgentName)>, SqliteFault> {
    let statement = tx.statement("SELECT role, agent FROM leases WHERE attempt = ?1")?;
    let mut rows = statement.query([attempt])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let role = name(row.get_ref(0)?.as_str(), RecordKind::Lease)?;
    Ok(Some((role, name(row.get_ref(1)?.as_str(), RecordKind::Lease)?)))
}

/// A lease that expired but was not reclaimed can still be renewed by its worker.
pub(crate) fn renew(
    tx: &mut Transaction<'_>,
    worker: &str,
    attempts: &[AttemptId],
    lease_ms: i64,
) -> Result<Vec<AttemptId>, SqliteFault> {
    let expires_ms = tx.now.plus_ms(lease_ms).ms();
    let sql = "UPDATE leases SET expires_ms = ?3 WHERE attempt = ?1 AND worker = ?2";
    let statement = tx.statement(sql)?;
    let mut lost = Vec::new();
    for attempt in attempts {
        if statement.execute((attempt_key(*attempt), worker, expires_ms))? == 0 {
            lost.push(*attempt);
        }
    }
    Ok(lost)
}
