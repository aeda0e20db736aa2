//! Freeing what waited on a task that is done.
//!
//! A few dependents are freed in the transaction that completes the task. A large fan would hold everyone up,
//! so the rest is written down in `unblocking` and worked off in batches, by any process, also after a crash:
//! an edge is met once, and only a batch that met it takes it off the count.

use std::collections::BTreeSet;
use std::time::Duration;

use baton_core::base::id::TaskId;
use tokio::sync::watch;
use tokio::time::sleep;

use super::connect::{Connector, Link};
use super::fault::Fault;
use super::lock::texts;
use super::pipeline::{Pipeline, params};
use crate::error::StoreError;

/// The most dependents one transaction frees. A busy machine needs some ten milliseconds for as many, and
/// whoever shares the transaction waits for them.
const DEPENDENTS_MAX: i64 = 250;
/// Between batches, so that whoever waits for the rows goes first.
const PAUSE: Duration = Duration::from_millis(1);
/// What a batch sends on the store's channel: there are no new events, but there may be work to claim.
pub(super) const FREED: &str = "freed";

const DOING: &str = "freeing dependents";

/// Dependents are locked in the order of their ids before the first is touched. Those up to `$3` are known to be free,
/// and stepping over them again would cost more with every batch. Answers with how many there were, and the last.
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

/// How far down the dependents of one blocker this process has come. Nothing is lost with it: another begins at the top.
#[derive(Default)]
struct Progress {
    blocker: String,
    /// Its dependents up to here are free, in the order of their ids.
    freed_to: String,
}

/// Adds the freeing of dependents. The answer at the returned place has a row for each task that has more.
pub(super) async fn add(pipeline: &mut Pipeline<'_>, done: &BTreeSet<TaskId>) -> Result<usize, Fault> {
    pipeline.add(FREE, params![texts(done), DEPENDENTS_MAX, String::new()]).await?;
    pipeline.add(REMEMBER, params![texts(done)]).await
}

/// Works off all that is written down and not in another process's hands, or as much as closing leaves time for.
pub(super) async fn run(connector: &Connector, closing: &watch::Receiver<bool>) -> Result<(), StoreError> {
    let link = connector.link().await?;
    let mut progress = Progress::default();
    while !*closing.borrow()
        && batch(&link, connector.schema(), &mut progress).await.map_err(|fault| fault.unwritten(DOING))?
    {
        sleep(PAUSE).await;
    }
    Ok(())
}

/// One transaction; false when there is nothing left to do here.
async fn batch(link: &Link, channel: &str, progress: &mut Progress) -> Result<bool, Fault> {
    match free_some(link, channel, progress).await {
        Err(Fault::Again(_)) => link.run(DOING, "ROLLBACK").await.map(|()| true),
        other => other,
    }
}

async fn free_some(link: &Link, channel: &str, progress: &mut Progress) -> Result<bool, Fault> {
    link.run(DOING, "BEGIN").await?;
    let rows = link.query(DOING, NEXT, &[]).await?;
    let Some(blocker) = rows.first().map(|row| row.get::<_, String>(0)) else {
        link.run(DOING, "COMMIT").await?;
        return Ok(false);
    };
    if progress.blocker != blocker {
        *progress = Progress { blocker: blocker.clone(), freed_to: String::new() };
    }
    let after = progress.freed_to.clone();
    let rows = link.query(DOING, FREE, &[&[&blocker].as_slice(), &DEPENDENTS_MAX, &after]).await?;
    let freed_to = rows.first().and_then(|row| row.get::<_, Option<String>>(1));
    let freed = rows.first().map_or(0, |row| row.get::<_, i64>(0));
    let mut pipeline = Pipeline::new(link, DOING);
    if freed < DEPENDENTS_MAX {
        pipeline.add(FORGET, params![blocker]).await?;
    }
    pipeline.add(NOTIFY, params![channel.to_owned(), FREED.to_owned()]).await?;
    pipeline.run("COMMIT");
    pipeline.flush().await?;
    // At the end, whoever is left over was added behind us: the next batch begins at the top.
    progress.freed_to = if freed < DEPENDENTS_MAX { String::new() } else { freed_to.unwrap_or_default() };
    Ok(true)
}
