//! Claiming. Core orders and admits; this finds candidates and writes claims.

use std::collections::BTreeSet;

use baton_core::base::id::{AttemptId, QuestionId, TaskId};
use baton_core::records::change::{Change, Versioned};
use baton_core::schedule::{Candidate, Capacity, Load, PickOutcome, pick_each};
use baton_core::transition::command::{Command, CommandContext, FreshIds};

use crate::model::claim::{ClaimRequest, ClaimedTask};
use crate::model::lease::Lease;
use crate::model::record_kind::RecordKind;
use crate::sqlite::fault::SqliteFault;
use crate::sqlite::rows::{bad_row, task_key};
use crate::sqlite::transaction::Transaction;
use crate::sqlite::write::apply::apply_to;
use crate::sqlite::write::leases;
use crate::sqlite::write::rendered::RenderedChange;
use crate::sqlite::write::shares::{self, candidate};
use crate::sqlite::write::task::TaskRow;

/// How much the search widens when the first candidates do not fit this worker.
const FURTHER: usize = 4;
/// How far ahead it looks for work that another agent takes while the first ones wait for theirs.
const LOOK_MAX: usize = 2_000;

/// Ready tasks that this request cannot have.
#[derive(Default)]
struct SkippedTasks {
    /// This worker cannot run them, or runs keep them.
    unfit: BTreeSet<TaskId>,
    /// Their agents get no work now.
    waiting: BTreeSet<TaskId>,
}

impl SkippedTasks {
    fn is_empty(&self) -> bool {
        self.unfit.is_empty() && self.waiting.is_empty()
    }

    fn contains(&self, task: TaskId) -> bool {
        self.unfit.contains(&task) || self.waiting.contains(&task)
    }

    /// Whether there may be something behind them, after a look this long.
    fn looks_on(&self, limit: usize) -> bool {
        !self.unfit.is_empty() || (!self.waiting.is_empty() && limit <= LOOK_MAX)
    }
}

pub(crate) fn claim(
    tx: &mut Transaction<'_>,
    request: &ClaimRequest,
) -> Result<Vec<ClaimedTask>, SqliteFault> {
    let shared = shares::capacity(tx, request)?;
    let mut claimed = Vec::new();
    let mut passed = SkippedTasks::default();
    let mut limit = request.attempt_ids.len();
    loop {
        let was_cut = match &shared {
            None => claim_in_order(tx, request, limit, &mut claimed, &mut passed)?,
            Some(capacity) => claim_by_share(tx, request, capacity, limit, &mut claimed, &mut passed)?,
        };
        // Nearly always everything fits and one round is enough.
        if !passed.looks_on(limit) || !was_cut || claimed.len() >= request.attempt_ids.len() {
            return Ok(claimed);
        }
        limit = limit.saturating_mul(FURTHER);
    }
}

/// Returns whether there were more candidates.
fn claim_in_order(
    tx: &mut Transaction<'_>,
    request: &ClaimRequest,
    limit: usize,
    claimed: &mut Vec<ClaimedTask>,
    passed: &mut SkippedTasks,
) -> Result<bool, SqliteFault> {
    let candidates = candidates(tx, request, limit)?;
    if !candidates.is_empty() {
        let load = load(tx)?.clone();
        assign(tx, request, &request.capacity, load, &candidates, claimed, passed)?;
    }
    Ok(candidates.len() >= limit)
}

/// The same under limits per project or person.
fn claim_by_share(
    tx: &mut Transaction<'_>,
    request: &ClaimRequest,
    capacity: &Capacity,
    limit: usize,
    claimed: &mut Vec<ClaimedTask>,
    passed: &mut SkippedTasks,
) -> Result<bool, SqliteFault> {
    let mut load = load(tx)?.clone();
    shares::count(tx, &mut load)?;
    // If some did not fit, the room of a share no longer bounds how many candidates it takes to fill it.
    let is_by_room = passed.is_empty();
    let (candidates, was_cut) = shares::candidates(tx, request, capacity, &load, limit, is_by_room)?;
    assign(tx, request, capacity, load, &candidates, claimed, passed)?;
    Ok(was_cut)
}

fn load<'b>(tx: &'b mut Transaction<'_>) -> Result<&'b Load, SqliteFault> {
    let unaccepted = u32::try_from(tx.counters.unaccepted).unwrap_or(u32::MAX);
    Ok(tx.running()?.load(unaccepted))
}

fn assign(
    tx: &mut Transaction<'_>,
    request: &ClaimRequest,
    capacity: &Capacity,
    load: Load,
    candidates: &[Candidate],
    claimed: &mut Vec<ClaimedTask>,
    passed: &mut SkippedTasks,
) -> Result<(), SqliteFault> {
    let now = tx.now;
    let candidates = &route(tx, request, candidates, passed)?;
    pick_each(candidates, capacity, load, &request.intakes, now, |candidate| {
        let Some(attempt) = request.attempt_ids.get(claimed.len()) else { return Ok(PickOutcome::Last) };
        if passed.unfit.contains(&candidate.task) {
            return Ok(PickOutcome::Nothing);
        }
        let Some(taken) = claim_task(tx, request, candidate, *attempt)? else {
            passed.unfit.insert(candidate.task);
            return Ok(PickOutcome::Nothing);
        };
        claimed.push(taken);
        Ok(PickOutcome::Place)
    })
}

/// The candidates with the agent that each is given to; those that nobody takes now do not fit.
fn route(
    tx: &mut Transaction<'_>,
    request: &ClaimRequest,
    candidates: &[Candidate],
    passed: &mut SkippedTasks,
) -> Result<Vec<Candidate>, SqliteFault> {
    // Where there is nothing to choose, no task has to be read for it.
    if request.fit.routes.is_plain() {
        return Ok(candidates.to_vec());
    }
    let mut routed = Vec::with_capacity(candidates.len());
    for candidate in candidates {
        if passed.contains(candidate.task) {
            continue;
        }
        let stored = tx.task(task_key(candidate.task))?;
        match stored.and_then(|stored| request.fit.agent_for(&stored.value)) {
            Some(agent) => routed.push(Candidate { agent, ..candidate.clone() }),
            None => drop(passed.waiting.insert(candidate.task)),
        }
    }
    Ok(routed)
}

/// The first tasks of each role. As many as requested are enough if all fit: the tasks of one role share its limits,
/// and the most urgent come first.
fn candidates(
    tx: &mut Transaction<'_>,
    request: &ClaimRequest,
    limit: usize,
) -> Result<Vec<Candidate>, SqliteFault> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let sql =
        "SELECT rank, created_ms, task FROM ready WHERE role = ?1 ORDER BY rank, created_ms, task LIMIT ?2";
    let statement = tx.statement(sql)?;
    let mut candidates = Vec::new();
    for (role, agent) in &request.agents {
        let mut found = statement.query((role.as_str(), limit))?;
        while let Some(row) = found.next()? {
            candidates.push(candidate(role, agent, row.get(0)?, row.get(1)?, row.get(2)?)?);
        }
    }
    Ok(candidates)
}

/// `None` if the task does not fit the worker.
fn claim_task(
    tx: &mut Transaction<'_>,
    request: &ClaimRequest,
    candidate: &Candidate,
    attempt: AttemptId,
) -> Result<Option<ClaimedTask>, SqliteFault> {
    let task = candidate.task;
    let stored = tx.task(task_key(task))?.ok_or_else(|| bad_row(RecordKind::Task, task, "it is gone"))?;
    if !request.fit.admits(&stored.value) {
        return Ok(None);
    }
    // Ready tasks are exactly those nothing blocks.
    let worker = Some(request.worker.clone());
    let command = Command::Claim { attempt, agent: candidate.agent.clone(), open_blockers: 0, worker };
    let context = CommandContext { now: tx.now, actor: request.actor.clone(), fresh: UNUSED };
    let transition =
        stored.value.apply(command, &context).map_err(|refusal| bad_row(RecordKind::Task, task, refusal))?;
    let claimed = Versioned { version: stored.version + 1, value: transition.task.clone() };
    let before = TaskRow::ready(stored.version, candidate.rank.number());
    apply_to(tx, before, &RenderedChange::render(Change::transition(stored.version, transition))?)?;
    let lease = Lease {
        attempt,
        task,
        worker: request.worker.clone(),
        role: candidate.role.clone(),
        agent: candidate.agent.clone(),
        share: claimed.value.share(),
        expires_at: tx.now.plus_ms(request.lease_ms),
    };
    leases::begin(tx, &lease)?;
    Ok(Some(ClaimedTask { task: claimed, lease }))
}

/// A claim creates neither questions nor breakdowns, so it uses no fresh ids.
const UNUSED: FreshIds = FreshIds { question: QuestionId::from_bits(0), breakdown: TaskId::from_bits(0) };
