//! The one writer: a thread that takes whatever waits, writes it in one transaction and answers after the commit.
//!
//! Many waiting changes share one fsync, with those too that come while the others are written. Most have nothing to undo; when one has, all are taken again, each with
//! a savepoint of its own, so that it is undone alone. Nobody is told of a success before the commit that holds it
//! is on the disk.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use baton_core::base::time::Timestamp;
use rusqlite::Connection;
use tokio::sync::watch;

use super::Clock;
use super::alive::Here;
use super::answerer::{Answerer, Ended};
use super::batch::{Batch, Undoing};
use super::fault::Fault;
use super::hold::Hold;
use super::job::{Done, Job, Pending};
use super::unblock;
use super::waiting::{Message, Waiting};
use crate::error::StoreError;

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
                self.serve(&conn, receiver);
                // Closed here rather than by its destructor, so that its log is put away before the hold ends.
                drop(conn);
                drop(self.hold);
                drop(self.here);
            })
            .map_err(failed)?;
        Ok(WriterHandle(sender))
    }

    fn serve(&self, conn: &Connection, messages: Receiver<Message>) {
        let mut waiting = Waiting::new(messages);
        let mut batch = Batch::new(conn);
        let mut answerer = Answerer::default();
        while !waiting.is_over() {
            waiting.wait();
            if let Some(first) = waiting.next(0) {
                answerer.answer(self.write(&mut batch, first, &mut waiting));
                waiting.is_unblocking = waiting.is_unblocking || unblock::is_needed(conn).unwrap_or(false);
            }
            if waiting.is_unblocking {
                waiting.is_unblocking = self.unblock(&mut batch);
            }
        }
        answerer.close();
    }

    /// Writes the first job and all that come until no more wait. Savepoints have SQLite keep a copy of every page
    /// before each job that touches it, so they are used only when it turns out that something has to be undone.
    fn write(&self, batch: &mut Batch<'_>, first: Box<dyn Job>, waiting: &mut Waiting) -> Ended {
        let mut jobs = vec![first];
        let written = match self.write_together(batch, &mut jobs, waiting) {
            Ok(None) => {
                roll_back(batch.conn);
                self.write_apart(batch, &mut jobs)
            }
            Ok(Some(last_seq)) => Ok(last_seq),
            Err(error) => Err(error),
        };
        let failure = match written {
            Ok(last_seq) => {
                self.announce(last_seq);
                None
            }
            Err(error) => {
                roll_back(batch.conn);
                Some(error)
            }
        };
        Ended { jobs, failure }
    }

    /// The number of the last event, once it is all committed. None when a job is to be undone and cannot be
    /// without the others.
    fn write_together(
        &self,
        batch: &mut Batch<'_>,
        jobs: &mut Vec<Box<dyn Job>>,
        waiting: &mut Waiting,
    ) -> Result<Option<i64>, StoreError> {
        batch.begin(self.now()).map_err(|fault| self.failed(fault))?;
        let mut taken = 0;
        while let Some(job) = jobs.get_mut(taken) {
            if !self.run(batch, job.as_mut(), Undoing::All)? {
                return Ok(None);
            }
            taken += 1;
            jobs.extend(waiting.next(taken));
        }
        let counters = batch.commit().map_err(|fault| self.failed(fault))?;
        Ok(Some(counters.last_seq))
    }

    fn write_apart(&self, batch: &mut Batch<'_>, jobs: &mut [Box<dyn Job>]) -> Result<i64, StoreError> {
        batch.begin(self.now()).map_err(|fault| self.failed(fault))?;
        for job in jobs {
            self.run(batch, job.as_mut(), Undoing::Each)?;
        }
        Ok(batch.commit().map_err(|fault| self.failed(fault))?.last_seq)
    }

    /// False when the whole transaction has to be undone with it.
    fn run(&self, batch: &mut Batch<'_>, job: &mut dyn Job, undoing: Undoing) -> Result<bool, StoreError> {
        let is_whole =
            batch.one(undoing, |batch| job.run(batch, &self.path)).map_err(|fault| self.failed(fault))?;
        if batch.conn.is_autocommit() {
            return Err(job.error().cloned().unwrap_or_else(transaction_ended));
        }
        Ok(is_whole)
    }

    fn failed(&self, fault: Fault) -> StoreError {
        fault.into_error(&self.path, "writing to the store")
    }

    /// One step of telling dependents, in a short transaction of its own. False when nothing is left.
    fn unblock(&self, batch: &mut Batch<'_>) -> bool {
        let mut step = || {
            batch.begin(self.now())?;
            let is_more = unblock::step(batch)?;
            batch.commit()?;
            // No event tells of it, but whoever waits for work has to look again.
            self.newest.send_modify(|_| ());
            Ok::<bool, Fault>(is_more)
        };
        step().unwrap_or_else(|_| {
            // The disk is full or the file is held: the step is taken again after the next commit.
            roll_back(batch.conn);
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
