//! The keeper: a thread that looks, now and then, for what other processes wrote, and puts the log away.
//!
//! What this process writes is announced by the writer at once. Moving pages from the log into the file is
//! done here, beside the writer rather than in its way.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::watch;

use crate::error::StoreError;
use crate::sqlite::file::open::connect;
use crate::sqlite::read::graph::ready_count;
use crate::sqlite::read::history::last_seq;
use crate::sqlite::threads::queue::WriterMessage;
use crate::sqlite::threads::thread_count::ThreadGuard;
use crate::sqlite::threads::writer::WriterHandle;
use crate::sqlite::write::unblock;

/// How soon a commit by another process is seen here. One look costs microseconds.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

pub(crate) struct ChangePoller {
    pub(crate) path: Arc<PathBuf>,
    pub(crate) newest: Arc<watch::Sender<u64>>,
    pub(crate) writer: WriterHandle,
    pub(crate) guard: ThreadGuard,
}

/// The keeper ends when this is dropped.
pub(crate) struct ChangePollerHandle(#[expect(dead_code, reason = "held for its drop")] Sender<()>);

impl ChangePoller {
    pub(crate) fn start(self) -> Result<ChangePollerHandle, StoreError> {
        let (sender, receiver) = mpsc::channel();
        let failed = |error: std::io::Error| StoreError::Backend {
            doing: "starting the poller",
            detail: error.to_string(),
        };
        thread::Builder::new()
            .name("store-poller".to_owned())
            .spawn(move || {
                self.serve(&receiver);
                drop(self.guard);
            })
            .map_err(failed)?;
        Ok(ChangePollerHandle(sender))
    }

    fn serve(&self, ended: &Receiver<()>) {
        let mut conn = None;
        let (mut seen, mut ready) = (None, None);
        while ended.recv_timeout(POLL_INTERVAL) == Err(RecvTimeoutError::Timeout) {
            // Opened at the first look: a command that lives for milliseconds never needs it.
            if conn.is_none() {
                conn = connect(&self.path).ok();
            }
            let Some(conn) = &conn else { continue };
            // A look that fails is taken again; whoever reads or writes hears of the reason.
            let version: Option<i64> = conn.pragma_query_value(None, "data_version", |row| row.get(0)).ok();
            if version.is_some() && version != seen {
                seen = version;
                self.poll(conn, &mut ready);
            }
        }
    }

    /// `ready` is how much was ready at the last look. When a blocker's dependents are told in steps, that
    /// changes without any event.
    fn poll(&self, conn: &Connection, ready: &mut Option<u64>) {
        if let (Ok(last_seq), Ok(ready_now)) = (last_seq(conn), ready_count(conn)) {
            let is_other = ready.replace(ready_now) != Some(ready_now);
            self.newest.send_if_modified(|newest| {
                let is_newer = last_seq > *newest;
                *newest = last_seq.max(*newest);
                is_newer || is_other
            });
        }
        if unblock::is_needed(conn).unwrap_or(false) {
            // The writer is gone only when the store is being closed.
            let _ = self.writer.send(WriterMessage::Unblock);
        }
        // Passive: it takes what it can without keeping anybody waiting.
        let _ = conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
    }
}
