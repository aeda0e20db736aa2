//! Handing out work. Core orders and admits; here the candidates are found and the claims are written.

use std::collections::BTreeSet;

use baton_core::base::id::{AttemptId, QuestionId, TaskId};
use baton_core::base::text::{AgentName, Role};
use baton_core::base::time::Timestamp;
use baton_core::records::change::{Change, Versioned};
use baton_core::schedule::{Candidate, Capacity, ClaimRank, Load, PickOutcome, Share, pick_each};
use baton_core::transition::command::{Command, CommandContext, FreshIds};

use super::apply::apply_to;
use super::batch::Batch;
use super::fault::Fault;
use super::put_task::Before;
use super::rendered::Rendered;
use super::rows::{self, bad_row, of_task, task_id};
use super::{leases, sharing};
use crate::claim::{ClaimRequest, Claimed};
use crate::lease::Lease;

/// How much further each look goes when what came first does not fit this worker.
const FURTHER: usize = 4;

pub fn claim(batch: &mut Batch<'_>, request: &ClaimRequest) -> Result<Vec<Claimed>, Fault> {
    let shared = sharing::capacity(batch, request)?;
    let mut claimed = Vec::new();
    let mut unfit = BTreeSet::new();
    let mut limit = request.attempt_ids.len();
    loop {
        let was_cut = match &shared {
            None => look(batch, request, limit, &mut claimed, &mut unfit)?,
            Some(capacity) => look_by_share(batch, request, capacity, limit, &mut claimed, &mut unfit)?,
        };
        // Nearly always everything fits, and one look is all.
        if unfit.is_empty() || !was_cut || claimed.len() >= request.attempt_ids.len() {
            return Ok(claimed);
        }
        limit = limit.saturating_mul(FURTHER);
    }
}

/// Returns whether there was more to look at.
fn look(
    batch: &mut Batch<'_>,
    request: &ClaimRequest,
    limit: usize,
    claimed: &mut Vec<Claimed>,
    unfit: &mut BTreeSet<TaskId>,
) -> Result<bool, Fault> {
    let candidates = candidates(batch, request, limit)?;
    if !candidates.is_empty() {
        let load = load(batch)?.clone();
        hand_out(batch, request, &request.capacity, load, &candidates, claimed, unfit)?;
    }
    Ok(candidates.len() >= limit)
}

/// The same where it matters whose a task is.
fn look_by_share(
    batch: &mut Batch<'_>,
    request: &ClaimRequest,
    capacity: &Capacity,
    limit: usize,
    claimed: &mut Vec<Claimed>,
    unfit: &mut BTreeSet<TaskId>,
) -> Result<bool, Fault> {
    let mut load = load(batch)?.clone();
    sharing::count(batch, &mut load)?;
    // Where some did not fit, nobody knows how many it takes to fill a share's room.
    let is_by_room = unfit.is_empty();
    let (candidates, was_cut) = sharing::candidates(batch, request, capacity, &load, limit, is_by_room)?;
    hand_out(batch, request, capacity, load, &candidates, claimed, unfit)?;
    Ok(was_cut)
}

fn load<'b>(batch: &'b mut Batch<'_>) -> Result<&'b Load, Fault> {
    let unaccepted = u32::try_from(batch.counters.unaccepted).unwrap_or(u32::MAX);
    Ok(batch.running()?.load(unaccepted))
}

fn hand_out(
    batch: &mut Batch<'_>,
    request: &ClaimRequest,
    capacity: &Capacity,
    load: Load,
    candidates: &[Candidate],
    claimed: &mut Vec<Claimed>,
    unfit: &mut BTreeSet<TaskId>,
) -> Result<(), Fault> {
    let now = batch.now;
    pick_each(candidates, capacity, load, &request.intakes, now, |candidate| {
        let Some(attempt) = request.attempt_ids.get(claimed.len()) else { return Ok(PickOutcome::Last) };
        if unfit.contains(&candidate.task) {
            return Ok(PickOutcome::Nothing);
        }
        let Some(taken) = take(batch, request, candidate, *attempt)? else {
            unfit.insert(candidate.task);
            return Ok(PickOutcome::Nothing);
        };
        claimed.push(taken);
        Ok(PickOutcome::Place)
    })
}

/// The first of each role. As many as were asked for are far enough to look where all of them fit: all of one role
/// share its limits, and of those that differ in urgency the admissible ones come first.
fn candidates(batch: &mut Batch<'_>, request: &ClaimRequest, limit: usize) -> Result<Vec<Candidate>, Fault> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let sql =
        "SELECT rank, created_ms, task FROM ready WHERE role = ?1 ORDER BY rank, created_ms, task LIMIT ?2";
    let statement = batch.statement(sql)?;
    let mut candidates = Vec::new();
    for (role, agent) in &request.agents {
        let mut found = statement.query((role.as_str(), limit))?;
        while let Some(row) = found.next()? {
            candidates.push(candidate(role, agent, row.get(0)?, row.get(1)?, row.get(2)?)?);
        }
    }
    Ok(candidates)
}

pub fn candidate(
    role: &Role,
    agent: &AgentName,
    rank: i64,
    created_ms: i64,
    task: i64,
) -> Result<Candidate, Fault> {
    let rank = ClaimRank::try_from(rank).map_err(|error| bad_row("ready task", task, error))?;
    let created_at = Timestamp::from_ms(created_ms);
    let (role, agent) = (role.clone(), agent.clone());
    Ok(Candidate { task: task_id(task)?, rank, created_at, role, agent, share: Share::default() })
}

/// None where the task does not fit the worker that asks.
fn take(
    batch: &mut Batch<'_>,
    request: &ClaimRequest,
    candidate: &Candidate,
    attempt: AttemptId,
) -> Result<Option<Claimed>, Fault> {
    let task = candidate.task;
    let stored =
        rows::task_in(batch, of_task(task))?.ok_or_else(|| bad_row("ready task", task, "it is gone"))?;
    if !request.fit.admits(stored.value.spec()) {
        return Ok(None);
    }
    // Ready tasks are exactly those that nothing blocks.
    let worker = Some(request.worker.clone());
    let command = Command::Claim { attempt, agent: candidate.agent.clone(), open_blockers: 0, worker };
    let context = CommandContext { now: batch.now, actor: request.actor.clone(), fresh: UNUSED };
    let transition =
        stored.value.apply(command, &context).map_err(|refusal| bad_row("ready task", task, refusal))?;
    let claimed = Versioned { version: stored.version + 1, value: transition.task.clone() };
    let before = Before::ready(stored.version, candidate.rank.number());
    apply_to(batch, before, &Rendered::of(Change::transition(stored.version, transition))?)?;
    let lease = Lease {
        attempt,
        task,
        worker: request.worker.clone(),
        role: candidate.role.clone(),
        agent: candidate.agent.clone(),
        share: claimed.value.share(),
        expires_at: batch.now.plus_ms(request.lease_ms),
    };
    leases::begin(batch, &lease)?;
    Ok(Some(Claimed { task: claimed, lease }))
}

/// A claim asks nothing and breaks nothing down, so it takes no fresh ids.
const UNUSED: FreshIds = FreshIds { question: QuestionId::from_bits(0), breakdown: TaskId::from_bits(0) };
