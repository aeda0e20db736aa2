//! The embedded store: one SQLite file, one writer thread with group commit, a few reader threads.
//!
//! Any number of processes may open the file. Within a process every write goes through the writer and every read
//! through the readers; the only other connection is the poller's.

mod backend;
mod fault;
mod file;
mod options;
mod read;
mod rows;
mod threads;
mod transaction;
mod write;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;

pub use self::file::restore::restore;
pub use self::options::{SqliteOptions, StoreClock};

use self::fault::SqliteFault;
use self::file::condition::FileCondition;
use self::file::open;
use self::read::history::last_seq;
use self::threads::poller::{ChangePoller, ChangePollerHandle};
use self::threads::queue::WriterMessage;
use self::threads::readers::Readers;
use self::threads::thread_count::ThreadCount;
use self::threads::writer::{Writer, WriterHandle};
use crate::error::StoreError;
use crate::model::progress::ProgressListener;

/// A store in one SQLite file. Cheap to clone.
#[derive(Clone)]
pub struct SqliteStore(Arc<SqliteInner>);

struct SqliteInner {
    path: Arc<PathBuf>,
    clock: StoreClock,
    writer: WriterHandle,
    readers: Readers,
    newest: Arc<watch::Sender<u64>>,
    poller: Mutex<Option<ChangePollerHandle>>,
    threads: ThreadCount,
    progress: ProgressListener,
}

impl SqliteStore {
    /// Opens the store at `path`, or creates it. Refuses a file that is damaged, not a store, newer than this program
    /// or not writable, and leaves it unchanged.
    ///
    /// Blocks on file I/O. After an unclean shutdown it checks the whole file, which takes seconds for a large one.
    pub fn open(path: &Path, options: SqliteOptions) -> Result<Self, StoreError> {
        let SqliteOptions { clock, pages_max, progress } = options;
        let lock = open::prepare(path, &progress)?;
        let conn = open::connect(path)?;
        let failed = |error: rusqlite::Error| SqliteFault::from(error).into_error(path, "opening the store");
        if let Some(pages) = pages_max {
            conn.pragma_update(None, "max_page_count", pages).map_err(failed)?;
        }
        let last_seq = last_seq(&conn).map_err(failed)?;
        let condition = Arc::new(FileCondition::new(path)?);
        let (path, threads) = (Arc::new(path.to_owned()), ThreadCount::new());
        let newest = Arc::new(watch::Sender::new(last_seq));
        let writer = Writer {
            path: Arc::clone(&path),
            clock: Arc::clone(&clock),
            newest: Arc::clone(&newest),
            condition: Arc::clone(&condition),
            lock,
            guard: threads.enter(),
        };
        let writer = writer.start(conn)?;
        let poller = ChangePoller {
            path: Arc::clone(&path),
            newest: Arc::clone(&newest),
            writer: writer.clone(),
            guard: threads.enter(),
        };
        let poller = Mutex::new(Some(poller.start()?));
        let readers = Readers::new(&path, condition, threads.clone());
        Ok(Self(Arc::new(SqliteInner { path, clock, writer, readers, newest, poller, threads, progress })))
    }

    pub fn path(&self) -> &Path {
        &self.0.path
    }
}

impl SqliteInner {
    /// Tells the threads to stop after their current work.
    fn shut_down(&self) {
        self.readers.close();
        drop(self.poller.lock().unwrap_or_else(PoisonError::into_inner).take());
        // Fails only if the store was already closed.
        let _ = self.writer.send(WriterMessage::Close);
    }
}

impl Drop for SqliteInner {
    fn drop(&mut self) {
        self.shut_down();
    }
}
