//! The poller: a thread that detects commits by other processes and checkpoints the write-ahead log.
//!
//! The writer announces this process's own commits immediately. Checkpoints run here so that they do not delay the
//! writer.

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

/// How soon a commit by another process is noticed. One poll costs microseconds.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

pub(crate) struct ChangePoller {
    pub(crate) path: Arc<PathBuf>,
    pub(crate) newest: Arc<watch::Sender<u64>>,
    pub(crate) writer: WriterHandle,
    pub(crate) guard: ThreadGuard,
}

/// The poller stops when this is dropped.
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
            // Opened lazily: a command that runs for milliseconds never needs it.
            if conn.is_none() {
                conn = connect(&self.path).ok();
            }
            let Some(conn) = &conn else { continue };
            // A failed poll is retried; readers and writers report the cause.
            let version: Option<i64> = conn.pragma_query_value(None, "data_version", |row| row.get(0)).ok();
            if version.is_some() && version != seen {
                seen = version;
                self.poll(conn, &mut ready);
            }
        }
    }

    /// `ready` is the number of ready tasks at the last poll. It changes without an event while a wide fan-out is
    /// being unblocked.
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
            // Fails only while the store is being closed.
            let _ = self.writer.send(WriterMessage::Unblock);
        }
        // PASSIVE: checkpoints what it can without blocking anyone.
        let _ = conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
    }
}
