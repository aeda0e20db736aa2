//! What a claim reads: the time, what is running, and the first ready tasks that are not locked.

use std::collections::BTreeMap;

use baton_core::base::id::{ProjectId, TaskId};
use baton_core::base::text::{AgentName, Role};
use baton_core::base::time::Timestamp;
use baton_core::records::change::Versioned;
use baton_core::schedule::{Capacity, Load, WorkerFit};
use baton_core::task::Task;
use tokio_postgres::Row;

use crate::error::StoreError;
use crate::model::claim::ClaimRequest;
use crate::model::record_kind::RecordKind;
use crate::postgres::claim::passed::PassedTasks;
use crate::postgres::connect::connector::PgConnection;
use crate::postgres::connect::fault::PostgresFault;
use crate::postgres::connect::pipeline::{Pipeline, params};
use crate::postgres::decode::version;
use crate::postgres::decode::{bad_row, timestamp};

pub(crate) const NOW: &str = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";
/// The time, and whether any project has its own limit.
const BEGINNING: &str =
    "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint, EXISTS (SELECT FROM project_limits)";
/// Counted only if a limit depends on it: a large fleet has as many leases as agents, and usually no limits.
const RUNNING: &str = "SELECT role, agent, count(*) FROM leases WHERE $1 GROUP BY role, agent";
/// Counted up to the highest limit; beyond that the number makes no difference.
pub(crate) const UNACCEPTED: &str =
    "SELECT count(*) FROM (SELECT FROM tasks WHERE is_provisional LIMIT $1) AS t";
/// PostgreSQL checks the conditions on `t` again if its row changed before it was locked.
const CANDIDATES: &str = "SELECT c.* FROM unnest($1::text[], $2::bigint[]) AS u (role, wanted)
    CROSS JOIN LATERAL (
        SELECT t.id, t.version, t.body, t.open_blockers FROM ready r JOIN tasks t ON t.id = r.id
        WHERE r.role = u.role AND t.is_claimable AND t.open_blockers = 0
            AND (t.needs = '' OR string_to_array(t.needs, ' ') <@ $3::text[])
            AND CASE WHEN t.project IS NULL THEN $5 ELSE NOT t.project = ANY($4::text[]) END
            AND NOT t.id = ANY($6::text[])
        ORDER BY r.rank, r.created_ms, r.id LIMIT u.wanted FOR UPDATE OF t SKIP LOCKED
    ) AS c";

/// The most tasks claimed in one transaction, over all requests; the rest of a request's ids stay unused.
const CLAIMS_MAX: usize = 1_000;
/// With this much room under every limit, concurrent claims by other processes cannot reach it, so no lock is needed.
/// It is more than sixteen processes claim at once with a full batch each.
const ROOM_FAR: u32 = 1_024;

const DOING: &str = "looking for work";

/// A ready task, locked.
pub(crate) struct LockedTask {
    pub(crate) task: Versioned<Task>,
    pub(crate) open_blockers: u32,
}

pub(crate) struct ClaimView {
    pub(crate) now: Timestamp,
    pub(crate) load: Load,
    pub(crate) found: BTreeMap<TaskId, LockedTask>,
    /// The first candidate that cannot be decoded.
    pub(crate) bad: Option<StoreError>,
    /// Limits set on individual projects, if they were read.
    pub(crate) own_limits: BTreeMap<ProjectId, u32>,
    /// Whether there are any.
    pub(crate) has_own_limits: bool,
    unaccepted_max: i64,
}

impl ClaimView {
    pub(crate) fn new(now: Timestamp, load: Load, own_limits: BTreeMap<ProjectId, u32>) -> Self {
        let has_own_limits = !own_limits.is_empty();
        Self { now, load, found: BTreeMap::new(), bad: None, own_limits, has_own_limits, unaccepted_max: 0 }
    }

    /// Begins the transaction unless it `has_begun`, and reads everything in one round trip.
    pub(crate) async fn read(
        conn: &PgConnection,
        has_begun: bool,
        wanted: &BTreeMap<Role, usize>,
        is_limited: bool,
        unaccepted_max: u32,
        fit: &WorkerFit,
        passed: &PassedTasks,
    ) -> Result<Self, PostgresFault> {
        let roles: Vec<String> = wanted.keys().map(ToString::to_string).collect();
        let counts: Vec<i64> =
            wanted.values().map(|count| i64::try_from(*count).unwrap_or(i64::MAX)).collect();
        let unaccepted_max = i64::from(unaccepted_max);
        let mut pipeline = Pipeline::new(conn, DOING);
        if !has_begun {
            pipeline.run("BEGIN");
        }
        let beginning = pipeline.add(BEGINNING, params![]).await?;
        let running = pipeline.add(RUNNING, params![is_limited]).await?;
        let unaccepted = pipeline.add(UNACCEPTED, params![unaccepted_max]).await?;
        let labels: Vec<String> = fit.labels.iter().map(ToString::to_string).collect();
        let elsewhere: Vec<String> = fit.elsewhere.iter().map(ToString::to_string).collect();
        let fitting = params![roles, counts, labels, elsewhere, fit.has_home, passed.keys()];
        let candidates = pipeline.add(CANDIDATES, fitting).await?;
        let mut answers = pipeline.flush().await?;
        let mut take = |place: usize| answers.get_mut(place).map(std::mem::take).unwrap_or_default();
        let beginning = take(beginning);
        let now = beginning.first().map_or(Timestamp::from_ms(0), |row| timestamp(row, 0));
        let has_own_limits = beginning.first().is_some_and(|row| row.get(1));
        let load = load(&take(running), &take(unaccepted))?;
        let mut seen = Self { has_own_limits, unaccepted_max, ..Self::new(now, load, BTreeMap::new()) };
        for row in take(candidates) {
            seen.learn(&row);
        }
        Ok(seen)
    }

    /// Counts what is running again, now that the slot is held.
    pub(crate) async fn reload(&mut self, conn: &PgConnection) -> Result<(), PostgresFault> {
        let running = conn.query(DOING, RUNNING, &[&true]).await?;
        let unaccepted = conn.query(DOING, UNACCEPTED, &[&self.unaccepted_max]).await?;
        self.load = load(&running, &unaccepted)?;
        Ok(())
    }

    pub(crate) fn learn(&mut self, row: &Row) {
        match serde_json::from_str::<Task>(row.get(2)) {
            Ok(value) => {
                let open_blockers = u32::try_from(row.get::<_, i64>(3)).unwrap_or(u32::MAX);
                let task = Versioned { version: version(row, 1), value };
                self.found.insert(task.value.id(), LockedTask { task, open_blockers });
            }
            Err(error) => self.bad = self.bad.take().or(Some(bad_row(RecordKind::Task, row.get(0), &error))),
        }
    }
}

fn load(running: &[Row], unaccepted: &[Row]) -> Result<Load, PostgresFault> {
    let mut all: Vec<(Role, AgentName)> = Vec::new();
    for row in running {
        let (role, agent): (&str, &str) = (row.get(0), row.get(1));
        let bad =
            |error: &dyn std::fmt::Display| PostgresFault::Final(bad_row(RecordKind::Lease, role, error));
        let pair =
            (role.parse::<Role>().map_err(|e| bad(&e))?, agent.parse::<AgentName>().map_err(|e| bad(&e))?);
        all.extend(std::iter::repeat_n(pair, usize::try_from(row.get::<_, i64>(2)).unwrap_or(0)));
    }
    let unaccepted = unaccepted.first().map_or(0, |row| row.get::<_, i64>(0));
    Ok(Load::new(all, u32::try_from(unaccepted).unwrap_or(u32::MAX)))
}

/// The most tasks of each role that could be needed.
///
/// A request's limits treat all tasks of a role alike, except that resumed tasks may start where new ones may not,
/// and those come first. So the first few of each role are enough.
pub(crate) fn wanted(requests: &[ClaimRequest]) -> BTreeMap<Role, usize> {
    let mut wanted: BTreeMap<Role, usize> = BTreeMap::new();
    for request in requests {
        for role in request.agents.keys() {
            let count = wanted.entry(role.clone()).or_default();
            *count = (*count + request.attempt_ids.len()).min(CLAIMS_MAX);
        }
    }
    wanted
}

/// Whether any of these requests depends on how much is running.
pub(crate) fn is_limited(requests: &[ClaimRequest]) -> bool {
    requests.iter().any(|request| {
        let Capacity { total_max, per_role, per_agent, .. } = &request.capacity;
        *total_max < u32::MAX || per_role.is_set() || per_agent.is_set()
    })
}

pub(crate) fn unaccepted_max(requests: &[ClaimRequest]) -> u32 {
    requests.iter().map(|request| request.capacity.unaccepted_max).max().unwrap_or(0)
}

/// Whether concurrent claims could exceed one of this request's limits.
pub(crate) fn is_near(request: &ClaimRequest, load: &Load) -> bool {
    let capacity = &request.capacity;
    let is_tight = |running: u32, max: u32| max.saturating_sub(running) < ROOM_FAR;
    is_tight(load.total(), capacity.total_max)
        || request.agents.iter().any(|(role, agent)| {
            is_tight(load.for_role(role), capacity.per_role.max(role))
                || is_tight(load.for_agent(agent), capacity.per_agent.max(agent))
        })
}
