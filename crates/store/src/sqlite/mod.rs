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
pub use self::options::{Clock, SqliteOptions};

use self::fault::Fault;
use self::file::open;
use self::read::history::last_seq;
use self::threads::poller::{Keeper, KeeperHandle};
use self::threads::queue::Message;
use self::threads::readers::Readers;
use self::threads::thread_count::Alive;
use self::threads::writer::{Writer, WriterHandle};
use crate::error::StoreError;
use crate::model::progress::Onlooker;

/// A store in one SQLite file. Cheap to clone.
#[derive(Clone)]
pub struct SqliteStore(Arc<Inner>);

struct Inner {
    path: Arc<PathBuf>,
    clock: Clock,
    writer: WriterHandle,
    readers: Readers,
    newest: Arc<watch::Sender<u64>>,
    keeper: Mutex<Option<KeeperHandle>>,
    alive: Alive,
    onlooker: Onlooker,
}

impl SqliteStore {
    /// Opens the store at `path`, or makes it where there is no file. A file that is damaged, not ours, newer
    /// than this program or not writable is refused and left as it is.
    ///
    /// It reads and may write files before it returns. After an unclean stop it looks the whole file over,
    /// which takes seconds for a large one.
    pub fn open(path: &Path, options: SqliteOptions) -> Result<Self, StoreError> {
        let SqliteOptions { clock, pages_max, onlooker } = options;
        let hold = open::prepare(path, &onlooker)?;
        let conn = open::connect(path)?;
        let failed = |error: rusqlite::Error| Fault::from(error).into_error(path, "opening the store");
        if let Some(pages) = pages_max {
            conn.pragma_update(None, "max_page_count", pages).map_err(failed)?;
        }
        let last_seq = last_seq(&conn).map_err(failed)?;
        let (path, alive) = (Arc::new(path.to_owned()), Alive::new());
        let newest = Arc::new(watch::Sender::new(last_seq));
        let writer = Writer {
            path: Arc::clone(&path),
            clock: Arc::clone(&clock),
            newest: Arc::clone(&newest),
            hold,
            here: alive.one_more(),
        };
        let writer = writer.start(conn)?;
        let keeper = Keeper {
            path: Arc::clone(&path),
            newest: Arc::clone(&newest),
            writer: writer.clone(),
            here: alive.one_more(),
        };
        let keeper = Mutex::new(Some(keeper.start()?));
        let readers = Readers::new(&path, alive.clone());
        Ok(Self(Arc::new(Inner { path, clock, writer, readers, newest, keeper, alive, onlooker })))
    }

    /// The file it is in.
    pub fn path(&self) -> &Path {
        &self.0.path
    }
}

impl Inner {
    /// Tells the threads to end once they have finished what they have.
    fn let_go(&self) {
        self.readers.close();
        drop(self.keeper.lock().unwrap_or_else(PoisonError::into_inner).take());
        // It is gone already when the store was closed before.
        let _ = self.writer.send(Message::Close);
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.let_go();
    }
}
