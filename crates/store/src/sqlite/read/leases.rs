//! Reading leases.

use baton_core::base::time::Timestamp;
use rusqlite::{Connection, Params};

use crate::model::lease::Lease;
use crate::model::record_kind::RecordKind;
use crate::sqlite::fault::SqliteFault;
use crate::sqlite::rows::{attempt_id, name, share, task_id};

pub(crate) fn all(conn: &Connection) -> Result<Vec<Lease>, SqliteFault> {
    list(
        conn,
        "SELECT attempt, task, worker, role, agent, expires_ms, project, person FROM leases
            ORDER BY expires_ms, attempt",
        [],
    )
}

/// There are as many leases as running agents, so a scan is cheap.
pub(crate) fn expired(conn: &Connection, now: Timestamp, limit: u32) -> Result<Vec<Lease>, SqliteFault> {
    let sql = "SELECT attempt, task, worker, role, agent, expires_ms, project, person FROM leases
        WHERE expires_ms <= ?1 ORDER BY expires_ms, attempt LIMIT ?2";
    list(conn, sql, (now.ms(), limit))
}

fn list(conn: &Connection, sql: &str, params: impl Params) -> Result<Vec<Lease>, SqliteFault> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    let mut leases = Vec::new();
    while let Some(row) = rows.next()? {
        let person: Option<String> = row.get(7)?;
        leases.push(Lease {
            attempt: attempt_id(row.get(0)?),
            task: task_id(row.get(1)?)?,
            worker: row.get(2)?,
            role: name(row.get_ref(3)?.as_str(), RecordKind::Lease)?,
            agent: name(row.get_ref(4)?.as_str(), RecordKind::Lease)?,
            share: share(row.get(6)?, person.as_deref())?,
            expires_at: Timestamp::from_ms(row.get(5)?),
        });
    }
    Ok(leases)
}
