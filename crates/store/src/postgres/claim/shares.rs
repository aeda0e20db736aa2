//! What a claim reads under limits per project or person, found share by share: one index step for each share with
//! ready work, none into those that are full.
//!
//! The claimer holds the slot's lock from before the first read until the commit, so no two processes fill the same
//! place.

use std::collections::BTreeMap;

use baton_core::base::id::ProjectId;
use baton_core::base::text::{AgentName, Role};
use baton_core::base::time::Timestamp;
use baton_core::schedule::{Capacity, Load, Share, WorkerFit};
use tokio_postgres::Row;

use crate::error::StoreError;
use crate::model::claim::ClaimRequest;
use crate::model::record_kind::RecordKind;
use crate::postgres::claim::candidates::{ClaimView, NOW, UNACCEPTED, unaccepted_max, wanted};
use crate::postgres::claim::passed::PassedTasks;
use crate::postgres::connect::connector::PgConnection;
use crate::postgres::connect::fault::PostgresFault;
use crate::postgres::connect::pipeline::{Pipeline, params};
use crate::postgres::decode::{key, share, timestamp};
use crate::postgres::write::lock::ADVISORY_LOCK;

const RUNNING: &str =
    "SELECT role, agent, count(*), project, person FROM leases GROUP BY role, agent, project, person";
const LIMITS: &str = "SELECT project, at_once FROM project_limits";
/// Each step finds the first index entry after all those of the previous share.
const SHARES: &str = "WITH RECURSIVE s AS (
        (SELECT role, project, person FROM ready ORDER BY role, project, person LIMIT 1)
        UNION ALL
        SELECT n.role, n.project, n.person FROM s CROSS JOIN LATERAL (
            SELECT r.role, r.project, r.person FROM ready r
            WHERE (r.role, r.project, r.person) > (s.role, s.project, s.person)
            ORDER BY r.role, r.project, r.person LIMIT 1
        ) AS n
    ) SELECT role, project, person FROM s WHERE role = ANY($1)";
/// PostgreSQL checks the conditions on `t` again if its row changed before it was locked.
const CANDIDATES: &str = "SELECT c.* FROM
    unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) AS u (role, project, person, wanted)
    CROSS JOIN LATERAL (
        SELECT t.id, t.version, t.body, t.open_blockers FROM ready r JOIN tasks t ON t.id = r.id
        WHERE r.role = u.role AND r.project = u.project AND r.person = u.person
            AND t.is_claimable AND t.open_blockers = 0
            AND (t.needs = '' OR string_to_array(t.needs, ' ') <@ $5::text[])
            AND NOT t.id = ANY($6::text[])
        ORDER BY r.rank, r.created_ms, r.id LIMIT u.wanted FOR UPDATE OF t SKIP LOCKED
    ) AS c";

const DOING: &str = "looking for work by share";

/// The request's limits combined with those set on projects.
pub(crate) fn capacity(request: &ClaimRequest, own: &BTreeMap<ProjectId, u32>) -> Capacity {
    let mut capacity = request.capacity.clone();
    capacity.per_project.own_max.extend(own);
    capacity
}

/// Begins the transaction and takes `advisory_lock`, unless that is `None` because the transaction already has it.
pub(crate) async fn read(
    conn: &PgConnection,
    advisory_lock: Option<String>,
    requests: &[ClaimRequest],
    fit: &WorkerFit,
    passed: &PassedTasks,
) -> Result<ClaimView, PostgresFault> {
    let wanted = wanted(requests);
    let roles: Vec<String> = wanted.keys().map(ToString::to_string).collect();
    let mut pipeline = Pipeline::new(conn, DOING);
    if let Some(advisory_lock) = advisory_lock {
        pipeline.run("BEGIN");
        pipeline.add(ADVISORY_LOCK, params![advisory_lock]).await?;
    }
    let now = pipeline.add(NOW, params![]).await?;
    let running = pipeline.add(RUNNING, params![]).await?;
    let unaccepted = pipeline.add(UNACCEPTED, params![i64::from(unaccepted_max(requests))]).await?;
    let limits = pipeline.add(LIMITS, params![]).await?;
    let shares = pipeline.add(SHARES, params![roles]).await?;
    let mut answers = pipeline.flush().await?;
    let mut take = |place: usize| answers.get_mut(place).map(std::mem::take).unwrap_or_default();
    let now = take(now).first().map_or(Timestamp::from_ms(0), |row| timestamp(row, 0));
    let load = load(&take(running), &take(unaccepted)).map_err(PostgresFault::Final)?;
    let own = own_limits(&take(limits)).map_err(PostgresFault::Final)?;
    let capacities: Vec<Capacity> = requests.iter().map(|request| capacity(request, &own)).collect();
    let open = open(&take(shares), &wanted, &capacities, &load, fit).map_err(PostgresFault::Final)?;
    let mut seen = ClaimView::new(now, load, own);
    if open.is_empty() {
        return Ok(seen);
    }
    let labels: Vec<String> = fit.labels.iter().map(ToString::to_string).collect();
    let column = |of: fn(&OpenShare) -> String| open.iter().map(of).collect::<Vec<_>>();
    let (roles, projects, persons) = (
        column(|open| open.role.clone()),
        column(|open| open.project.clone()),
        column(|open| open.person.clone()),
    );
    let room: Vec<i64> = open.iter().map(|open| open.wanted).collect();
    let passed = passed.keys();
    for row in conn.query(DOING, CANDIDATES, &[&roles, &projects, &persons, &room, &labels, &passed]).await? {
        seen.learn(&row);
    }
    Ok(seen)
}

/// A share with room, as stored.
struct OpenShare {
    role: String,
    project: String,
    person: String,
    /// The most of its tasks that could be needed.
    wanted: i64,
}

fn open(
    shares: &[Row],
    wanted: &BTreeMap<Role, usize>,
    capacities: &[Capacity],
    load: &Load,
    fit: &WorkerFit,
) -> Result<Vec<OpenShare>, StoreError> {
    let mut open = Vec::new();
    for row in shares {
        let role: Role = key(RecordKind::Task, row.get(0))?;
        let share: Share = share(row, 1)?;
        // The request with the widest limits decides how many to read; each request is checked against its own.
        let room = capacities.iter().map(|capacity| share.room(capacity, load)).max().unwrap_or(0);
        let asked = wanted.get(&role).copied().unwrap_or(0).min(usize::try_from(room).unwrap_or(usize::MAX));
        if asked > 0 && fit.reaches(share.project) {
            let wanted = i64::try_from(asked).unwrap_or(i64::MAX);
            open.push(OpenShare { role: row.get(0), project: row.get(1), person: row.get(2), wanted });
        }
    }
    Ok(open)
}

fn load(running: &[Row], unaccepted: &[Row]) -> Result<Load, StoreError> {
    let mut counts: Vec<(Role, AgentName, u32)> = Vec::with_capacity(running.len());
    let count = |row: &Row| u32::try_from(row.get::<_, i64>(2)).unwrap_or(u32::MAX);
    for row in running {
        counts.push((key(RecordKind::Lease, row.get(0))?, key(RecordKind::Lease, row.get(1))?, count(row)));
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
        Ok((key(RecordKind::Project, row.get(0))?, max))
    };
    rows.iter().map(limit).collect()
}
