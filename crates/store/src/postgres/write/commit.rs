//! Writes what a batch decided, in bulk: one statement per table, however many changes there are.

use baton_core::records::event::Event;
use tokio_postgres::Row;

use crate::columns;
use crate::model::record_kind::RecordKind;
use crate::postgres::connect::fault::PostgresFault;
use crate::postgres::connect::pipeline::{Pipeline, params};
use crate::postgres::decode::{texts, version};
use crate::postgres::notify::throttle::NOTIFY_INTERVAL_MS;
use crate::postgres::write::batch::BatchWrites;
use crate::postgres::write::facts::LockedRows;
use crate::postgres::write::put;
use crate::postgres::write::row::{RecordWrite, TaskWrite};
use crate::postgres::write::unblock;

const INSERT_EDGES: &str =
    "INSERT INTO edges (task, blocker, is_met) SELECT * FROM unnest($1::text[], $2::text[], $3::boolean[])";
const DELETE_LEASES: &str = "DELETE FROM leases WHERE attempt = ANY($1)";
const LEAVE_READY: &str = "DELETE FROM ready WHERE id = ANY($1)";
const ENTER_READY: &str = "INSERT INTO ready (id, role, rank, created_ms, project, person)
    SELECT id, role, rank, created_ms, coalesce(project, ''), person FROM tasks WHERE id = ANY($1) AND is_claimable AND open_blockers = 0
    ON CONFLICT (id) DO UPDATE SET rank = excluded.rank WHERE ready.rank <> excluded.rank";
/// Locks the counter until the commit, so this comes last. Notifies other processes if the last notification is old
/// enough; `abs` keeps that working if the clock was set back.
const RECORD: &str = "WITH c AS (
        UPDATE counter SET seq = seq + $1::bigint, effect = effect + $2::bigint,
            told_ms = CASE WHEN abs((extract(epoch FROM clock_timestamp()) * 1000)::bigint - told_ms) >= $8
                THEN (extract(epoch FROM clock_timestamp()) * 1000)::bigint ELSE told_ms END,
            told_seq = CASE WHEN abs((extract(epoch FROM clock_timestamp()) * 1000)::bigint - told_ms) >= $8
                THEN seq + $1::bigint ELSE told_seq END
        RETURNING seq - $1::bigint AS seq, effect - $2::bigint AS effect, told_seq = seq AS is_announced
    ), e AS (
        INSERT INTO events (seq, at_ms, task, body) SELECT c.seq + u.n, u.at_ms, u.task, u.body
        FROM c, unnest($3::bigint[], $4::text[], $5::text[]) WITH ORDINALITY AS u (at_ms, task, body, n)
    ), o AS (
        INSERT INTO outbox (id, body) SELECT c.effect + u.n, u.body
        FROM c, unnest($6::text[]) WITH ORDINALITY AS u (body, n)
    )
    SELECT seq, is_announced, CASE WHEN is_announced THEN pg_notify($7, (seq + $1::bigint)::text)::text END FROM c";

const LAST: &str = "SELECT seq, true FROM counter";

/// What is left to do after a batch was committed.
pub(crate) struct CommitResult {
    /// The number of the last event before this batch.
    pub(crate) seq_before: u64,
    /// Other processes were notified.
    pub(crate) is_announced: bool,
    /// There are more dependents than one transaction unblocks.
    pub(crate) is_unblocking: bool,
}

/// Adds the rows of `writes`, in an order in which each statement finds what it needs.
pub(crate) async fn rows(pipeline: &mut Pipeline<'_>, writes: &BatchWrites) -> Result<(), PostgresFault> {
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

/// When a transaction failed, which decides what may have become of it.
pub(crate) enum CommitFailure {
    /// Before COMMIT was sent: nothing is written.
    Unsent(PostgresFault),
    /// After COMMIT was sent.
    Sent(PostgresFault),
}

impl From<PostgresFault> for CommitFailure {
    fn from(fault: PostgresFault) -> Self {
        Self::Unsent(fault)
    }
}

/// Writes what follows from the rows (unblocks dependents, updates `ready`, numbers the events) and commits.
pub(crate) async fn finish(
    mut pipeline: Pipeline<'_>,
    known: &LockedRows,
    writes: &BatchWrites,
    channel: &str,
) -> Result<CommitResult, CommitFailure> {
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
    // Otherwise nobody would find anything new, and the counter stays unlocked.
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
    let answers = pipeline.flush().await.map_err(CommitFailure::Sent)?;
    let row = answers.get(recorded).and_then(|rows: &Vec<Row>| rows.first());
    Ok(CommitResult {
        seq_before: row.map_or(0, |row| version(row, 0)),
        is_announced: row.is_none_or(|row| row.get(1)),
        is_unblocking: unblocking.and_then(|place| answers.get(place)).is_some_and(|rows| !rows.is_empty()),
    })
}

async fn record(
    pipeline: &mut Pipeline<'_>,
    writes: &BatchWrites,
    channel: &str,
) -> Result<usize, PostgresFault> {
    let bodies = writes
        .events
        .iter()
        .map(|event| columns::body(RecordKind::Event, event))
        .collect::<Result<Vec<_>, _>>();
    let effects = writes
        .effects
        .iter()
        .map(|effect| columns::body(RecordKind::Effect, effect))
        .collect::<Result<Vec<_>, _>>();
    let at: Vec<i64> = writes.events.iter().map(|event| event.at.ms()).collect();
    let tasks: Vec<Option<String>> = writes.events.iter().map(event_task).collect();
    let count = |len: usize| i64::try_from(len).unwrap_or(i64::MAX);
    let (events, effects) = (bodies.map_err(PostgresFault::Final)?, effects.map_err(PostgresFault::Final)?);
    let (events_count, effects_count) = (count(events.len()), count(effects.len()));
    let channel = channel.to_owned();
    let params =
        params![events_count, effects_count, at, tasks, events, effects, channel, NOTIFY_INTERVAL_MS];
    pipeline.add(RECORD, params).await
}

fn event_task(event: &Event) -> Option<String> {
    event.body.task().map(|task| task.to_string())
}
