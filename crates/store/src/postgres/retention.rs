//! Pruning old events, a bounded number at a time.

use crate::error::StoreError;
use crate::model::query::{EventRetention, PruneResult};
use crate::postgres::connect::pool::Pool;
use crate::postgres::decode::count;

/// Events of unfinished tasks are kept. Events are stored almost in the order of their time, so old ones are at the
/// front.
const PRUNE: &str = "WITH old AS MATERIALIZED (
        SELECT e.seq FROM events e LEFT JOIN tasks t ON t.id = e.task
        WHERE e.at_ms < $1 AND (t.id IS NULL OR t.is_finished)
        ORDER BY e.seq LIMIT $2
    ), gone AS (
        DELETE FROM events e USING old WHERE e.seq = old.seq RETURNING e.seq
    ) SELECT count(*) FROM gone";

pub(super) async fn prune(pool: &Pool, retention: &EventRetention) -> Result<PruneResult, StoreError> {
    let rows_max = i64::from(retention.rows_max);
    let rows = pool.query("deleting old events", PRUNE, &[&retention.events_before.ms(), &rows_max]).await?;
    let events = count(rows.first());
    Ok(PruneResult { events, is_more: events > 0 && events == u64::from(retention.rows_max) })
}
