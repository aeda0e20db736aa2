//! The one writer: a thread that takes whatever waits, writes it in one transaction and answers after the commit.
//!
//! Many waiting changes share one fsync. Most have nothing to undo; when one has, all are taken again, each with
//! a savepoint of its own, so that it is undone alone. Nobody is told of a success before the commit that holds it
//! is on the disk.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvError, Sender, TryRecvError};
use std::thread;

use baton_core::time::Timestamp;
use rusqlite::Connection;
use tokio::sync::watch;

use super::Clock;
use super::alive::Here;
use super::batch::{Batch, Undoing};
use super::fault::Fault;
use super::hold::Hold;
use super::job::{Done, Job, Pending};
use super::unblock;
use crate::error::StoreError;

/// The most changes that share a commit. More would make the first of them wait for the last.
const BATCH_MAX: usize = 256;

pub enum Message {
    Work(Box<dyn Job>),
    /// As work, but after what else is in the batch: what ends there makes room for what is claimed.
    Claim(Box<dyn Job>),
    /// Another process left something to work off.
    Look,
    Close,
}

/// The callers' end of the writer.
#[derive(Clone)]
pub struct WriterHandle(Sender<Message>);

impl WriterHandle {
    /// Has the writer do `work` inside its next transaction; returns once that is committed.
    pub async fn write<T, F>(&self, doing: &'static str, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnMut(&mut Batch<'_>) -> Result<Done<T>, Fault> + Send + 'static,
    {
        let (job, answered) = Pending::new(doing, work);
        self.send(Message::Work(Box::new(job)))?;
        answered.await.map_err(|_| StoreError::Closed)?
    }

    /// As `write`, for work that depends on how much runs.
    pub async fn claim<T, F>(&self, doing: &'static str, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnMut(&mut Batch<'_>) -> Result<Done<T>, Fault> + Send + 'static,
    {
        let (job, answered) = Pending::new(doing, work);
        self.send(Message::Claim(Box::new(job)))?;
        answered.await.map_err(|_| StoreError::Closed)?
    }

    pub fn send(&self, message: Message) -> Result<(), StoreError> {
        self.0.send(message).map_err(|_| StoreError::Closed)
    }
}

/// The thread's own end.
pub struct Writer {
    pub path: Arc<PathBuf>,
    pub clock: Clock,
    pub newest: Arc<watch::Sender<u64>>,
    /// Kept until the connection is gone.
    pub hold: Hold,
    pub here: Here,
}

impl Writer {
    pub fn start(self, conn: Connection) -> Result<WriterHandle, StoreError> {
        let (sender, receiver) = mpsc::channel();
        let failed = |error: std::io::Error| StoreError::Backend {
            doing: "starting the writer",
            detail: error.to_string(),
        };
        thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || {
                self.serve(&conn, &receiver);
                // Closed here rather than by its destructor, so that its log is put away before the hold ends.
                drop(conn);
                drop(self.hold);
                drop(self.here);
            })
            .map_err(failed)?;
        Ok(WriterHandle(sender))
    }

    fn serve(&self, conn: &Connection, waiting: &Receiver<Message>) {
        // A stop in the middle of telling a blocker's dependents is made up for here.
        let mut is_unblocking = true;
        loop {
            let mut jobs = Vec::new();
            let is_open = collect(waiting, &mut jobs, &mut is_unblocking);
            if !jobs.is_empty() {
                self.write(conn, jobs);
                is_unblocking = is_unblocking || unblock::is_needed(conn).unwrap_or(false);
            }
            if !is_open {
                break;
            }
            if is_unblocking {
                is_unblocking = self.unblock(conn);
            }
        }
    }

    fn write(&self, conn: &Connection, mut jobs: Vec<Box<dyn Job>>) {
        let failure = match self.try_write(conn, &mut jobs) {
            Ok(last_seq) => {
                self.announce(last_seq);
                None
            }
            Err(error) => {
                roll_back(conn);
                Some(error)
            }
        };
        for job in jobs {
            job.answer(failure.as_ref());
        }
    }

    /// Savepoints have SQLite keep a copy of every page before each job that touches it, so they are used only
    /// when it turns out that something has to be undone.
    fn try_write(&self, conn: &Connection, jobs: &mut [Box<dyn Job>]) -> Result<i64, StoreError> {
        if let Some(last_seq) = self.run_all(conn, jobs, Undoing::All)? {
            return Ok(last_seq);
        }
        roll_back(conn);
        let last_seq = self.run_all(conn, jobs, Undoing::Each)?;
        last_seq.ok_or_else(transaction_ended)
    }

    /// The number of the last event, once it is all committed. None when a job is to be undone and cannot be
    /// without the others.
    fn run_all(
        &self,
        conn: &Connection,
        jobs: &mut [Box<dyn Job>],
        undoing: Undoing,
    ) -> Result<Option<i64>, StoreError> {
        let failed = |fault: Fault| fault.into_error(&self.path, "writing to the store");
        let mut batch = Batch::begin(conn, self.now()).map_err(failed)?;
        for job in jobs {
            let is_whole = batch.one(undoing, |batch| job.run(batch, &self.path)).map_err(failed)?;
            if conn.is_autocommit() {
                return Err(job.error().cloned().unwrap_or_else(transaction_ended));
            }
            if !is_whole {
                return Ok(None);
            }
        }
        Ok(Some(batch.commit().map_err(failed)?.last_seq))
    }

    /// One step of telling dependents, in a short transaction of its own. False when nothing is left.
    fn unblock(&self, conn: &Connection) -> bool {
        let step = || {
            let mut batch = Batch::begin(conn, self.now())?;
            let is_more = unblock::step(&mut batch)?;
            batch.commit()?;
            // No event tells of it, but whoever waits for work has to look again.
            self.newest.send_modify(|_| ());
            Ok::<bool, Fault>(is_more)
        };
        step().unwrap_or_else(|_| {
            // The disk is full or the file is held: the step is taken again after the next commit.
            roll_back(conn);
            false
        })
    }

    fn now(&self) -> Timestamp {
        (self.clock)()
    }

    fn announce(&self, last_seq: i64) {
        let last_seq = u64::try_from(last_seq).unwrap_or(0);
        self.newest.send_if_modified(|newest| {
            let is_newer = last_seq > *newest;
            *newest = last_seq.max(*newest);
            is_newer
        });
    }
}

fn transaction_ended() -> StoreError {
    StoreError::Backend { doing: "writing to the store", detail: "the transaction ended".to_owned() }
}

fn roll_back(conn: &Connection) {
    if !conn.is_autocommit() {
        // If even this fails, the next BEGIN says so to whoever waits then.
        let _ = conn.execute_batch("ROLLBACK");
    }
}

/// Takes what waits, up to a batch; waits for something when there is nothing else to do. False when closed.
fn collect(waiting: &Receiver<Message>, jobs: &mut Vec<Box<dyn Job>>, is_unblocking: &mut bool) -> bool {
    let mut claims = Vec::new();
    let mut next = if *is_unblocking {
        waiting.try_recv()
    } else {
        waiting.recv().map_err(|RecvError| TryRecvError::Disconnected)
    };
    let is_open = loop {
        match next {
            Ok(Message::Work(job)) => jobs.push(job),
            Ok(Message::Claim(job)) => claims.push(job),
            Ok(Message::Look) => *is_unblocking = true,
            Ok(Message::Close) | Err(TryRecvError::Disconnected) => break false,
            Err(TryRecvError::Empty) => break true,
        }
        if jobs.len() + claims.len() >= BATCH_MAX {
            break true;
        }
        next = waiting.try_recv();
    };
    jobs.append(&mut claims);
    is_open
}
