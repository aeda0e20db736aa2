//! What a claim sees where projects or people have limits: found share by share, one step of an index for each that has
//! ready work, and none into those that are full.
//!
//! Whoever judges such a limit takes a turn before looking and has it until the commit, so no two of them find the same
//! place free.

use std::collections::BTreeMap;

use baton_core::base::id::ProjectId;
use baton_core::base::text::{AgentName, Role};
use baton_core::base::time::Timestamp;
use baton_core::schedule::{Capacity, Load, Share, WorkerFit};
use tokio_postgres::Row;

use super::candidates::{NOW, Seen, UNACCEPTED, unaccepted_max, wanted};
use super::connect::Link;
use super::fault::Fault;
use super::lock::TAKE_TURN;
use super::pipeline::{Pipeline, params};
use super::read::{key, moment, share};
use crate::claim::ClaimRequest;
use crate::error::StoreError;

const RUNNING: &str =
    "SELECT role, agent, count(*), project, person FROM leases GROUP BY role, agent, project, person";
const LIMITS: &str = "SELECT project, at_once FROM project_limits";
/// Each step finds the first entry of the index behind all that belong to the share before.
const SHARES: &str = "WITH RECURSIVE s AS (
        (SELECT role, project, person FROM ready ORDER BY role, project, person LIMIT 1)
        UNION ALL
        SELECT n.role, n.project, n.person FROM s CROSS JOIN LATERAL (
            SELECT r.role, r.project, r.person FROM ready r
            WHERE (r.role, r.project, r.person) > (s.role, s.project, s.person)
            ORDER BY r.role, r.project, r.person LIMIT 1
        ) AS n
    ) SELECT role, project, person FROM s WHERE role = ANY($1)";
/// The conditions on `t` are looked at again when its row moved on while we came to it.
const CANDIDATES: &str = "SELECT c.* FROM
    unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) AS u (role, project, person, wanted)
    CROSS JOIN LATERAL (
        SELECT t.id, t.version, t.body, t.open_blockers FROM ready r JOIN tasks t ON t.id = r.id
        WHERE r.role = u.role AND r.project = u.project AND r.person = u.person
            AND t.is_claimable AND t.open_blockers = 0
            AND (t.needs = '' OR string_to_array(t.needs, ' ') <@ $5::text[])
        ORDER BY r.rank, r.created_ms, r.id LIMIT u.wanted FOR UPDATE OF t SKIP LOCKED
    ) AS c";

const DOING: &str = "looking for work by whose it is";

/// The limits of a request with those that projects have of their own.
pub(super) fn capacity(request: &ClaimRequest, own: &BTreeMap<ProjectId, u32>) -> Capacity {
    let mut capacity = request.capacity.clone();
    capacity.per_project.own_max.extend(own);
    capacity
}

/// Begins the transaction, takes the turn named `turn` and looks. None where the transaction has it already.
pub(super) async fn read(
    link: &Link,
    turn: Option<String>,
    requests: &[ClaimRequest],
    fit: &WorkerFit,
) -> Result<Seen, Fault> {
    let wanted = wanted(requests);
    let roles: Vec<String> = wanted.keys().map(ToString::to_string).collect();
    let mut pipeline = Pipeline::new(link, DOING);
    if let Some(turn) = turn {
        pipeline.run("BEGIN");
        pipeline.add(TAKE_TURN, params![turn]).await?;
    }
    let now = pipeline.add(NOW, params![]).await?;
    let running = pipeline.add(RUNNING, params![]).await?;
    let unaccepted = pipeline.add(UNACCEPTED, params![i64::from(unaccepted_max(requests))]).await?;
    let limits = pipeline.add(LIMITS, params![]).await?;
    let shares = pipeline.add(SHARES, params![roles]).await?;
    let mut answers = pipeline.flush().await?;
    let mut take = |place: usize| answers.get_mut(place).map(std::mem::take).unwrap_or_default();
    let now = take(now).first().map_or(Timestamp::from_ms(0), |row| moment(row, 0));
    let load = load(&take(running), &take(unaccepted)).map_err(Fault::Final)?;
    let own = own_limits(&take(limits)).map_err(Fault::Final)?;
    let capacities: Vec<Capacity> = requests.iter().map(|request| capacity(request, &own)).collect();
    let open = open(&take(shares), &wanted, &capacities, &load, fit).map_err(Fault::Final)?;
    let mut seen = Seen::new(now, load, own);
    if open.is_empty() {
        return Ok(seen);
    }
    let labels: Vec<String> = fit.labels.iter().map(ToString::to_string).collect();
    let column = |of: fn(&Open) -> String| open.iter().map(of).collect::<Vec<_>>();
    let (roles, projects, persons) = (
        column(|open| open.role.clone()),
        column(|open| open.project.clone()),
        column(|open| open.person.clone()),
    );
    let room: Vec<i64> = open.iter().map(|open| open.wanted).collect();
    for row in link.query(DOING, CANDIDATES, &[&roles, &projects, &persons, &room, &labels]).await? {
        seen.learn(&row);
    }
    Ok(seen)
}

/// A share with room, as the tables have it.
struct Open {
    role: String,
    project: String,
    person: String,
    /// How many of it could be needed at most.
    wanted: i64,
}

fn open(
    shares: &[Row],
    wanted: &BTreeMap<Role, usize>,
    capacities: &[Capacity],
    load: &Load,
    fit: &WorkerFit,
) -> Result<Vec<Open>, StoreError> {
    let mut open = Vec::new();
    for row in shares {
        let role: Role = key("ready task", row.get(0))?;
        let share: Share = share(row, 1)?;
        // Of several requests the one with the widest limits decides how far to look; each is judged by its own.
        let room = capacities.iter().map(|capacity| share.room(capacity, load)).max().unwrap_or(0);
        let asked = wanted.get(&role).copied().unwrap_or(0).min(usize::try_from(room).unwrap_or(usize::MAX));
        if asked > 0 && fit.reaches(share.project) {
            let wanted = i64::try_from(asked).unwrap_or(i64::MAX);
            open.push(Open { role: row.get(0), project: row.get(1), person: row.get(2), wanted });
        }
    }
    Ok(open)
}

fn load(running: &[Row], unaccepted: &[Row]) -> Result<Load, StoreError> {
    let mut counts: Vec<(Role, AgentName, u32)> = Vec::with_capacity(running.len());
    let count = |row: &Row| u32::try_from(row.get::<_, i64>(2)).unwrap_or(u32::MAX);
    for row in running {
        counts.push((key("lease", row.get(0))?, key("lease", row.get(1))?, count(row)));
    }
    let unaccepted = unaccepted.first().map_or(0, |row| row.get::<_, i64>(0));
    let mut load = Load::from_counts(counts, u32::try_from(unaccepted).unwrap_or(u32::MAX));
    for row in running {
        load.occupy(&share(row, 3)?, count(row));
    }
    Ok(load)
}

fn own_limits(rows: &[Row]) -> Result<BTreeMap<ProjectId, u32>, StoreError> {
    let limit = |row: &Row| {
        let max = u32::try_from(row.get::<_, i64>(1)).unwrap_or(u32::MAX);
        Ok((key("project", row.get(0))?, max))
    };
    rows.iter().map(limit).collect()
}
