//! Unblocking the dependents of a task that is done.
//!
//! A few are unblocked in the transaction that completes the task. A wide fan-out would hold everyone up, so the rest
//! is recorded in `unblocking` and done in batches by any process, also after a crash. An edge is marked as met once,
//! and only the batch that marked it decrements the count.

use std::collections::BTreeSet;
use std::time::Duration;

use baton_core::base::id::TaskId;
use tokio::sync::watch;
use tokio::time::sleep;

use crate::error::StoreError;
use crate::postgres::connect::connector::{Connector, PgConnection};
use crate::postgres::connect::fault::PostgresFault;
use crate::postgres::connect::pipeline::{Pipeline, params};
use crate::postgres::decode::texts;
use crate::postgres::notify::feed::FREED;

/// The most dependents unblocked in one transaction. A busy machine needs about ten milliseconds for that many, and
/// everyone who shares the transaction waits for them.
const DEPENDENTS_MAX: i64 = 250;
/// Between batches, so that others waiting for the rows go first.
const PAUSE: Duration = Duration::from_millis(1);

const DOING: &str = "unblocking dependents";

/// Locks dependents in id order before changing any. Those up to `$3` are already unblocked and are skipped, since
/// scanning them again would cost more with every batch. Returns how many there were, and the last.
const FREE: &str = "WITH d AS MATERIALIZED (
        SELECT b.id AS blocker, e.task FROM unnest($1::text[]) AS b (id)
        CROSS JOIN LATERAL (
            SELECT task FROM edges WHERE blocker = b.id AND task > $3 AND NOT is_met ORDER BY task LIMIT $2
        ) e LIMIT $2
    ), locked AS MATERIALIZED (
        SELECT t.id FROM (SELECT DISTINCT task FROM d) u JOIN tasks t ON t.id = u.task ORDER BY t.id FOR UPDATE OF t
    ), met AS (
        UPDATE edges e SET is_met = true FROM d WHERE e.task = d.task AND e.blocker = d.blocker AND NOT e.is_met
        RETURNING e.task
    ), n AS (
        SELECT task, count(*) AS n FROM met GROUP BY task
    ), freed AS (
        UPDATE tasks t SET open_blockers = t.open_blockers - n.n
        FROM (SELECT count(*) FROM locked) AS all_locked, n WHERE t.id = n.task
        RETURNING t.id, t.role, t.rank, t.created_ms, t.project, t.person, t.is_claimable, t.open_blockers
    ), readied AS (
        INSERT INTO ready (id, role, rank, created_ms, project, person)
        SELECT id, role, rank, created_ms, coalesce(project, ''), person FROM freed
        WHERE is_claimable AND open_blockers = 0
        ON CONFLICT (id) DO NOTHING
    )
    SELECT count(*), max(task) FROM d";
const REMEMBER: &str = "INSERT INTO unblocking (blocker)
    SELECT b.id FROM unnest($1::text[]) AS b (id)
    WHERE EXISTS (SELECT FROM edges WHERE blocker = b.id AND NOT is_met)
    ON CONFLICT (blocker) DO NOTHING RETURNING blocker";
const NEXT: &str = "SELECT blocker FROM unblocking ORDER BY blocker LIMIT 1 FOR UPDATE SKIP LOCKED";
const FORGET: &str = "DELETE FROM unblocking u
    WHERE blocker = $1 AND NOT EXISTS (SELECT FROM edges e WHERE e.blocker = u.blocker AND NOT e.is_met)";
const NOTIFY: &str = "SELECT pg_notify($1, $2)::text";

/// How far this process has come with one blocker. Nothing is lost if it dies: another process starts from the top.
#[derive(Default)]
struct UnblockProgress {
    blocker: String,
    /// Its dependents up to here are unblocked, in id order.
    freed_to: String,
}

/// Adds the unblocking statements. The result at the returned index has a row for each task with more dependents.
pub(crate) async fn add(
    pipeline: &mut Pipeline<'_>,
    done: &BTreeSet<TaskId>,
) -> Result<usize, PostgresFault> {
    pipeline.add(FREE, params![texts(done), DEPENDENTS_MAX, String::new()]).await?;
    pipeline.add(REMEMBER, params![texts(done)]).await
}

/// Unblocks everything recorded that no other process is working on, until the store is closed.
pub(crate) async fn run(connector: &Connector, closing: &watch::Receiver<bool>) -> Result<(), StoreError> {
    let conn = connector.open().await?;
    let mut progress = UnblockProgress::default();
    while !*closing.borrow()
        && run_batch(&conn, connector.schema(), &mut progress)
            .await
            .map_err(|fault| fault.into_error(DOING))?
    {
        sleep(PAUSE).await;
    }
    Ok(())
}

/// One transaction; false if there is nothing left to do.
async fn run_batch(
    conn: &PgConnection,
    channel: &str,
    progress: &mut UnblockProgress,
) -> Result<bool, PostgresFault> {
    match unblock_some(conn, channel, progress).await {
        Err(PostgresFault::Retry(_)) => conn.run(DOING, "ROLLBACK").await.map(|()| true),
        other => other,
    }
}

async fn unblock_some(
    conn: &PgConnection,
    channel: &str,
    progress: &mut UnblockProgress,
) -> Result<bool, PostgresFault> {
    conn.run(DOING, "BEGIN").await?;
    let rows = conn.query(DOING, NEXT, &[]).await?;
    let Some(blocker) = rows.first().map(|row| row.get::<_, String>(0)) else {
        conn.run(DOING, "COMMIT").await?;
        return Ok(false);
    };
    if progress.blocker != blocker {
        *progress = UnblockProgress { blocker: blocker.clone(), freed_to: String::new() };
    }
    let after = progress.freed_to.clone();
    let rows = conn.query(DOING, FREE, &[&[&blocker].as_slice(), &DEPENDENTS_MAX, &after]).await?;
    let freed_to = rows.first().and_then(|row| row.get::<_, Option<String>>(1));
    let freed = rows.first().map_or(0, |row| row.get::<_, i64>(0));
    let mut pipeline = Pipeline::new(conn, DOING);
    if freed < DEPENDENTS_MAX {
        pipeline.add(FORGET, params![blocker]).await?;
    }
    pipeline.add(NOTIFY, params![channel.to_owned(), FREED.to_owned()]).await?;
    pipeline.run("COMMIT");
    pipeline.flush().await?;
    // Dependents that are left were added behind us: the next batch starts from the top.
    progress.freed_to = if freed < DEPENDENTS_MAX { String::new() } else { freed_to.unwrap_or_default() };
    Ok(true)
}
