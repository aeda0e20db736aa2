//! Leases: renewed by their workers, read by whoever looks after lost ones.

use baton_core::base::id::AttemptId;
use baton_core::base::text::{AgentName, NonBlank, Role};
use baton_core::base::time::Timestamp;
use rusqlite::{Connection, Params};

use super::batch::Batch;
use super::fault::Fault;
use super::rows::{attempt_id, name, of_attempt, of_task, task_id};
use super::sharing;
use crate::lease::Lease;

pub fn begin(batch: &mut Batch<'_>, lease: &Lease) -> Result<(), Fault> {
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
pub fn end(batch: &mut Batch<'_>, attempt: i64) -> Result<(), Fault> {
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
pub fn renew(
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

pub fn all(conn: &Connection) -> Result<Vec<Lease>, Fault> {
    list(
        conn,
        "SELECT attempt, task, worker, role, agent, expires_ms, project, person FROM leases
            ORDER BY expires_ms, attempt",
        [],
    )
}

/// There are only ever as many leases as there are agents at work, so they are looked at one by one.
pub fn expired(conn: &Connection, now: Timestamp, limit: u32) -> Result<Vec<Lease>, Fault> {
    let sql = "SELECT attempt, task, worker, role, agent, expires_ms, project, person FROM leases
        WHERE expires_ms <= ?1 ORDER BY expires_ms, attempt LIMIT ?2";
    list(conn, sql, (now.ms(), limit))
}

fn list(conn: &Connection, sql: &str, params: impl Params) -> Result<Vec<Lease>, Fault> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    let mut leases = Vec::new();
    while let Some(row) = rows.next()? {
        let person: Option<String> = row.get(7)?;
        leases.push(Lease {
            attempt: attempt_id(row.get(0)?),
            task: task_id(row.get(1)?)?,
            worker: row.get(2)?,
            role: name(row.get_ref(3)?.as_str(), "lease")?,
            agent: name(row.get_ref(4)?.as_str(), "lease")?,
            share: sharing::share(row.get(6)?, person.as_deref())?,
            expires_at: Timestamp::from_ms(row.get(5)?),
        });
    }
    Ok(leases)
}
