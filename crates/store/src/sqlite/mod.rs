//! The embedded store: one SQLite file, one writer thread with group commit, a few readers.
//!
//! Any number of processes may have the file open. Within one, every write goes through `writer` and every
//! read through `readers`; nothing else holds a connection but the `keeper`.

mod alive;
mod answerer;
mod apply;
mod backup;
mod batch;
mod claim;
mod edges;
mod fault;
mod graph;
mod groups;
mod history;
mod hold;
mod job;
mod keeper;
mod leases;
mod lists;
mod migrate;
mod open;
mod put_task;
mod readers;
mod rendered;
mod restore;
mod rows;
mod running;
mod sharing;
mod statements;
mod store;
mod unblock;
mod waiting;
mod workers;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use baton_core::base::time::Timestamp;
use tokio::sync::watch;

pub use self::restore::restore;

use self::alive::Alive;
use self::fault::Fault;
use self::keeper::{Keeper, KeeperHandle};
use self::readers::Readers;
use self::waiting::Message;
use self::writer::{Writer, WriterHandle};
use crate::error::StoreError;
use crate::onlooker::Onlooker;

/// Where the store gets its time from.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// How a store is opened. The default is right for everything but tests.
#[derive(Clone)]
pub struct SqliteOptions {
    /// Leases are judged by it.
    pub clock: Clock,
    /// The file grows to this many pages of 4 KiB and no further; what does not fit is refused as on a full disk.
    pub pages_max: Option<u32>,
    /// Told while opening it, or copying it, takes long.
    pub onlooker: Onlooker,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self { clock: Arc::new(system_clock), pages_max: None, onlooker: Onlooker::default() }
    }
}

fn system_clock() -> Timestamp {
    // Before 1970 only on a machine whose clock was never set.
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_ms(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

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
        let last_seq = history::last_seq(&conn).map_err(failed)?;
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
