//! Candidates under limits per project or person, found share by share: one index step for each share with ready
//! work, none into those that are full.

use baton_core::base::id::ProjectId;
use baton_core::base::text::{AgentName, Role};
use baton_core::base::time::Timestamp;
use baton_core::schedule::{Candidate, Capacity, ClaimRank, Load, Share};
use rusqlite::{OptionalExtension, Row};

use crate::model::claim::ClaimRequest;
use crate::model::record_kind::RecordKind;
use crate::sqlite::fault::SqliteFault;
use crate::sqlite::rows::{bad_row, share, task_id};
use crate::sqlite::transaction::Transaction;

/// A share as `ready_shares` stores it.
type ShareKey = (i64, String);

/// Less than every project.
const BEFORE_ALL: i64 = -2;
const NO_PROJECT: i64 = -1;

/// The request's limits combined with those set on projects; `None` if there is no limit per project or person.
pub(crate) fn capacity(
    tx: &mut Transaction<'_>,
    request: &ClaimRequest,
) -> Result<Option<Capacity>, SqliteFault> {
    let own = tx.own_limits()?;
    if own.is_empty() && !request.capacity.is_shared() {
        return Ok(None);
    }
    let mut capacity = request.capacity.clone();
    capacity.per_project.own_max.extend(own);
    Ok(Some(capacity))
}

/// Adds what is running per share to `load`.
pub(crate) fn count(tx: &mut Transaction<'_>, load: &mut Load) -> Result<(), SqliteFault> {
    let sql = "SELECT project, person, count(*) FROM leases GROUP BY project, person";
    let mut rows = tx.statement(sql)?.query([])?;
    while let Some(row) = rows.next()? {
        let person: Option<String> = row.get(1)?;
        load.occupy(&share(row.get(0)?, person.as_deref())?, row.get(2)?);
    }
    Ok(())
}

/// The first tasks of each share that has room, up to `limit` each, and up to its room if `is_by_room`. Also returns
/// whether any share has more.
pub(crate) fn candidates(
    tx: &mut Transaction<'_>,
    request: &ClaimRequest,
    capacity: &Capacity,
    load: &Load,
    limit: usize,
    is_by_room: bool,
) -> Result<(Vec<Candidate>, bool), SqliteFault> {
    fill_share_index(tx)?;
    let (mut found, mut was_cut) = (Vec::new(), false);
    for (role, agent) in &request.agents {
        let mut key: ShareKey = (BEFORE_ALL, String::new());
        while let Some(next) = next_share(tx, role, &key)? {
            key = next;
            let share = share(Some(key.0).filter(|project| *project != NO_PROJECT), Some(&key.1))?;
            let room = usize::try_from(share.room(capacity, load)).unwrap_or(usize::MAX);
            if room > 0 {
                let wanted = if is_by_room { limit.min(room) } else { limit };
                let before = found.len();
                first_of(tx, (role, agent), &key, &share, wanted, &mut found)?;
                was_cut |= found.len() - before == wanted;
            }
        }
    }
    Ok((found, was_cut))
}

/// Fills `ready_shares` at the first claim under a limit; from then on every write to `ready` maintains it.
fn fill_share_index(tx: &mut Transaction<'_>) -> Result<(), SqliteFault> {
    if tx.counters.keeps_shares {
        return Ok(());
    }
    let sql = "INSERT INTO ready_shares (task, role, project, person, rank, created_ms)
        SELECT t.id, r.role, coalesce(t.project, -1), coalesce(t.person, ''), r.rank, r.created_ms
        FROM ready r JOIN tasks t ON t.id = r.task";
    tx.run(sql, [])?;
    tx.counters.keeps_shares = true;
    Ok(())
}

/// The next share of a role that has ready work.
fn next_share(
    tx: &mut Transaction<'_>,
    role: &Role,
    key: &ShareKey,
) -> Result<Option<ShareKey>, SqliteFault> {
    let sql = "SELECT project, person FROM ready_shares WHERE role = ?1 AND (project, person) > (?2, ?3)
        ORDER BY project, person LIMIT 1";
    let next = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    Ok(tx.statement(sql)?.query_row((role.as_str(), key.0, &key.1), next).optional()?)
}

fn first_of(
    tx: &mut Transaction<'_>,
    (role, agent): (&Role, &AgentName),
    key: &ShareKey,
    share: &Share,
    wanted: usize,
    found: &mut Vec<Candidate>,
) -> Result<(), SqliteFault> {
    let sql =
        "SELECT rank, created_ms, task FROM ready_shares WHERE role = ?1 AND project = ?2 AND person = ?3
        ORDER BY rank, created_ms, task LIMIT ?4";
    let wanted = i64::try_from(wanted).unwrap_or(i64::MAX);
    let mut rows = tx.statement(sql)?.query((role.as_str(), key.0, &key.1, wanted))?;
    while let Some(row) = rows.next()? {
        let of_nobody = candidate(role, agent, row.get(0)?, row.get(1)?, row.get(2)?)?;
        found.push(Candidate { share: share.clone(), ..of_nobody });
    }
    Ok(())
}

/// Sets or clears a project's own limit.
pub(crate) fn set_limit(
    tx: &mut Transaction<'_>,
    project: ProjectId,
    at_once_max: Option<u32>,
) -> Result<(), SqliteFault> {
    let id = i64::from(project.bits());
    match at_once_max {
        Some(max) => {
            let sql = "INSERT INTO project_limits (project, at_once) VALUES (?1, ?2)
                ON CONFLICT (project) DO UPDATE SET at_once = ?2";
            tx.run(sql, (id, max))?;
        }
        None => _ = tx.run("DELETE FROM project_limits WHERE project = ?1", [id])?,
    }
    tx.clear_limits();
    Ok(())
}

pub(crate) fn candidate(
    role: &Role,
    agent: &AgentName,
    rank: i64,
    created_ms: i64,
    task: i64,
) -> Result<Candidate, SqliteFault> {
    let rank = ClaimRank::try_from(rank).map_err(|error| bad_row(RecordKind::Task, task, error))?;
    let created_at = Timestamp::from_ms(created_ms);
    let (role, agent) = (role.clone(), agent.clone());
    Ok(Candidate { task: task_id(task)?, rank, created_at, role, agent, share: Share::default() })
}
