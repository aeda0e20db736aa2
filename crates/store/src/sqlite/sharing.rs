//! Candidates where projects or people have limits, found share by share: one step of an index for each that has ready
//! work, and none into those that are full.

use std::collections::BTreeMap;

use baton_core::base::id::ProjectId;
use baton_core::base::text::{AgentName, NonBlank, Role};
use baton_core::schedule::{Candidate, Capacity, Load, Share};
use rusqlite::{OptionalExtension, Row};

use super::batch::Batch;
use super::claim::candidate;
use super::fault::Fault;
use super::rows::bad_row;
use crate::claim::ClaimRequest;

/// A share as the table of ready tasks has it.
type Key = (i64, String);

/// Before every share there can be.
const BEFORE_ALL: i64 = -2;
const NO_PROJECT: i64 = -1;

/// The limits of this request with those that projects have of their own; none where it does not matter whose a task is.
pub fn capacity(batch: &mut Batch<'_>, request: &ClaimRequest) -> Result<Option<Capacity>, Fault> {
    let own = batch.own_limits()?;
    if own.is_empty() && !request.capacity.is_shared() {
        return Ok(None);
    }
    let mut capacity = request.capacity.clone();
    capacity.per_project.own_max.extend(own);
    Ok(Some(capacity))
}

/// Counts what runs by whose it is, as far as it was not counted.
pub fn count(batch: &mut Batch<'_>, load: &mut Load) -> Result<(), Fault> {
    let sql = "SELECT project, person, count(*) FROM leases GROUP BY project, person";
    let mut rows = batch.statement(sql)?.query([])?;
    while let Some(row) = rows.next()? {
        let person: Option<String> = row.get(1)?;
        load.occupy(&share(row.get(0)?, person.as_deref())?, row.get(2)?);
    }
    Ok(())
}

/// What may be chosen from: the first of each share that has room, up to `limit`, and no more than it has room for where
/// `is_by_room`. The second answer is whether any of them was cut short.
pub fn candidates(
    batch: &mut Batch<'_>,
    request: &ClaimRequest,
    capacity: &Capacity,
    load: &Load,
    limit: usize,
    is_by_room: bool,
) -> Result<(Vec<Candidate>, bool), Fault> {
    keep(batch)?;
    let (mut found, mut was_cut) = (Vec::new(), false);
    for (role, agent) in &request.agents {
        let mut key: Key = (BEFORE_ALL, String::new());
        while let Some(next) = after(batch, role, &key)? {
            key = next;
            let share = share(Some(key.0).filter(|project| *project != NO_PROJECT), Some(&key.1))?;
            let room = usize::try_from(share.room(capacity, load)).unwrap_or(usize::MAX);
            if room > 0 {
                let wanted = if is_by_room { limit.min(room) } else { limit };
                let before = found.len();
                first_of(batch, (role, agent), &key, &share, wanted, &mut found)?;
                was_cut |= found.len() - before == wanted;
            }
        }
    }
    Ok((found, was_cut))
}

/// From the first claim under a limit on, every write to `ready` is one to `ready_shares` too.
fn keep(batch: &mut Batch<'_>) -> Result<(), Fault> {
    if batch.counters.keeps_shares {
        return Ok(());
    }
    let sql = "INSERT INTO ready_shares (task, role, project, person, rank, created_ms)
        SELECT t.id, r.role, coalesce(t.project, -1), coalesce(t.person, ''), r.rank, r.created_ms
        FROM ready r JOIN tasks t ON t.id = r.task";
    batch.run(sql, [])?;
    batch.counters.keeps_shares = true;
    Ok(())
}

/// The next share of a role that has ready work.
fn after(batch: &mut Batch<'_>, role: &Role, key: &Key) -> Result<Option<Key>, Fault> {
    let sql = "SELECT project, person FROM ready_shares WHERE role = ?1 AND (project, person) > (?2, ?3)
        ORDER BY project, person LIMIT 1";
    let next = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    Ok(batch.statement(sql)?.query_row((role.as_str(), key.0, &key.1), next).optional()?)
}

fn first_of(
    batch: &mut Batch<'_>,
    (role, agent): (&Role, &AgentName),
    key: &Key,
    share: &Share,
    wanted: usize,
    found: &mut Vec<Candidate>,
) -> Result<(), Fault> {
    let sql =
        "SELECT rank, created_ms, task FROM ready_shares WHERE role = ?1 AND project = ?2 AND person = ?3
        ORDER BY rank, created_ms, task LIMIT ?4";
    let wanted = i64::try_from(wanted).unwrap_or(i64::MAX);
    let mut rows = batch.statement(sql)?.query((role.as_str(), key.0, &key.1, wanted))?;
    while let Some(row) = rows.next()? {
        let of_nobody = candidate(role, agent, row.get(0)?, row.get(1)?, row.get(2)?)?;
        found.push(Candidate { share: share.clone(), ..of_nobody });
    }
    Ok(())
}

pub fn share(project: Option<i64>, person: Option<&str>) -> Result<Share, Fault> {
    let project = project.map(project_id).transpose()?;
    Ok(Share { project, person: person.and_then(|person| NonBlank::new(person).ok()) })
}

pub fn project_id(stored: i64) -> Result<ProjectId, Fault> {
    let bits = u32::try_from(stored).map_err(|error| bad_row("project id", stored, error))?;
    Ok(ProjectId::from_bits(bits))
}

/// The limits that projects have of their own.
pub fn own_limits(batch: &mut Batch<'_>) -> Result<BTreeMap<ProjectId, u32>, Fault> {
    let mut rows = batch.statement("SELECT project, at_once FROM project_limits")?.query([])?;
    let mut limits = BTreeMap::new();
    while let Some(row) = rows.next()? {
        limits.insert(project_id(row.get(0)?)?, row.get(1)?);
    }
    Ok(limits)
}

/// A project says how many of its tasks may run at once, or says so no longer.
pub fn limit(batch: &mut Batch<'_>, project: ProjectId, at_once_max: Option<u32>) -> Result<(), Fault> {
    let id = i64::from(project.bits());
    match at_once_max {
        Some(max) => {
            let sql = "INSERT INTO project_limits (project, at_once) VALUES (?1, ?2)
                ON CONFLICT (project) DO UPDATE SET at_once = ?2";
            batch.run(sql, (id, max))?;
        }
        None => _ = batch.run("DELETE FROM project_limits WHERE project = ?1", [id])?,
    }
    batch.forget_limits();
    Ok(())
}
