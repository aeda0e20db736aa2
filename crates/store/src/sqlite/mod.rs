//! The embedded store: one SQLite file, one writer thread with group commit, a few readers.
//!
//! Any number of processes may have the file open. Within one, every write goes through `writer` and every
//! read through `readers`; nothing else holds a connection but the `keeper`.

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
    /// Opens the store at `path`, or makes it where there is no file. A file that is damaged, not ours, newer
    /// than this program or not writable is refused and left as it is.
    ///
    /// It reads and may write files before it returns. After an unclean stop it looks the whole file over,
    /// which takes seconds for a large one.
    pub fn open(path: &Path, options: SqliteOptions) -> Result<Self, StoreError> {
        let SqliteOptions { clock, pages_max, progress } = options;
        let lock = open::prepare(path, &progress)?;
        let conn = open::connect(path)?;
        let failed = |error: rusqlite::Error| SqliteFault::from(error).into_error(path, "opening the store");
        if let Some(pages) = pages_max {
            conn.pragma_update(None, "max_page_count", pages).map_err(failed)?;
        }
        let last_seq = last_seq(&conn).map_err(failed)?;
        let (path, threads) = (Arc::new(path.to_owned()), ThreadCount::new());
        let newest = Arc::new(watch::Sender::new(last_seq));
        let writer = Writer {
            path: Arc::clone(&path),
            clock: Arc::clone(&clock),
            newest: Arc::clone(&newest),
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
        let readers = Readers::new(&path, threads.clone());
        Ok(Self(Arc::new(SqliteInner { path, clock, writer, readers, newest, poller, threads, progress })))
    }

    /// The file it is in.
    pub fn path(&self) -> &Path {
        &self.0.path
    }
}

impl SqliteInner {
    /// Tells the threads to end once they have finished what they have.
    fn shut_down(&self) {
        self.readers.close();
        drop(self.poller.lock().unwrap_or_else(PoisonError::into_inner).take());
        // It is gone already when the store was closed before.
        let _ = self.writer.send(WriterMessage::Close);
    }
}

impl Drop for SqliteInner {
    fn drop(&mut self) {
        self.shut_down();
    }
}
