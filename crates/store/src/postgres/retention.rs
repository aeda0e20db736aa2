//! Pruning old events and verdicts, a bounded number at a time.

use tokio_postgres::types::ToSql;

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

/// Where one is needed that is gone, the checks run again.
const PRUNE_VERDICTS: &str = "WITH gone AS (
        DELETE FROM records WHERE kind = 'verdict' AND key IN (
            SELECT key FROM records WHERE kind = 'verdict' AND place < $1 ORDER BY place LIMIT $2)
        RETURNING key
    ) SELECT count(*) FROM gone";

pub(super) async fn prune(pool: &Pool, retention: &EventRetention) -> Result<PruneResult, StoreError> {
    let rows_max = i64::from(retention.rows_max);
    let rows = pool.query("deleting old events", PRUNE, &[&retention.events_before.ms(), &rows_max]).await?;
    let events = count(rows.first());
    let values: [&(dyn ToSql + Sync); 2] = [&retention.events_before.ms(), &rows_max];
    let verdicts = count(pool.query("deleting old verdicts", PRUNE_VERDICTS, &values).await?.first());
    let is_full = |deleted: u64| deleted > 0 && deleted == u64::from(retention.rows_max);
    Ok(PruneResult { events, verdicts, is_more: is_full(events) || is_full(verdicts) })
}
