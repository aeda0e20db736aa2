//! Writing what a batch decided, in bulk: one statement per table, however many changes there are.

use baton_core::records::event::Event;
use tokio_postgres::Row;

use super::batch::{Known, Writes};
use super::fault::Fault;
use super::lock::{texts, version};
use super::pipeline::{Pipeline, params};
use super::row::{RecordWrite, TaskWrite};
use super::telling::BETWEEN_MS;
use super::{put, unblock};
use crate::columns;

const INSERT_EDGES: &str =
    "INSERT INTO edges (task, blocker, is_met) SELECT * FROM unnest($1::text[], $2::text[], $3::boolean[])";
const DELETE_LEASES: &str = "DELETE FROM leases WHERE attempt = ANY($1)";
const LEAVE_READY: &str = "DELETE FROM ready WHERE id = ANY($1)";
const ENTER_READY: &str = "INSERT INTO ready (id, role, rank, created_ms, project, person)
    SELECT id, role, rank, created_ms, coalesce(project, ''), person FROM tasks WHERE id = ANY($1) AND is_claimable AND open_blockers = 0
    ON CONFLICT (id) DO UPDATE SET rank = excluded.rank WHERE ready.rank <> excluded.rank";
/// The counter is locked from here to the commit, so this comes last. Others are told of it where they were told of
/// nothing for some moments; a clock that was set back does not keep them from it.
const RECORD: &str = "WITH c AS (
        UPDATE counter SET seq = seq + $1::bigint, effect = effect + $2::bigint,
            told_ms = CASE WHEN abs((extract(epoch FROM clock_timestamp()) * 1000)::bigint - told_ms) >= $8
                THEN (extract(epoch FROM clock_timestamp()) * 1000)::bigint ELSE told_ms END,
            told_seq = CASE WHEN abs((extract(epoch FROM clock_timestamp()) * 1000)::bigint - told_ms) >= $8
                THEN seq + $1::bigint ELSE told_seq END
        RETURNING seq - $1::bigint AS seq, effect - $2::bigint AS effect, told_seq = seq AS is_told
    ), e AS (
        INSERT INTO events (seq, at_ms, task, body) SELECT c.seq + u.n, u.at_ms, u.task, u.body
        FROM c, unnest($3::bigint[], $4::text[], $5::text[]) WITH ORDINALITY AS u (at_ms, task, body, n)
    ), o AS (
        INSERT INTO outbox (id, body) SELECT c.effect + u.n, u.body
        FROM c, unnest($6::text[]) WITH ORDINALITY AS u (body, n)
    )
    SELECT seq, is_told, CASE WHEN is_told THEN pg_notify($7, (seq + $1::bigint)::text)::text END FROM c";

const LAST: &str = "SELECT seq, true FROM counter";

/// What a written batch leaves to do and to tell.
pub(super) struct Written {
    /// The number of the last event before this batch's own.
    pub(super) seq_before: u64,
    /// Other processes were told of it.
    pub(super) is_told: bool,
    /// More dependents wait than one transaction frees.
    pub(super) is_unblocking: bool,
}

/// Adds the rows of `writes`, in an order in which each statement finds what it needs.
pub(super) async fn rows(pipeline: &mut Pipeline<'_>, writes: &Writes) -> Result<(), Fault> {
    let (new, old): (Vec<&TaskWrite>, Vec<&TaskWrite>) =
        writes.tasks.values().partition(|write| write.is_new);
    if !new.is_empty() {
        put::insert_tasks(pipeline, &new).await?;
    }
    if !old.is_empty() {
        put::update_tasks(pipeline, &old).await?;
    }
    let (new, old): (Vec<&RecordWrite>, Vec<&RecordWrite>) =
        writes.records.values().partition(|write| write.is_new);
    put::put_records(pipeline, put::INSERT_RECORDS, &new).await?;
    put::put_records(pipeline, put::UPDATE_RECORDS, &old).await?;
    put::put_limits(pipeline, writes).await?;
    if !writes.edges.is_empty() {
        let edges = &writes.edges;
        let tasks = texts(edges.keys().map(|(task, _)| task));
        let blockers = texts(edges.keys().map(|(_, on)| on));
        pipeline
            .add(INSERT_EDGES, params![tasks, blockers, edges.values().copied().collect::<Vec<bool>>()])
            .await?;
    }
    if !writes.closed.is_empty() {
        let closed: Vec<String> = writes.closed.iter().map(ToString::to_string).collect();
        pipeline.add(DELETE_LEASES, params![closed]).await?;
    }
    put::insert_leases(pipeline, writes).await
}

/// Where a transaction failed, which decides what may have become of it.
pub(super) enum Failed {
    /// Before its COMMIT was sent: nothing is written.
    Unsent(Fault),
    /// With its COMMIT on the way.
    Sent(Fault),
}

impl From<Fault> for Failed {
    fn from(fault: Fault) -> Self {
        Self::Unsent(fault)
    }
}

/// Writes what follows from the rows: dependents freed, `ready` put right, events numbered; and commits.
pub(super) async fn finish(
    mut pipeline: Pipeline<'_>,
    known: &Known,
    writes: &Writes,
    channel: &str,
) -> Result<Written, Failed> {
    let unblocking =
        if writes.done.is_empty() { None } else { Some(unblock::add(&mut pipeline, &writes.done).await?) };
    let (entering, leaving): (Vec<_>, Vec<_>) = writes
        .maybe_ready
        .iter()
        .partition(|task| known.tasks.get(task).is_some_and(|facts| facts.is_claimable));
    if !leaving.is_empty() {
        pipeline.add(LEAVE_READY, params![texts(leaving)]).await?;
    }
    if !entering.is_empty() {
        pipeline.add(ENTER_READY, params![texts(entering)]).await?;
    }
    // Whoever hears of it would find nothing new, and the numbers stay as they are.
    let is_news = !(writes.events.is_empty()
        && writes.effects.is_empty()
        && writes.maybe_ready.is_empty()
        && writes.done.is_empty());
    let recorded = if is_news {
        record(&mut pipeline, writes, channel).await?
    } else {
        pipeline.add(LAST, params![]).await?
    };
    pipeline.run("COMMIT");
    let answers = pipeline.flush().await.map_err(Failed::Sent)?;
    let row = answers.get(recorded).and_then(|rows: &Vec<Row>| rows.first());
    Ok(Written {
        seq_before: row.map_or(0, |row| version(row, 0)),
        is_told: row.is_none_or(|row| row.get(1)),
        is_unblocking: unblocking.and_then(|place| answers.get(place)).is_some_and(|rows| !rows.is_empty()),
    })
}

async fn record(pipeline: &mut Pipeline<'_>, writes: &Writes, channel: &str) -> Result<usize, Fault> {
    let bodies =
        writes.events.iter().map(|event| columns::body("event", event)).collect::<Result<Vec<_>, _>>();
    let effects =
        writes.effects.iter().map(|effect| columns::body("effect", effect)).collect::<Result<Vec<_>, _>>();
    let at: Vec<i64> = writes.events.iter().map(|event| event.at.ms()).collect();
    let tasks: Vec<Option<String>> = writes.events.iter().map(task_of).collect();
    let count = |len: usize| i64::try_from(len).unwrap_or(i64::MAX);
    let (events, effects) = (bodies.map_err(Fault::Final)?, effects.map_err(Fault::Final)?);
    let (events_count, effects_count) = (count(events.len()), count(effects.len()));
    let channel = channel.to_owned();
    let params = params![events_count, effects_count, at, tasks, events, effects, channel, BETWEEN_MS];
    pipeline.add(RECORD, params).await
}

fn task_of(event: &Event) -> Option<String> {
    event.body.task().map(|task| task.to_string())
}
