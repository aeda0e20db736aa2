//! Telling the other processes of a commit, all of them and not more often than they can use.
//!
//! PostgreSQL wakes every connection that listens for every notice, and with sixteen machines at work that took most of
//! the server's time. So a commit brings its notice along only when the last one is some moments old. If it is not,
//! whoever committed tells of it when those have passed, unless a later notice was heard by then. Should the process die in
//! between, the others find out when they next look.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::postgres::connect::connector::Connector;
use crate::postgres::connect::pool::Pool;
use crate::postgres::notify::feed::CommitFeed;

/// From one notice to the next. Nobody who waits for an agent notices it, and a hundred machines are woken fifty times in
/// a second at most, however much is committed.
pub(crate) const NOTIFY_INTERVAL_MS: i64 = 20;

/// A server that does not answer for this long is away, and whoever closes the store need not wait for it.
const PATIENCE: Duration = Duration::from_secs(2);

/// Nothing is told where somebody told of it in the meantime.
const TELL: &str = "WITH c AS (
        UPDATE counter SET told_seq = seq, told_ms = (extract(epoch FROM clock_timestamp()) * 1000)::bigint
        WHERE told_seq < $1 RETURNING seq
    ) SELECT pg_notify($2, seq::text)::text FROM c";

/// Tells what is owed, each time the moments have passed, until the store is closed.
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
            // Cannot fail: `news` has the other end.
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

/// Tells what is still owed.
pub(crate) async fn announce(connector: &Connector, pool: &Pool, feed: &CommitFeed) {
    let Some(seq) = feed.unannounced() else { return };
    let (seq, channel) = (i64::try_from(seq).unwrap_or(i64::MAX), connector.schema());
    // Where the server is away the others have to look for themselves, too.
    let _ = timeout(PATIENCE, pool.query("telling of commits", TELL, &[&seq, &channel])).await;
}
