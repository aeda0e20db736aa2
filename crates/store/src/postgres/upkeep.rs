//! Background maintenance: unblocking dependents that a commit left for later, and vacuuming the small tables every
//! claim reads, sooner than autovacuum would.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::timeout;

use crate::postgres::connect::connector::Connector;
use crate::postgres::connect::pool::Pool;
use crate::postgres::write::unblock;

/// Claims between two vacuums. Vacuuming tables this small takes milliseconds.
const CLAIMS_BETWEEN_SWEEPS: usize = 5_000;
/// How often to look for dependents left by a process that ended.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// `SKIP_LOCKED`, because another process may be vacuuming; TRUNCATE false, because shrinking the file would block
/// claims.
const SWEEP: &[&str] = &[
    "VACUUM (SKIP_LOCKED, TRUNCATE false, INDEX_CLEANUP on) ready",
    "VACUUM (SKIP_LOCKED, TRUNCATE false, INDEX_CLEANUP on) leases",
    "VACUUM (SKIP_LOCKED, TRUNCATE false, INDEX_CLEANUP on) outbox",
    "VACUUM (SKIP_LOCKED, TRUNCATE false) counter",
];

/// Whether any dependents are left to unblock.
const LEFT: &str = "SELECT blocker FROM unblocking LIMIT 1";

#[derive(Clone, Default)]
pub(super) struct Maintenance {
    claims: Arc<AtomicUsize>,
    sweep: Arc<Notify>,
}

impl Maintenance {
    pub(super) fn note_claims(&self, count: usize) {
        let before = self.claims.fetch_add(count, Ordering::Relaxed);
        if before / CLAIMS_BETWEEN_SWEEPS != (before + count) / CLAIMS_BETWEEN_SWEEPS {
            self.sweep.notify_one();
        }
    }

    /// Vacuums after every [`CLAIMS_BETWEEN_SWEEPS`] claims, until the store is closed.
    pub(super) async fn vacuum(self, pool: Arc<Pool>, mut closing: watch::Receiver<bool>) {
        loop {
            tokio::select! {
                _ = closing.changed() => return,
                () = self.sweep.notified() => {}
            }
            for sql in SWEEP {
                // Not the owner, or the server is unreachable: autovacuum will do it.
                if pool.run("vacuuming", sql).await.is_err() {
                    break;
                }
            }
        }
    }
}

/// Unblocks dependents whenever a commit left some, and periodically looks for those other processes left.
pub(super) async fn unblock(
    connector: Connector,
    pool: Arc<Pool>,
    unblocking: Arc<Notify>,
    mut closing: watch::Receiver<bool>,
) {
    loop {
        // Most checks find nothing and do not justify a connection of their own: with a hundred processes the server
        // would open twenty per second.
        let is_left = pool.query("looking for dependents to unblock", LEFT, &[]).await;
        if is_left.is_ok_and(|left| !left.is_empty()) {
            // After an error the rest is still recorded and is retried at the next check.
            let _ = unblock::run(&connector, &closing).await;
        }
        tokio::select! {
            _ = closing.changed() => return,
            _ = timeout(LOOK_EVERY, unblocking.notified()) => {}
        }
    }
}
