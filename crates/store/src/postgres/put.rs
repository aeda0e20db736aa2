//! Rows as columns: what a batch puts, turned into one array for each column of a table.

use baton_core::base::text::Label;
use baton_core::records::change::Record;

use super::batch::Writes;
use super::fault::Fault;
use super::lock::texts;
use super::pipeline::{Pipeline, params};
use super::row::{self, RecordColumns, RecordWrite, TaskWrite};
use crate::columns::{self, TaskColumns};
use crate::error::StoreError;

const INSERT_TASKS: &str = "INSERT INTO tasks (id, version, body, session, project, queue, status, title, role, rank,
        created_ms, updated_ms, is_claimable, is_done, is_finished, is_provisional, replaced_by, open_blockers,
        needs, person)
    SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
        $9::text[], $10::bigint[], $11::bigint[], $12::bigint[], $13::boolean[], $14::boolean[], $15::boolean[],
        $16::boolean[], $17::text[], $18::bigint[], $19::text[], $20::text[])";
/// Of what a task was asked to be a revision changes the title and the rank, and its open blockers are counted where its edges are written.
const UPDATE_TASKS: &str = "UPDATE tasks t SET version = u.version, body = u.body, queue = u.queue, status = u.status,
        rank = u.rank, updated_ms = u.updated_ms, is_claimable = u.is_claimable, is_done = u.is_done,
        is_finished = u.is_finished, is_provisional = u.is_provisional, replaced_by = u.replaced_by, title = u.title
    FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[], $8::boolean[],
        $9::boolean[], $10::boolean[], $11::boolean[], $12::text[], $13::text[]) AS u (id, version, body, queue, status, rank,
        updated_ms, is_claimable, is_done, is_finished, is_provisional, replaced_by, title)
    WHERE t.id = u.id";
const INSERT_GROUPS: &str = "INSERT INTO groups AS g (session, created_ms)
    SELECT session, min(created_ms) FROM unnest($1::text[], $2::bigint[]) AS u (session, created_ms) GROUP BY session ORDER BY session
    ON CONFLICT (session) DO UPDATE SET created_ms = excluded.created_ms WHERE excluded.created_ms < g.created_ms";
pub(super) const INSERT_RECORDS: &str = "INSERT INTO records (kind, key, version, body, session, task, place, is_open)
    SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::boolean[])";
pub(super) const UPDATE_RECORDS: &str = "UPDATE records r SET version = u.version, body = u.body, session = u.session, task = u.task,
        place = u.place, is_open = u.is_open
    FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::boolean[])
        AS u (kind, key, version, body, session, task, place, is_open)
    WHERE r.kind = u.kind AND r.key = u.key";
const INSERT_LEASES: &str = "INSERT INTO leases (attempt, task, worker, role, agent, expires_ms, project, person)
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[], $8::text[])";
const LIMIT_PROJECTS: &str = "INSERT INTO project_limits (project, at_once)
    SELECT * FROM unnest($1::text[], $2::bigint[]) ON CONFLICT (project) DO UPDATE SET at_once = excluded.at_once";
const UNLIMIT_PROJECTS: &str = "DELETE FROM project_limits WHERE project = ANY($1)";

pub(super) async fn insert_tasks(pipeline: &mut Pipeline<'_>, writes: &[&TaskWrite]) -> Result<(), Fault> {
    let all: Vec<TaskColumns<'_>> = writes.iter().map(|write| TaskColumns::of(&write.task)).collect();
    let sessions: Vec<String> = all.iter().map(|columns| columns.session.to_string()).collect();
    let created: Vec<i64> = all.iter().map(|columns| columns.created_ms).collect();
    let params = params![
        all.iter().map(|columns| columns.id.to_string()).collect::<Vec<_>>(),
        writes.iter().map(|write| signed(write.version)).collect::<Vec<_>>(),
        bodies(writes)?,
        sessions.clone(),
        all.iter().map(|columns| columns.project.map(|project| project.to_string())).collect::<Vec<_>>(),
        all.iter().map(|columns| columns.queue).collect::<Vec<_>>(),
        all.iter().map(|columns| columns.status).collect::<Vec<_>>(),
        all.iter().map(|columns| searchable(columns.title)).collect::<Vec<_>>(),
        all.iter().map(|columns| columns.role.to_owned()).collect::<Vec<_>>(),
        all.iter().map(|columns| columns.rank).collect::<Vec<_>>(),
        created.clone(),
        all.iter().map(|columns| columns.updated_ms).collect::<Vec<_>>(),
        all.iter().map(|columns| columns.is_claimable).collect::<Vec<_>>(),
        all.iter().map(|columns| columns.is_done).collect::<Vec<_>>(),
        all.iter().map(|columns| columns.is_finished).collect::<Vec<_>>(),
        all.iter().map(|columns| columns.is_provisional).collect::<Vec<_>>(),
        all.iter().map(|columns| texts(&columns.replaced_by).join(" ")).collect::<Vec<_>>(),
        writes.iter().map(|write| i64::from(write.open_blockers)).collect::<Vec<_>>(),
        all.iter()
            .map(|columns| columns.needs.iter().map(Label::as_str).collect::<Vec<_>>().join(" "))
            .collect::<Vec<_>>(),
        all.iter().map(|columns| columns.person.unwrap_or_default().to_owned()).collect::<Vec<_>>(),
    ];
    pipeline.add(INSERT_TASKS, params).await?;
    pipeline.add(INSERT_GROUPS, params![sessions, created]).await?;
    Ok(())
}

pub(super) async fn update_tasks(pipeline: &mut Pipeline<'_>, writes: &[&TaskWrite]) -> Result<(), Fault> {
    let all: Vec<TaskColumns<'_>> = writes.iter().map(|write| TaskColumns::of(&write.task)).collect();
    let params = params![
        all.iter().map(|columns| columns.id.to_string()).collect::<Vec<_>>(),
        writes.iter().map(|write| signed(write.version)).collect::<Vec<_>>(),
        bodies(writes)?,
        all.iter().map(|columns| columns.queue).collect::<Vec<_>>(),
        all.iter().map(|columns| columns.status).collect::<Vec<_>>(),
        all.iter().map(|columns| columns.rank).collect::<Vec<_>>(),
        all.iter().map(|columns| columns.updated_ms).collect::<Vec<_>>(),
        all.iter().map(|columns| columns.is_claimable).collect::<Vec<_>>(),
        all.iter().map(|columns| columns.is_done).collect::<Vec<_>>(),
        all.iter().map(|columns| columns.is_finished).collect::<Vec<_>>(),
        all.iter().map(|columns| columns.is_provisional).collect::<Vec<_>>(),
        all.iter().map(|columns| texts(&columns.replaced_by).join(" ")).collect::<Vec<_>>(),
        all.iter().map(|columns| searchable(columns.title)).collect::<Vec<_>>(),
    ];
    pipeline.add(UPDATE_TASKS, params).await.map(|_| ())
}

/// A title as it is searched in: in one case, by our rules and not by the server's locale, and without the one
/// character PostgreSQL has no place for in a text. Bodies have it escaped.
pub(super) fn searchable(title: &str) -> String {
    title.to_lowercase().replace('\0', "\u{fffd}")
}

fn bodies(writes: &[&TaskWrite]) -> Result<Vec<String>, Fault> {
    writes
        .iter()
        .map(|write| columns::body("task", &write.task))
        .collect::<Result<_, _>>()
        .map_err(Fault::Final)
}

pub(super) async fn put_records(
    pipeline: &mut Pipeline<'_>,
    sql: &'static str,
    writes: &[&RecordWrite],
) -> Result<(), Fault> {
    if writes.is_empty() {
        return Ok(());
    }
    let (kinds, keys): (Vec<&'static str>, Vec<String>) =
        writes.iter().map(|write| columns::kind_and_key(&write.record)).unzip();
    let all: Vec<RecordColumns> = writes.iter().map(|write| RecordColumns::of(&write.record)).collect();
    let bodies: Result<Vec<String>, StoreError> =
        writes.iter().map(|write| row::body(&write.record)).collect();
    let params = params![
        kinds,
        keys,
        writes.iter().map(|write| signed(write.version)).collect::<Vec<_>>(),
        bodies.map_err(Fault::Final)?,
        all.iter().map(|columns| columns.session.clone()).collect::<Vec<_>>(),
        all.iter().map(|columns| columns.task.clone()).collect::<Vec<_>>(),
        all.iter().map(|columns| columns.place).collect::<Vec<_>>(),
        all.iter().map(|columns| columns.is_open).collect::<Vec<_>>(),
    ];
    pipeline.add(sql, params).await.map(|_| ())
}

pub(super) async fn insert_leases(pipeline: &mut Pipeline<'_>, writes: &Writes) -> Result<(), Fault> {
    let leases = &writes.leases;
    if leases.is_empty() {
        return Ok(());
    }
    let params = params![
        leases.iter().map(|lease| lease.attempt.to_string()).collect::<Vec<_>>(),
        leases.iter().map(|lease| lease.task.to_string()).collect::<Vec<_>>(),
        leases.iter().map(|lease| lease.worker.clone()).collect::<Vec<_>>(),
        leases.iter().map(|lease| lease.role.to_string()).collect::<Vec<_>>(),
        leases.iter().map(|lease| lease.agent.to_string()).collect::<Vec<_>>(),
        leases.iter().map(|lease| lease.expires_at.ms()).collect::<Vec<_>>(),
        leases.iter().map(|lease| text_of(lease.share.project.as_ref())).collect::<Vec<_>>(),
        leases.iter().map(|lease| text_of(lease.share.person.as_ref())).collect::<Vec<_>>(),
    ];
    pipeline.add(INSERT_LEASES, params).await.map(|_| ())
}

/// None is an empty text where a share is written down.
fn text_of(part: Option<&impl ToString>) -> String {
    part.map(ToString::to_string).unwrap_or_default()
}

/// What the projects of a batch say of how many of their tasks may run at once.
pub(super) async fn put_limits(pipeline: &mut Pipeline<'_>, writes: &Writes) -> Result<(), Fault> {
    let (mut limited, mut maxima, mut unlimited) = (Vec::new(), Vec::new(), Vec::new());
    for write in writes.records.values() {
        let Record::Project(project) = &write.record else { continue };
        match project.at_once_max {
            Some(max) => {
                limited.push(project.id.to_string());
                maxima.push(i64::from(max));
            }
            // A project that is just made never had one.
            None if write.is_new => {}
            None => unlimited.push(project.id.to_string()),
        }
    }
    if !limited.is_empty() {
        pipeline.add(LIMIT_PROJECTS, params![limited, maxima]).await?;
    }
    if !unlimited.is_empty() {
        pipeline.add(UNLIMIT_PROJECTS, params![unlimited]).await?;
    }
    Ok(())
}

fn signed(version: u64) -> i64 {
    i64::try_from(version).unwrap_or(i64::MAX)
}
