//! The committer: takes the changes that wait and writes them together, one transaction for all.
//!
//! Everyone whose change is in the batch shares its round trips and its flush to disk.

use std::sync::Arc;

use baton_core::records::change::Change;
use tokio::sync::{Notify, mpsc, oneshot};

use super::batch::{self, Batch};
use super::connect::{Connector, Link};
use super::edges;
use super::line::Line;
use super::lock::Wanted;
use super::news::News;
use super::pipeline::Pipeline;
use super::write::{self, Failed, Written};
use crate::commit::{Commit, Conflict};
use crate::error::StoreError;

/// Processes that commit at the same time: while one is on its way to its client and back, the server works for others.
const AT_ONCE: u64 = 4;
/// Changes in one transaction. More would make the first of them wait too long for the last.
const CHANGES_MAX: usize = 256;
/// Rows and edges in one transaction, for the same reason; a single change may have more.
const PARTS_MAX: usize = 5_000;

const DOING: &str = "committing";

type Answer = Result<Commit, StoreError>;

pub(super) struct Job {
    pub(super) change: Change,
    pub(super) answer: oneshot::Sender<Answer>,
}

pub(super) struct Committer {
    line: Line,
    news: News,
    /// Wakes whoever frees dependents.
    unblocking: Arc<Notify>,
}

impl Committer {
    pub(super) fn new(connector: Connector, news: News, unblocking: Arc<Notify>) -> Self {
        Self { line: Line::new(connector, DOING, "commits", AT_ONCE), news, unblocking }
    }

    /// Works until the last sender is gone and its last change is written.
    pub(super) async fn run(mut self, mut jobs: mpsc::Receiver<Job>) {
        while let Some(first) = jobs.recv().await {
            let turn = self.line.take_turn().await;
            // With those that came while we waited.
            let jobs = with_more(first, &mut jobs);
            if let Err(error) = turn {
                for job in jobs {
                    let _ = job.answer.send(Err(error.clone()));
                }
                continue;
            }
            // A change that has to search the stored edges goes alone; the order of arrival is kept.
            let mut together = Vec::new();
            for job in jobs {
                if batch::is_self_contained(&job.change) {
                    together.push(job);
                } else {
                    self.commit_together(std::mem::take(&mut together)).await;
                    let answer = self.commit_alone(&job.change).await;
                    // Whoever asked may have gone; the change is written all the same.
                    let _ = job.answer.send(answer);
                }
            }
            self.commit_together(together).await;
        }
    }

    async fn commit_together(&mut self, jobs: Vec<Job>) {
        if jobs.is_empty() {
            return;
        }
        let changes: Vec<&Change> = jobs.iter().map(|job| &job.change).collect();
        match self.try_hard(&changes).await {
            Ok(answers) => {
                for (job, answer) in jobs.into_iter().zip(answers) {
                    let _ = job.answer.send(Ok(answer));
                }
            }
            // One of them cannot be written at all. Alone, it takes no other with it.
            Err(StoreError::Backend { .. } | StoreError::BadRow { .. }) if jobs.len() > 1 => {
                for job in jobs {
                    let answer = self.try_hard(&[&job.change]).await;
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

    async fn commit_alone(&mut self, change: &Change) -> Answer {
        self.try_hard(&[change]).await.and_then(only)
    }

    /// Tries until the batch is written or judged, its fate is unknown, or there is no sense in trying.
    async fn try_hard(&mut self, changes: &[&Change]) -> Result<Vec<Commit>, StoreError> {
        loop {
            let (link, has_turn) = self.line.link().await?;
            match self.attempt(&link, has_turn, changes).await {
                Ok(answers) => {
                    self.line.written(link);
                    return Ok(answers);
                }
                Err(failed) => self.line.failed(link, failed).await?,
            }
        }
    }

    async fn attempt(
        &self,
        link: &Link,
        has_begun: bool,
        changes: &[&Change],
    ) -> Result<Vec<Commit>, Failed> {
        let schema = self.line.schema();
        let is_searching = !changes.iter().all(|change| batch::is_self_contained(change));
        let turn = is_searching.then(|| edges::turn(schema));
        let known = Wanted::of(changes.iter().copied()).lock(link, has_begun, turn).await?;
        let mut batch = Batch::new(known);
        let mut verdicts: Vec<Result<usize, Conflict>> = Vec::with_capacity(changes.len());
        for change in changes {
            let change = (*change).clone();
            let verdict = if is_searching { batch.take_rows(change) } else { batch.take(change) };
            verdicts.push(verdict.map(|()| batch.writes.events.len()));
        }
        let is_any = verdicts.iter().any(Result::is_ok);
        let mut pipeline = Pipeline::new(link, DOING);
        if is_any {
            write::rows(&mut pipeline, &batch.writes).await?;
        }
        if is_any && is_searching {
            pipeline.flush().await?;
            pipeline = Pipeline::new(link, DOING);
            let edges = changes.iter().flat_map(|change| change.edges.clone()).collect::<Vec<_>>();
            match edges::write(link, batch.known(), &edges).await? {
                Ok(touched) => batch.writes.maybe_ready.extend(touched),
                Err(conflict) => {
                    link.run(DOING, "ROLLBACK").await?;
                    return Ok(vec![Commit::Conflict(conflict)]);
                }
            }
        }
        if !is_any {
            link.run(DOING, "ROLLBACK").await?;
            return Ok(verdicts.into_iter().map(|verdict| answer(verdict, 0)).collect());
        }
        let written = write::finish(pipeline, batch.known(), &batch.writes, schema).await?;
        self.tell(&written, batch.writes.events.len());
        Ok(verdicts.into_iter().map(|verdict| answer(verdict, written.seq_before)).collect())
    }

    fn tell(&self, written: &Written, events: usize) {
        self.news.written(written.seq_before + events as u64, written.is_told);
        if written.is_unblocking {
            self.unblocking.notify_one();
        }
    }
}

/// What waits, as far as it goes into one batch.
fn with_more(first: Job, jobs: &mut mpsc::Receiver<Job>) -> Vec<Job> {
    let mut parts = parts(&first.change);
    let mut batch = vec![first];
    while batch.len() < CHANGES_MAX && parts < PARTS_MAX {
        let Ok(job) = jobs.try_recv() else { break };
        parts += self::parts(&job.change);
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

fn only(answers: Vec<Commit>) -> Answer {
    answers.into_iter().next().ok_or(StoreError::Closed)
}
