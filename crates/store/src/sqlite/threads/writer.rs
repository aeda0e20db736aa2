//! The writer: the one thread that writes. It runs all queued jobs in one transaction and replies after the commit.
//!
//! Jobs share one fsync, including those that arrive while the batch is running. Usually nothing needs to be rolled
//! back; if a job does, the batch runs again with a savepoint per job, so that only that job is rolled back. No
//! caller learns of success before the commit is on disk.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Instant;

use baton_core::base::time::Timestamp;
use rusqlite::Connection;
use tokio::sync::watch;
use tracing::warn;

use crate::call::report_transaction;
use crate::error::StoreError;
use crate::sqlite::StoreClock;
use crate::sqlite::fault::SqliteFault;
use crate::sqlite::file::condition::FileCondition;
use crate::sqlite::file::lock::StoreLock;
use crate::sqlite::threads::job::{PendingWrite, WriteJob, WriteOutcome};
use crate::sqlite::threads::queue::{WriteQueue, WriterMessage};
use crate::sqlite::threads::replies::{FinishedBatch, Responder};
use crate::sqlite::threads::thread_count::ThreadGuard;
use crate::sqlite::transaction::{RollbackScope, Transaction};
use crate::sqlite::write::unblock;

/// The callers' handle to the writer.
#[derive(Clone)]
pub(crate) struct WriterHandle(Sender<WriterMessage>);

impl WriterHandle {
    /// Runs `work` inside the writer's next transaction; returns once that is committed.
    pub(crate) async fn write<T, F>(&self, doing: &'static str, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnMut(&mut Transaction<'_>) -> Result<WriteOutcome<T>, SqliteFault> + Send + 'static,
    {
        let (job, answered) = PendingWrite::new(doing, work);
        self.send(WriterMessage::Write(Box::new(job)))?;
        answered.await.map_err(|_| StoreError::Closed)?
    }

    /// Like `write`, for work that depends on how much is running.
    pub(crate) async fn claim<T, F>(&self, doing: &'static str, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnMut(&mut Transaction<'_>) -> Result<WriteOutcome<T>, SqliteFault> + Send + 'static,
    {
        let (job, answered) = PendingWrite::new(doing, work);
        self.send(WriterMessage::Claim(Box::new(job)))?;
        answered.await.map_err(|_| StoreError::Closed)?
    }

    pub(crate) fn send(&self, message: WriterMessage) -> Result<(), StoreError> {
        self.0.send(message).map_err(|_| StoreError::Closed)
    }
}

/// The thread's own state.
pub(crate) struct Writer {
    pub(crate) path: Arc<PathBuf>,
    pub(crate) clock: StoreClock,
    pub(crate) newest: Arc<watch::Sender<u64>>,
    pub(crate) condition: Arc<FileCondition>,
    /// Held until the connection is closed.
    pub(crate) lock: StoreLock,
    pub(crate) guard: ThreadGuard,
}

impl Writer {
    pub(crate) fn start(self, conn: Connection) -> Result<WriterHandle, StoreError> {
        let (sender, receiver) = mpsc::channel();
        let failed = |error: std::io::Error| StoreError::Backend {
            doing: "starting the writer",
            detail: error.to_string(),
        };
        thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || {
                self.serve(&conn, receiver);
                // The connection is closed, and its log removed, before the lock is released.
                drop(conn);
                drop(self.lock);
                drop(self.guard);
            })
            .map_err(failed)?;
        Ok(WriterHandle(sender))
    }

    fn serve(&self, conn: &Connection, messages: Receiver<WriterMessage>) {
        let mut waiting = WriteQueue::new(messages);
        let mut tx = Transaction::new(conn);
        let mut answerer = Responder::default();
        while !waiting.is_finished() {
            waiting.wait();
            if let Some(first) = waiting.next(0) {
                answerer.answer(self.write(&mut tx, first, &mut waiting));
                waiting.is_unblocking = waiting.is_unblocking || unblock::is_needed(conn).unwrap_or(false);
            }
            if waiting.is_unblocking {
                waiting.is_unblocking = self.unblock(&mut tx);
            }
        }
        answerer.close();
    }

    /// Runs the first job and all that arrive until the queue is empty. Savepoints make SQLite copy every page a job
    /// touches, so they are used only once something has to be rolled back.
    fn write(
        &self,
        tx: &mut Transaction<'_>,
        first: Box<dyn WriteJob>,
        waiting: &mut WriteQueue,
    ) -> FinishedBatch {
        let started = Instant::now();
        let mut jobs = vec![first];
        let together =
            self.condition.check(tx.conn).and_then(|()| self.write_together(tx, &mut jobs, waiting));
        let written = match together {
            Ok(None) => {
                roll_back(tx.conn);
                self.write_with_savepoints(tx, &mut jobs)
            }
            Ok(Some(last_seq)) => Ok(last_seq),
            Err(error) => Err(error),
        };
        for error in jobs.iter().filter_map(|job| job.error()).chain(written.as_ref().err()) {
            self.condition.note(error);
        }
        let failure = match written {
            Ok(last_seq) => {
                self.announce(last_seq);
                None
            }
            Err(error) => {
                roll_back(tx.conn);
                Some(error)
            }
        };
        match &failure {
            Some(error) => warn!(jobs = jobs.len(), %error, "transaction failed"),
            None => report_transaction("writing", jobs.len(), started.elapsed()),
        }
        FinishedBatch { jobs, failure }
    }

    /// The number of the last event once everything is committed; `None` if a job must be rolled back and cannot be
    /// without the others.
    fn write_together(
        &self,
        tx: &mut Transaction<'_>,
        jobs: &mut Vec<Box<dyn WriteJob>>,
        waiting: &mut WriteQueue,
    ) -> Result<Option<i64>, StoreError> {
        tx.begin(self.now()).map_err(|fault| self.failed(fault))?;
        let mut taken = 0;
        while let Some(job) = jobs.get_mut(taken) {
            if !self.run(tx, job.as_mut(), RollbackScope::Transaction)? {
                return Ok(None);
            }
            taken += 1;
            jobs.extend(waiting.next(taken));
        }
        let counters = tx.commit().map_err(|fault| self.failed(fault))?;
        Ok(Some(counters.last_seq))
    }

    fn write_with_savepoints(
        &self,
        tx: &mut Transaction<'_>,
        jobs: &mut [Box<dyn WriteJob>],
    ) -> Result<i64, StoreError> {
        tx.begin(self.now()).map_err(|fault| self.failed(fault))?;
        for job in jobs {
            self.run(tx, job.as_mut(), RollbackScope::Savepoint)?;
        }
        Ok(tx.commit().map_err(|fault| self.failed(fault))?.last_seq)
    }

    /// False if the whole transaction must be rolled back.
    fn run(
        &self,
        tx: &mut Transaction<'_>,
        job: &mut dyn WriteJob,
        scope: RollbackScope,
    ) -> Result<bool, StoreError> {
        let is_whole = tx.run_job(scope, |tx| job.run(tx, &self.path)).map_err(|fault| self.failed(fault))?;
        if tx.conn.is_autocommit() {
            return Err(job.error().cloned().unwrap_or_else(transaction_ended));
        }
        Ok(is_whole)
    }

    fn failed(&self, fault: SqliteFault) -> StoreError {
        fault.into_error(&self.path, "writing to the store")
    }

    /// Unblocks some dependents in a short transaction of its own. False if none are left.
    fn unblock(&self, tx: &mut Transaction<'_>) -> bool {
        let mut step = || {
            self.condition.check(tx.conn)?;
            tx.begin(self.now())?;
            let is_more = unblock::step(tx)?;
            tx.commit()?;
            // There is no event, but workers must look for work again.
            self.newest.send_modify(|_| ());
            Ok::<bool, SqliteFault>(is_more)
        };
        step().unwrap_or_else(|_| {
            // The disk is full, or the file is locked or gone: retried after the next commit.
            roll_back(tx.conn);
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
        // If even this fails, the next BEGIN reports it.
        let _ = conn.execute_batch("ROLLBACK");
    }
}
