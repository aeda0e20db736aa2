//! The reader threads, each with its own connection, started on demand.
//!
//! They never write. A read sees a snapshot of what was committed when it started.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::error::StoreError;
use crate::sqlite::fault::SqliteFault;
use crate::sqlite::file::condition::FileCondition;
use crate::sqlite::file::open::connect;
use crate::sqlite::threads::thread_count::ThreadCount;

/// More would only wait for the same disk.
const READERS_MAX: usize = 4;

type ReadJob = Box<dyn FnOnce(Result<&Connection, StoreError>) + Send>;

struct ReadQueue {
    waiting: VecDeque<ReadJob>,
    idle: usize,
    started: usize,
    is_closed: bool,
}

/// Cheap to clone; all clones share the threads.
#[derive(Clone)]
pub(crate) struct Readers {
    path: Arc<PathBuf>,
    condition: Arc<FileCondition>,
    queue: Arc<(Mutex<ReadQueue>, Condvar)>,
    threads: ThreadCount,
}

impl Readers {
    pub(crate) fn new(path: &Path, condition: Arc<FileCondition>, threads: ThreadCount) -> Self {
        let queue = ReadQueue { waiting: VecDeque::new(), idle: 0, started: 0, is_closed: false };
        Self {
            path: Arc::new(path.to_owned()),
            condition,
            queue: Arc::new((Mutex::new(queue), Condvar::new())),
            threads,
        }
    }

    /// Runs `read` on a reader thread, in one read transaction.
    pub(crate) async fn read<T, F>(&self, doing: &'static str, read: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, SqliteFault> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        let (path, condition) = (Arc::clone(&self.path), Arc::clone(&self.condition));
        self.submit(Box::new(move |conn| {
            let result = conn
                .and_then(|conn| in_transaction(conn, read).map_err(|fault| fault.into_error(&path, doing)));
            if let Err(error) = &result {
                condition.note(error);
            }
            // The caller may have gone.
            let _ = answer.send(result);
        }))?;
        answered.await.map_err(|_| StoreError::Closed)?
    }

    fn submit(&self, work: ReadJob) -> Result<(), StoreError> {
        let mut queue = lock(&self.queue.0);
        if queue.is_closed {
            return Err(StoreError::Closed);
        }
        queue.waiting.push_back(work);
        if queue.idle < queue.waiting.len() && queue.started < READERS_MAX {
            queue.started += 1;
            self.start()?;
        }
        drop(queue);
        self.queue.1.notify_one();
        Ok(())
    }

    fn start(&self) -> Result<(), StoreError> {
        let (path, queue, guard) = (Arc::clone(&self.path), Arc::clone(&self.queue), self.threads.enter());
        let body = move || {
            serve(&path, &queue);
            drop(guard);
        };
        let failed = |error: std::io::Error| StoreError::Backend {
            doing: "starting a reader",
            detail: error.to_string(),
        };
        thread::Builder::new().name("store-reader".to_owned()).spawn(body).map(drop).map_err(failed)
    }

    /// Reads in progress finish; queued ones fail as closed.
    pub(crate) fn close(&self) {
        let mut queue = lock(&self.queue.0);
        queue.is_closed = true;
        queue.waiting.clear();
        drop(queue);
        self.queue.1.notify_all();
    }
}

fn serve(path: &Path, queue: &(Mutex<ReadQueue>, Condvar)) {
    let mut conn = None;
    while let Some(work) = next(queue) {
        if conn.is_none() {
            conn = match open(path) {
                Ok(opened) => Some(opened),
                Err(error) => {
                    work(Err(error));
                    continue;
                }
            };
        }
        if let Some(conn) = &conn {
            work(Ok(conn));
        }
    }
}

fn open(path: &Path) -> Result<Connection, StoreError> {
    let conn = connect(path)?;
    let failed = |error: rusqlite::Error| SqliteFault::from(error).into_error(path, "opening the store");
    conn.pragma_update(None, "query_only", true).map_err(failed)?;
    Ok(conn)
}

fn next(queue: &(Mutex<ReadQueue>, Condvar)) -> Option<ReadJob> {
    let (mutex, changed) = queue;
    let mut queue = lock(mutex);
    loop {
        if let Some(work) = queue.waiting.pop_front() {
            return Some(work);
        }
        if queue.is_closed {
            return None;
        }
        queue.idle += 1;
        queue = changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        queue.idle -= 1;
    }
}

/// A panic cannot leave the queue inconsistent: it is only changed by single statements.
fn lock(queue: &Mutex<ReadQueue>) -> MutexGuard<'_, ReadQueue> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

fn in_transaction<T>(
    conn: &Connection,
    read: impl FnOnce(&Connection) -> Result<T, SqliteFault>,
) -> Result<T, SqliteFault> {
    conn.prepare_cached("BEGIN")?.execute([])?;
    let result = read(conn);
    conn.prepare_cached("COMMIT")?.execute([])?;
    result
}
