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
use crate::sqlite::threads::queue::Message;
use crate::sqlite::threads::thread_count::Here;
use crate::sqlite::threads::writer::WriterHandle;
use crate::sqlite::write::unblock;

/// How soon a commit by another process is seen here. One look costs microseconds.
const LOOK_EVERY: Duration = Duration::from_millis(100);

pub(crate) struct Keeper {
    pub(crate) path: Arc<PathBuf>,
    pub(crate) newest: Arc<watch::Sender<u64>>,
    pub(crate) writer: WriterHandle,
    pub(crate) here: Here,
}

/// The keeper ends when this is dropped.
pub(crate) struct KeeperHandle(#[expect(dead_code, reason = "held for its drop")] Sender<()>);

impl Keeper {
    pub(crate) fn start(self) -> Result<KeeperHandle, StoreError> {
        let (sender, receiver) = mpsc::channel();
        let failed = |error: std::io::Error| StoreError::Backend {
            doing: "starting the keeper",
            detail: error.to_string(),
        };
        thread::Builder::new()
            .name("store-keeper".to_owned())
            .spawn(move || {
                self.serve(&receiver);
                drop(self.here);
            })
            .map_err(failed)?;
        Ok(KeeperHandle(sender))
    }

    fn serve(&self, ended: &Receiver<()>) {
        let mut conn = None;
        let (mut seen, mut ready) = (None, None);
        while ended.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
            // Opened at the first look: a command that lives for milliseconds never needs it.
            if conn.is_none() {
                conn = connect(&self.path).ok();
            }
            let Some(conn) = &conn else { continue };
            // A look that fails is taken again; whoever reads or writes hears of the reason.
            let version: Option<i64> = conn.pragma_query_value(None, "data_version", |row| row.get(0)).ok();
            if version.is_some() && version != seen {
                seen = version;
                self.look(conn, &mut ready);
            }
        }
    }

    /// `ready` is how much was ready at the last look. When a blocker's dependents are told in steps, that
    /// changes without any event.
    fn look(&self, conn: &Connection, ready: &mut Option<u64>) {
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
            let _ = self.writer.send(Message::Look);
        }
        // Passive: it takes what it can without keeping anybody waiting.
        let _ = conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
    }
}
