//! The committer: writes all queued changes together in one transaction.
//!
//! Changes in a batch share its round trips and its flush to disk.

use std::sync::Arc;
use std::time::Instant;

use baton_core::records::change::Change;
use tokio::sync::{Notify, mpsc, oneshot};

use crate::call::report_transaction;
use crate::error::StoreError;
use crate::model::commit::{Commit, Conflict};
use crate::postgres::connect::connector::{Connector, PgConnection};
use crate::postgres::connect::pipeline::Pipeline;
use crate::postgres::notify::feed::CommitFeed;
use crate::postgres::write::batch::{self, WriteBatch};
use crate::postgres::write::commit::{self, CommitFailure, CommitResult};
use crate::postgres::write::edges;
use crate::postgres::write::lock::LockSet;
use crate::postgres::writer::slot::WriterSlot;

/// Processes that commit at the same time: while one waits for the network, the server works for the others.
const AT_ONCE: u64 = 4;
/// The most changes in one transaction. More would delay the first for too long.
const CHANGES_MAX: usize = 256;
/// The most rows and edges in one transaction, for the same reason; a single change may have more.
const PARTS_MAX: usize = 5_000;

const DOING: &str = "committing";

type CommitReply = Result<Commit, StoreError>;

pub(crate) struct CommitJob {
    pub(crate) change: Change,
    pub(crate) answer: oneshot::Sender<CommitReply>,
}

pub(crate) struct Committer {
    slot: WriterSlot,
    feed: CommitFeed,
    /// Wakes the task that unblocks dependents.
    unblocking: Arc<Notify>,
}

impl Committer {
    pub(crate) fn new(connector: Connector, feed: CommitFeed, unblocking: Arc<Notify>) -> Self {
        Self { slot: WriterSlot::new(connector, DOING, "commits", AT_ONCE), feed, unblocking }
    }

    /// Runs until the last sender is gone and its last change is written.
    pub(crate) async fn run(mut self, mut jobs: mpsc::Receiver<CommitJob>) {
        while let Some(first) = jobs.recv().await {
            let acquired = self.slot.acquire().await;
            // Includes changes that arrived while waiting for the slot.
            let jobs = drain(first, &mut jobs);
            if let Err(error) = acquired {
                for job in jobs {
                    let _ = job.answer.send(Err(error.clone()));
                }
                continue;
            }
            // A change that has to search the stored edges is committed alone; the order of arrival is kept.
            let mut together = Vec::new();
            for job in jobs {
                if batch::is_self_contained(&job.change) {
                    together.push(job);
                } else {
                    self.commit_together(std::mem::take(&mut together)).await;
                    let answer = self.commit_alone(&job.change).await;
                    // The caller may have gone; the change is written all the same.
                    let _ = job.answer.send(answer);
                }
            }
            self.commit_together(together).await;
        }
    }

    async fn commit_together(&mut self, jobs: Vec<CommitJob>) {
        if jobs.is_empty() {
            return;
        }
        let changes: Vec<&Change> = jobs.iter().map(|job| &job.change).collect();
        match self.commit_with_retry(&changes).await {
            Ok(answers) => {
                for (job, answer) in jobs.into_iter().zip(answers) {
                    let _ = job.answer.send(Ok(answer));
                }
            }
            // One of the changes cannot be written; alone it does not affect the others.
            Err(StoreError::Backend { .. } | StoreError::BadRow { .. }) if jobs.len() > 1 => {
                for job in jobs {
                    let answer = self.commit_with_retry(&[&job.change]).await;
                    let _ = job.answer.send(answer.and_then(only));
                }
            }
            Err(error) => {
                for job in jobs {
                    let _ = job.answer.send(Err(error.clone()));
                }
            }
        }
    }

    async fn commit_alone(&mut self, change: &Change) -> CommitReply {
        self.commit_with_retry(&[change]).await.and_then(only)
    }

    /// Retries until the batch is written or rejected, its fate is unknown, or a retry makes no sense.
    async fn commit_with_retry(&mut self, changes: &[&Change]) -> Result<Vec<Commit>, StoreError> {
        let started = Instant::now();
        loop {
            let (conn, holds_slot) = self.slot.connection().await?;
            match self.try_commit(&conn, holds_slot, changes).await {
                Ok(answers) => {
                    self.slot.release(conn);
                    report_transaction(DOING, changes.len(), started.elapsed());
                    return Ok(answers);
                }
                Err(failed) => self.slot.roll_back(conn, failed).await?,
            }
        }
    }

    async fn try_commit(
        &self,
        conn: &PgConnection,
        has_begun: bool,
        changes: &[&Change],
    ) -> Result<Vec<Commit>, CommitFailure> {
        let schema = self.slot.schema();
        let is_searching = !changes.iter().all(|change| batch::is_self_contained(change));
        let edge_lock = is_searching.then(|| edges::edge_lock_name(schema));
        let known = LockSet::new(changes.iter().copied()).lock(conn, has_begun, edge_lock).await?;
        let mut batch = WriteBatch::new(known);
        let mut verdicts: Vec<Result<usize, Conflict>> = Vec::with_capacity(changes.len());
        for change in changes {
            let change = (*change).clone();
            let verdict = if is_searching { batch.add_rows(change) } else { batch.add(change) };
            verdicts.push(verdict.map(|()| batch.writes.events.len()));
        }
        let is_any = verdicts.iter().any(Result::is_ok);
        let mut pipeline = Pipeline::new(conn, DOING);
        if is_any {
            commit::rows(&mut pipeline, &batch.writes).await?;
        }
        if is_any && is_searching {
            pipeline.flush().await?;
            pipeline = Pipeline::new(conn, DOING);
            let edges = changes.iter().flat_map(|change| change.edges.clone()).collect::<Vec<_>>();
            match edges::write(conn, batch.known(), &edges).await? {
                Ok(touched) => batch.writes.maybe_ready.extend(touched),
                Err(conflict) => {
                    conn.run(DOING, "ROLLBACK").await?;
                    return Ok(vec![Commit::Conflict(conflict)]);
                }
            }
        }
        if !is_any {
            conn.run(DOING, "ROLLBACK").await?;
            return Ok(verdicts.into_iter().map(|verdict| answer(verdict, 0)).collect());
        }
        let written = commit::finish(pipeline, batch.known(), &batch.writes, schema).await?;
        self.announce(&written, batch.writes.events.len());
        Ok(verdicts.into_iter().map(|verdict| answer(verdict, written.seq_before)).collect())
    }

    fn announce(&self, written: &CommitResult, events: usize) {
        self.feed.note_commit(written.seq_before + events as u64, written.is_announced);
        if written.is_unblocking {
            self.unblocking.notify_one();
        }
    }
}

/// Takes what is queued, up to the limits of one batch.
fn drain(first: CommitJob, jobs: &mut mpsc::Receiver<CommitJob>) -> Vec<CommitJob> {
    let mut parts = parts(&first.change);
    let mut batch = vec![first];
    while batch.len() < CHANGES_MAX && parts < PARTS_MAX {
        let Ok(job) = jobs.try_recv() else { break };
        parts += crate::postgres::writer::committer::parts(&job.change);
        batch.push(job);
    }
    batch
}

fn parts(change: &Change) -> usize {
    change.puts.len() + change.edges.len() + change.events.len()
}

fn answer(verdict: Result<usize, Conflict>, seq_before: u64) -> Commit {
    match verdict {
        Ok(events) => Commit::Written { last_seq: seq_before + events as u64 },
        Err(conflict) => Commit::Conflict(conflict),
    }
}

fn only(answers: Vec<Commit>) -> CommitReply {
    answers.into_iter().next().ok_or(StoreError::Closed)
}
