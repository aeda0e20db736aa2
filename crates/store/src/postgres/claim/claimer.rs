//! The claimer: serves all queued claim requests in one transaction.
//!
//! Core decides who is next and how many may run. The claimer counts what is running, locks candidates and writes
//! what core returns.

use std::collections::BTreeMap;
use std::iter;
use std::time::Instant;

use baton_core::base::id::{QuestionId, TaskId};
use baton_core::base::time::Timestamp;
use baton_core::records::change::{Change, Versioned};
use baton_core::schedule::{Candidate, WorkerFit, pick};
use baton_core::task::Task;
use baton_core::transition::command::{Command, CommandContext, FreshIds};
use tokio::sync::{mpsc, oneshot};

use crate::call::report_transaction;
use crate::error::StoreError;
use crate::model::claim::{ClaimRequest, ClaimedTask};
use crate::model::lease::Lease;
use crate::model::record_kind::RecordKind;
use crate::postgres::claim::candidates::{
    ClaimView, LockedTask, is_limited, is_near, unaccepted_max, wanted,
};
use crate::postgres::claim::passed::PassedTasks;
use crate::postgres::claim::shares;
use crate::postgres::connect::connector::{Connector, PgConnection};
use crate::postgres::connect::pipeline::Pipeline;
use crate::postgres::notify::feed::CommitFeed;
use crate::postgres::upkeep::Maintenance;
use crate::postgres::write::batch::WriteBatch;
use crate::postgres::write::commit::{self, CommitFailure};
use crate::postgres::write::facts::{LockedRows, TaskFacts};
use crate::postgres::write::lock::ADVISORY_LOCK;
use crate::postgres::writer::slot::WriterSlot;

/// Processes that claim at the same time. A single one has an exact count of what is running and never meets a locked
/// candidate.
const AT_ONCE: u64 = 1;
/// The most requests in one transaction.
const REQUESTS_MAX: usize = 256;

const DOING: &str = "claiming";

type ClaimReply = Result<Vec<ClaimedTask>, StoreError>;

pub(crate) struct ClaimJob {
    pub(crate) request: ClaimRequest,
    pub(crate) answer: oneshot::Sender<ClaimReply>,
}

pub(crate) struct Claimer {
    slot: WriterSlot,
    feed: CommitFeed,
    upkeep: Maintenance,
    /// Whether some project had its own limit at the last look; if so, the next look goes by share directly.
    has_own_limits: bool,
}

impl Claimer {
    pub(crate) fn new(connector: Connector, feed: CommitFeed, upkeep: Maintenance) -> Self {
        Self {
            slot: WriterSlot::new(connector, DOING, "claims", AT_ONCE),
            feed,
            upkeep,
            has_own_limits: false,
        }
    }

    pub(crate) async fn run(mut self, mut jobs: mpsc::Receiver<ClaimJob>) {
        while let Some(first) = jobs.recv().await {
            let acquired = self.slot.acquire().await;
            // Includes requests that arrived while waiting for the slot.
            let more = iter::from_fn(|| jobs.try_recv().ok()).take(REQUESTS_MAX - 1);
            let (requests, answers): (Vec<ClaimRequest>, Vec<oneshot::Sender<ClaimReply>>) =
                iter::once(first).chain(more).map(|job| (job.request, job.answer)).unzip();
            let claimed = match acquired {
                Ok(()) => self.claim_together(&requests).await,
                Err(error) => requests.iter().map(|_| Err(error.clone())).collect(),
            };
            for (answer, claimed) in answers.into_iter().zip(claimed) {
                // The caller may have gone. The lease will expire and the task become ready again.
                let _ = answer.send(claimed);
            }
        }
    }

    /// Begins the transaction unless `holds_slot`. Nearly always every task it reads fits one of the requests, and one
    /// look is enough.
    async fn view(
        &mut self,
        conn: &PgConnection,
        holds_slot: bool,
        requests: &[ClaimRequest],
    ) -> Result<ClaimView, CommitFailure> {
        let mut passed = PassedTasks::default();
        let mut seen = self.look(conn, holds_slot, holds_slot, requests, &passed).await?;
        while passed.add_unfit(&seen, requests) {
            passed.look_further(conn, requests).await?;
            seen = self.look(conn, holds_slot, true, requests, &passed).await?;
        }
        Ok(seen)
    }

    /// Begins the transaction unless it `has_begun`. Usually there are no limits per project or person, and the first
    /// tasks of each role are enough.
    async fn look(
        &mut self,
        conn: &PgConnection,
        holds_slot: bool,
        mut has_begun: bool,
        requests: &[ClaimRequest],
        passed: &PassedTasks,
    ) -> Result<ClaimView, CommitFailure> {
        let fit = WorkerFit::union(requests.iter().map(|request| &request.fit));
        if !self.has_own_limits && !requests.iter().any(|request| request.capacity.is_shared()) {
            let (is_limited, unaccepted_max) = (is_limited(requests), unaccepted_max(requests));
            let wanted = wanted(requests);
            let mut seen =
                ClaimView::read(conn, has_begun, &wanted, is_limited, unaccepted_max, &fit, passed).await?;
            if !seen.has_own_limits {
                let is_near = |request| is_near(request, &seen.load);
                if !holds_slot && !seen.found.is_empty() && requests.iter().any(is_near) {
                    conn.query(DOING, ADVISORY_LOCK, &[&self.slot.lock_name()]).await?;
                    seen.reload(conn).await?;
                }
                return Ok(seen);
            }
            if !holds_slot {
                // The slot must be acquired before any row is locked.
                conn.run(DOING, "ROLLBACK").await?;
                has_begun = false;
            }
        }
        let lock = (!has_begun).then(|| self.slot.lock_name().to_owned());
        let seen = shares::read(conn, lock, requests, &fit, passed).await?;
        self.has_own_limits = seen.has_own_limits;
        Ok(seen)
    }

    async fn claim_together(&mut self, requests: &[ClaimRequest]) -> Vec<ClaimReply> {
        match self.claim_with_retry(requests).await {
            Ok(answers) => answers,
            // One of the requests fails; served alone it does not affect the others.
            Err(StoreError::Backend { .. }) if requests.len() > 1 => {
                let mut answers = Vec::with_capacity(requests.len());
                for request in requests {
                    let answer = self.claim_with_retry(std::slice::from_ref(request)).await;
                    answers.push(
                        answer.and_then(|mut answers| answers.pop().unwrap_or(Err(StoreError::Closed))),
                    );
                }
                answers
            }
            Err(error) => requests.iter().map(|_| Err(error.clone())).collect(),
        }
    }

    async fn claim_with_retry(&mut self, requests: &[ClaimRequest]) -> Result<Vec<ClaimReply>, StoreError> {
        let started = Instant::now();
        loop {
            let (conn, holds_slot) = self.slot.connection().await?;
            match self.try_claim(&conn, holds_slot, requests).await {
                Ok(answers) => {
                    self.slot.release(conn);
                    report_transaction(DOING, requests.len(), started.elapsed());
                    return Ok(answers);
                }
                Err(failed) => self.slot.roll_back(conn, failed).await?,
            }
        }
    }

    async fn try_claim(
        &mut self,
        conn: &PgConnection,
        holds_slot: bool,
        requests: &[ClaimRequest],
    ) -> Result<Vec<ClaimReply>, CommitFailure> {
        let seen = self.view(conn, holds_slot, requests).await?;
        let mut batch = WriteBatch::new(known(&seen.found));
        let answers = assign(seen, requests, &mut batch);
        if batch.writes.leases.is_empty() {
            conn.run(DOING, "ROLLBACK").await?;
            return Ok(answers);
        }
        let mut pipeline = Pipeline::new(conn, DOING);
        commit::rows(&mut pipeline, &batch.writes).await?;
        let written = commit::finish(pipeline, batch.known(), &batch.writes, self.slot.schema()).await?;
        self.feed.note_commit(written.seq_before + batch.writes.events.len() as u64, written.is_announced);
        self.upkeep.note_claims(batch.writes.leases.len());
        Ok(answers)
    }
}

fn known(found: &BTreeMap<TaskId, LockedTask>) -> LockedRows {
    let mut known = LockedRows::default();
    for (id, found) in found {
        known.versions.insert((RecordKind::Task, id.to_string()), found.task.version);
        known.tasks.insert(*id, TaskFacts { is_claimable: true, ..TaskFacts::default() });
    }
    known
}

/// Gives each request, in order of arrival, what core picks from what is left.
fn assign(mut seen: ClaimView, requests: &[ClaimRequest], batch: &mut WriteBatch) -> Vec<ClaimReply> {
    let mut answers = Vec::with_capacity(requests.len());
    for request in requests {
        let mut claimed = Vec::new();
        for candidate in pick_for(&seen, request) {
            let Some(attempt) = request.attempt_ids.get(claimed.len()) else { break };
            let Some(found) = seen.found.remove(&candidate.task) else { continue };
            seen.load.start(&candidate.role, &candidate.agent);
            seen.load.occupy(&candidate.share, 1);
            let lease = Lease {
                attempt: *attempt,
                task: candidate.task,
                worker: request.worker.clone(),
                role: candidate.role,
                agent: candidate.agent,
                share: candidate.share,
                expires_at: seen.now.plus_ms(request.lease_ms),
            };
            claimed.extend(claim(&found, lease, request, seen.now, batch));
        }
        answers.push(match seen.bad.take() {
            // A row that cannot be decoded must not block everyone, but someone must see the error.
            Some(error) if claimed.is_empty() && !request.agents.is_empty() => Err(error),
            bad => {
                seen.bad = bad;
                Ok(claimed)
            }
        });
    }
    answers
}

fn pick_for(seen: &ClaimView, request: &ClaimRequest) -> Vec<Candidate> {
    let candidates: Vec<Candidate> = seen
        .found
        .values()
        .filter(|found| request.fit.admits(&found.task.value))
        .filter_map(|found| {
            let task = &found.task.value;
            let (role, of_role) = request.agents.get_key_value(&task.spec().role)?;
            let routes = &request.fit.routes;
            let agent = if routes.is_plain() { of_role.clone() } else { request.fit.agent_for(task)? };
            Some(Candidate {
                task: task.id(),
                rank: task.claim_rank(),
                created_at: task.spec().created_at,
                role: role.clone(),
                agent,
                share: task.share(),
            })
        })
        .collect();
    let capacity = shares::capacity(request, &seen.own_limits);
    pick(&candidates, &capacity, &seen.load, &request.intakes, seen.now).into_iter().cloned().collect()
}

/// Adds core's claim of one task to the batch. A task core refuses is left as it is.
fn claim(
    found: &LockedTask,
    lease: Lease,
    request: &ClaimRequest,
    now: Timestamp,
    batch: &mut WriteBatch,
) -> Option<ClaimedTask> {
    let command = Command::Claim {
        attempt: lease.attempt,
        agent: lease.agent.clone(),
        open_blockers: found.open_blockers,
        worker: Some(lease.worker.clone()),
    };
    // A claim creates neither questions nor breakdowns, so these ids are never used.
    let fresh = FreshIds { question: QuestionId::from_bits(0), breakdown: TaskId::from_bits(0) };
    let context = CommandContext { now, actor: request.actor.clone(), fresh };
    let transition = found.task.value.apply(command, &context).ok()?;
    let task: Task = transition.task.clone();
    batch.add(Change::transition(found.task.version, transition)).ok()?;
    batch.writes.leases.push(lease.clone());
    Some(ClaimedTask { task: Versioned { version: found.task.version + 1, value: task }, lease })
}
