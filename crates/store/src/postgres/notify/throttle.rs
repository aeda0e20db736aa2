//! Throttles notifications of commits.
//!
//! PostgreSQL wakes every listening connection for every notification, which took most of the server's time with
//! sixteen busy machines. So a commit includes its notification only if the last one is not too recent. Otherwise the
//! committing process sends it after [`NOTIFY_INTERVAL_MS`], unless it has received a later one by then. If it dies
//! before that, the others find the commit at their next poll.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::postgres::connect::connector::Connector;
use crate::postgres::connect::pool::Pool;
use crate::postgres::notify::feed::CommitFeed;

/// The shortest time between notifications: listeners are woken at most fifty times per second, however much is
/// committed, and nobody who waits for an agent notices 20 ms.
pub(crate) const NOTIFY_INTERVAL_MS: i64 = 20;

/// A server that does not answer for this long is unreachable; closing the store does not wait for it any longer.
const PATIENCE: Duration = Duration::from_secs(2);

/// Sends nothing if another process has announced the commit meanwhile.
const TELL: &str = "WITH c AS (
        UPDATE counter SET told_seq = seq, told_ms = (extract(epoch FROM clock_timestamp()) * 1000)::bigint
        WHERE told_seq < $1 RETURNING seq
    ) SELECT pg_notify($2, seq::text)::text FROM c";

/// Announces unannounced commits, one interval after each, until the store is closed.
pub(crate) async fn run(
    connector: Connector,
    pool: Arc<Pool>,
    feed: CommitFeed,
    mut closing: watch::Receiver<bool>,
) {
    let mut unannounced = feed.subscribe_unannounced();
    loop {
        tokio::select! {
            _ = closing.changed() => return,
            // Cannot fail: `feed` owns the sender.
            _ = unannounced.changed() => {}
        }
        tokio::select! {
            _ = closing.changed() => return,
            () = sleep(Duration::from_millis(NOTIFY_INTERVAL_MS.unsigned_abs())) => {}
        }
        unannounced.mark_unchanged();
        announce(&connector, &pool, &feed).await;
    }
}

/// Announces what has not been announced yet.
pub(crate) async fn announce(connector: &Connector, pool: &Pool, feed: &CommitFeed) {
    let Some(seq) = feed.unannounced() else { return };
    let (seq, channel) = (i64::try_from(seq).unwrap_or(i64::MAX), connector.schema());
    // If the server is unreachable, the other processes poll.
    let _ = timeout(PATIENCE, pool.query("announcing commits", TELL, &[&seq, &channel])).await;
}
