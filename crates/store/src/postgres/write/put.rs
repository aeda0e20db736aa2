//! Turns the rows of a batch into one array per column.

use baton_core::base::text::Label;
use baton_core::records::change::Record;

use crate::columns::{self, TaskColumns};
use crate::error::StoreError;
use crate::model::record_kind::RecordKind;
use crate::postgres::connect::fault::PostgresFault;
use crate::postgres::connect::pipeline::{Pipeline, params};
use crate::postgres::decode::texts;
use crate::postgres::write::batch::BatchWrites;
use crate::postgres::write::row::{RecordColumns, RecordWrite, TaskWrite};

const INSERT_TASKS: &str = "INSERT INTO tasks (id, version, body, session, project, queue, status, title, role, rank,
        created_ms, updated_ms, is_claimable, is_done, is_finished, is_provisional, replaced_by, open_blockers,
        needs, person)
    SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
        $9::text[], $10::bigint[], $11::bigint[], $12::bigint[], $13::boolean[], $14::boolean[], $15::boolean[],
        $16::boolean[], $17::text[], $18::bigint[], $19::text[], $20::text[])";
/// A revision changes a task's title and rank only; open blockers are counted where edges are written.
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
pub(crate) const INSERT_RECORDS: &str = "INSERT INTO records (kind, key, version, body, session, task, place, is_open)
    SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::boolean[])";
pub(crate) const UPDATE_RECORDS: &str = "UPDATE records r SET version = u.version, body = u.body, session = u.session, task = u.task,
        place = u.place, is_open = u.is_open
    FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::boolean[])
        AS u (kind, key, version, body, session, task, place, is_open)
    WHERE r.kind = u.kind AND r.key = u.key";
const INSERT_LEASES: &str = "INSERT INTO leases (attempt, task, worker, role, agent, expires_ms, project, person)
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[], $8::text[])";
const LIMIT_PROJECTS: &str = "INSERT INTO project_limits (project, at_once)
    SELECT * FROM unnest($1::text[], $2::bigint[]) ON CONFLICT (project) DO UPDATE SET at_once = excluded.at_once";
const UNLIMIT_PROJECTS: &str = "DELETE FROM project_limits WHERE project = ANY($1)";

pub(crate) async fn insert_tasks(
    pipeline: &mut Pipeline<'_>,
    writes: &[&TaskWrite],
) -> Result<(), PostgresFault> {
    let all: Vec<TaskColumns<'_>> = writes.iter().map(|write| TaskColumns::new(&write.task)).collect();
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

pub(crate) async fn update_tasks(
    pipeline: &mut Pipeline<'_>,
    writes: &[&TaskWrite],
) -> Result<(), PostgresFault> {
    let all: Vec<TaskColumns<'_>> = writes.iter().map(|write| TaskColumns::new(&write.task)).collect();
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

/// A title for searching: lower-cased by our rules rather than the server's locale, and without NUL, which
/// PostgreSQL's text cannot hold. Bodies have it escaped.
pub(crate) fn searchable(title: &str) -> String {
    title.to_lowercase().replace('\0', "\u{fffd}")
}

fn bodies(writes: &[&TaskWrite]) -> Result<Vec<String>, PostgresFault> {
    writes
        .iter()
        .map(|write| columns::body(RecordKind::Task, &write.task))
        .collect::<Result<_, _>>()
        .map_err(PostgresFault::Final)
}

pub(crate) async fn put_records(
    pipeline: &mut Pipeline<'_>,
    sql: &'static str,
    writes: &[&RecordWrite],
) -> Result<(), PostgresFault> {
    if writes.is_empty() {
        return Ok(());
    }
    let (kinds, keys): (Vec<&'static str>, Vec<String>) = writes
        .iter()
        .map(|write| columns::record_key(&write.record))
        .map(|(kind, key)| (kind.as_str(), key))
        .unzip();
    let all: Vec<RecordColumns> = writes.iter().map(|write| RecordColumns::new(&write.record)).collect();
    let bodies: Result<Vec<String>, StoreError> =
        writes.iter().map(|write| columns::record_body(&write.record)).collect();
    let params = params![
        kinds,
        keys,
        writes.iter().map(|write| signed(write.version)).collect::<Vec<_>>(),
        bodies.map_err(PostgresFault::Final)?,
        all.iter().map(|columns| columns.session.clone()).collect::<Vec<_>>(),
        all.iter().map(|columns| columns.task.clone()).collect::<Vec<_>>(),
        all.iter().map(|columns| columns.place).collect::<Vec<_>>(),
        all.iter().map(|columns| columns.is_open).collect::<Vec<_>>(),
    ];
    pipeline.add(sql, params).await.map(|_| ())
}

pub(crate) async fn insert_leases(
    pipeline: &mut Pipeline<'_>,
    writes: &BatchWrites,
) -> Result<(), PostgresFault> {
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

/// An absent part of a share is stored as an empty text.
fn text_of(part: Option<&impl ToString>) -> String {
    part.map(ToString::to_string).unwrap_or_default()
}

/// Writes the projects' own limits.
pub(crate) async fn put_limits(
    pipeline: &mut Pipeline<'_>,
    writes: &BatchWrites,
) -> Result<(), PostgresFault> {
    let (mut limited, mut maxima, mut unlimited) = (Vec::new(), Vec::new(), Vec::new());
    for write in writes.records.values() {
        let Record::Project(project) = &write.record else { continue };
        match project.at_once_max {
            Some(max) => {
                limited.push(project.id.to_string());
                maxima.push(i64::from(max));
            }
            // A new project has no limit to remove.
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
