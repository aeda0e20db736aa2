//! The store's own housekeeping: freeing dependents that were left for later, and vacuuming the small tables
//! that every claim reads, long before the server would come round to it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::timeout;

use crate::postgres::connect::connector::Connector;
use crate::postgres::connect::pool::Pool;
use crate::postgres::write::unblock;

/// Claims after which the dead rows they left are swept up. A sweep of tables this small takes milliseconds.
const CLAIMS_BETWEEN_SWEEPS: usize = 5_000;
/// How often to look for work that a process left behind when it ended.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// Another process may be at it already, and shrinking the file would lock claims out.
const SWEEP: &[&str] = &[
    "VACUUM (SKIP_LOCKED, TRUNCATE false, INDEX_CLEANUP on) ready",
    "VACUUM (SKIP_LOCKED, TRUNCATE false, INDEX_CLEANUP on) leases",
    "VACUUM (SKIP_LOCKED, TRUNCATE false, INDEX_CLEANUP on) outbox",
    "VACUUM (SKIP_LOCKED, TRUNCATE false) counter",
];

/// Whether dependents are written down to be freed.
const LEFT: &str = "SELECT blocker FROM unblocking LIMIT 1";

#[derive(Clone, Default)]
pub(super) struct Maintenance {
    claims: Arc<AtomicUsize>,
    sweep: Arc<Notify>,
}

impl Maintenance {
    pub(super) fn claimed(&self, count: usize) {
        let before = self.claims.fetch_add(count, Ordering::Relaxed);
        if before / CLAIMS_BETWEEN_SWEEPS != (before + count) / CLAIMS_BETWEEN_SWEEPS {
            self.sweep.notify_one();
        }
    }

    /// Sweeps whenever enough was claimed, until the store is closed.
    pub(super) async fn sweep(self, pool: Arc<Pool>, mut closing: watch::Receiver<bool>) {
        loop {
            tokio::select! {
                _ = closing.changed() => return,
                () = self.sweep.notified() => {}
            }
            for sql in SWEEP {
                // Not the owner, or the server is away: the server's own vacuum does it later.
                if pool.run("sweeping", sql).await.is_err() {
                    break;
                }
            }
        }
    }
}

/// Frees dependents whenever a commit left some, and looks every now and then for what others left.
pub(super) async fn free(
    connector: Connector,
    pool: Arc<Pool>,
    unblocking: Arc<Notify>,
    mut closing: watch::Receiver<bool>,
) {
    loop {
        // Most looks find nothing, and are not worth a connection of their own: of a hundred processes the server would
        // have to make twenty in every second.
        let is_left = pool.query("looking for dependents to free", LEFT, &[]).await;
        if is_left.is_ok_and(|left| !left.is_empty()) {
            // An error leaves the rest written down; it is tried again at the next look.
            let _ = unblock::run(&connector, &closing).await;
        }
        tokio::select! {
            _ = closing.changed() => return,
            _ = timeout(LOOK_EVERY, unblocking.notified()) => {}
        }
    }
}
