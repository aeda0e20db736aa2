//! The claimer: hands out ready work, for all requests that wait together in one transaction.
//!
//! Who is next and how many may run is core's judgement; this counts what runs, locks the candidates that
//! nobody else holds, and writes what core makes of the claim.

use std::collections::BTreeMap;
use std::iter;

use baton_core::base::id::{QuestionId, TaskId};
use baton_core::base::time::Timestamp;
use baton_core::records::change::{Change, Versioned};
use baton_core::schedule::{Candidate, WorkerFit, pick};
use baton_core::task::Task;
use baton_core::transition::command::{Command, CommandContext, FreshIds};
use tokio::sync::{mpsc, oneshot};

use super::batch::{Batch, Known, TaskFacts};
use super::candidates::{Found, Seen, is_limited, is_near, unaccepted_max, wanted};
use super::connect::{Connector, Link};
use super::line::Line;
use super::lock::TAKE_TURN;
use super::news::News;
use super::pipeline::Pipeline;
use super::sharing;
use super::upkeep::Upkeep;
use super::write::{self, Failed};
use crate::claim::{ClaimRequest, Claimed};
use crate::error::StoreError;
use crate::lease::Lease;

/// Processes that claim at the same time. One alone counts what runs exactly, and finds no candidate in other hands.
const AT_ONCE: u64 = 1;
/// Requests in one transaction.
const REQUESTS_MAX: usize = 256;

const DOING: &str = "claiming";

type Answer = Result<Vec<Claimed>, StoreError>;

pub(super) struct Job {
    pub(super) request: ClaimRequest,
    pub(super) answer: oneshot::Sender<Answer>,
}

pub(super) struct Claimer {
    line: Line,
    news: News,
    upkeep: Upkeep,
    /// Whether some project had a limit of its own when we last looked; then the next look is by share at once.
    has_own_limits: bool,
}

impl Claimer {
    pub(super) fn new(connector: Connector, news: News, upkeep: Upkeep) -> Self {
        Self { line: Line::new(connector, DOING, "claims", AT_ONCE), news, upkeep, has_own_limits: false }
    }

    pub(super) async fn run(mut self, mut jobs: mpsc::Receiver<Job>) {
        while let Some(first) = jobs.recv().await {
            let turn = self.line.take_turn().await;
            // With those who came while we waited.
            let more = iter::from_fn(|| jobs.try_recv().ok()).take(REQUESTS_MAX - 1);
            let (requests, answers): (Vec<ClaimRequest>, Vec<oneshot::Sender<Answer>>) =
                iter::once(first).chain(more).map(|job| (job.request, job.answer)).unzip();
            let claimed = match turn {
                Ok(()) => self.claim_together(&requests).await,
                Err(error) => requests.iter().map(|_| Err(error.clone())).collect(),
            };
            for (answer, claimed) in answers.into_iter().zip(claimed) {
                // Whoever asked may have gone. The lease will run out and the task come back.
                let _ = answer.send(claimed);
            }
        }
    }

    /// Begins the transaction, unless it has. Mostly it does not matter whose a task is, and the first of each role will
    /// do.
    async fn look(&mut self, link: &Link, has_turn: bool, requests: &[ClaimRequest]) -> Result<Seen, Failed> {
        let fit = WorkerFit::union(requests.iter().map(|request| &request.fit));
        if !self.has_own_limits && !requests.iter().any(|request| request.capacity.is_shared()) {
            let (is_limited, unaccepted_max) = (is_limited(requests), unaccepted_max(requests));
            let wanted = wanted(requests);
            let mut seen = Seen::read(link, has_turn, &wanted, is_limited, unaccepted_max, &fit).await?;
            if !seen.has_own_limits {
                let is_near = |request| is_near(request, &seen.load);
                if !has_turn && !seen.found.is_empty() && requests.iter().any(is_near) {
                    link.query(DOING, TAKE_TURN, &[&self.line.turn()]).await?;
                    seen.read_load_again(link).await?;
                }
                return Ok(seen);
            }
            if !has_turn {
                // The turn is taken with no row in hand.
                link.run(DOING, "ROLLBACK").await?;
            }
        }
        let turn = (!has_turn).then(|| self.line.turn().to_owned());
        let seen = sharing::read(link, turn, requests, &fit).await?;
        self.has_own_limits = seen.has_own_limits;
        Ok(seen)
    }

    async fn claim_together(&mut self, requests: &[ClaimRequest]) -> Vec<Answer> {
        match self.try_hard(requests).await {
            Ok(answers) => answers,
            // One of them cannot be served at all. Alone, it takes no other with it.
            Err(StoreError::Backend { .. }) if requests.len() > 1 => {
                let mut answers = Vec::with_capacity(requests.len());
                for request in requests {
                    let answer = self.try_hard(std::slice::from_ref(request)).await;
                    answers.push(
                        answer.and_then(|mut answers| answers.pop().unwrap_or(Err(StoreError::Closed))),
                    );
                }
                answers
            }
            Err(error) => requests.iter().map(|_| Err(error.clone())).collect(),
        }
    }

    async fn try_hard(&mut self, requests: &[ClaimRequest]) -> Result<Vec<Answer>, StoreError> {
        loop {
            let (link, has_turn) = self.line.link().await?;
            match self.attempt(&link, has_turn, requests).await {
                Ok(answers) => {
                    self.line.written(link);
                    return Ok(answers);
                }
                Err(failed) => self.line.failed(link, failed).await?,
            }
        }
    }

    async fn attempt(
        &mut self,
        link: &Link,
        has_turn: bool,
        requests: &[ClaimRequest],
    ) -> Result<Vec<Answer>, Failed> {
        let seen = self.look(link, has_turn, requests).await?;
        let mut batch = Batch::new(known(&seen.found));
        let answers = hand_out(seen, requests, &mut batch);
        if batch.writes.leases.is_empty() {
            link.run(DOING, "ROLLBACK").await?;
            return Ok(answers);
        }
        let mut pipeline = Pipeline::new(link, DOING);
        write::rows(&mut pipeline, &batch.writes).await?;
        let written = write::finish(pipeline, batch.known(), &batch.writes, self.line.schema()).await?;
        self.news.written(written.seq_before + batch.writes.events.len() as u64, written.is_told);
        self.upkeep.claimed(batch.writes.leases.len());
        Ok(answers)
    }
}

fn known(found: &BTreeMap<TaskId, Found>) -> Known {
    let mut known = Known::default();
    for (id, found) in found {
        known.versions.insert(("task", id.to_string()), found.task.version);
        known.tasks.insert(*id, TaskFacts { is_claimable: true, ..TaskFacts::default() });
    }
    known
}

/// Gives each request, in the order they came, what core picks from what is left.
fn hand_out(mut seen: Seen, requests: &[ClaimRequest], batch: &mut Batch) -> Vec<Answer> {
    let mut answers = Vec::with_capacity(requests.len());
    for request in requests {
        let mut claimed = Vec::new();
        for candidate in chosen(&seen, request) {
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
            // A row that does not read back must not stand in everyone's way; but it must be seen by someone.
            Some(error) if claimed.is_empty() && !request.agents.is_empty() => Err(error),
            bad => {
                seen.bad = bad;
                Ok(claimed)
            }
        });
    }
    answers
}

fn chosen(seen: &Seen, request: &ClaimRequest) -> Vec<Candidate> {
    let candidates: Vec<Candidate> = seen
        .found
        .values()
        .filter(|found| request.fit.admits(found.task.value.spec()))
        .filter_map(|found| {
            let task = &found.task.value;
            let (role, agent) = request.agents.get_key_value(&task.spec().role)?;
            Some(Candidate {
                task: task.id(),
                rank: task.claim_rank(),
                created_at: task.spec().created_at,
                role: role.clone(),
                agent: agent.clone(),
                share: task.share(),
            })
        })
        .collect();
    let capacity = sharing::capacity(request, &seen.own_limits);
    pick(&candidates, &capacity, &seen.load, &request.intakes, seen.now).into_iter().cloned().collect()
}

/// Core's claim of one task, taken into the batch. A task that core refuses stays where it is.
fn claim(
    found: &Found,
    lease: Lease,
    request: &ClaimRequest,
    now: Timestamp,
    batch: &mut Batch,
) -> Option<Claimed> {
    let command = Command::Claim {
        attempt: lease.attempt,
        agent: lease.agent.clone(),
        open_blockers: found.open_blockers,
        worker: Some(lease.worker.clone()),
    };
    // A claim asks nothing and breaks nothing down, so these ids are never used.
    let fresh = FreshIds { question: QuestionId::from_bits(0), breakdown: TaskId::from_bits(0) };
    let context = CommandContext { now, actor: request.actor.clone(), fresh };
    let transition = found.task.value.apply(command, &context).ok()?;
    let task: Task = transition.task.clone();
    batch.take(Change::transition(found.task.version, transition)).ok()?;
    batch.writes.leases.push(lease.clone());
    Some(Claimed { task: Versioned { version: found.task.version + 1, value: task }, lease })
}
