//! Handing out work. Core orders and admits; here the candidates are found and the claims are written.

use baton_core::change::{Change, Stored};
use baton_core::command::{Command, Context, Fresh};
use baton_core::id::{AttemptId, QuestionId, TaskId};
use baton_core::schedule::{Candidate, ClaimRank, pick};
use baton_core::text::{AgentName, Role};
use baton_core::time::Timestamp;

use super::apply::apply_to;
use super::batch::Batch;
use super::fault::Fault;
use super::leases;
use super::put_task::Before;
use super::rendered::Rendered;
use super::rows::{self, bad_row, of_task, task_id};
use crate::claim::{ClaimRequest, Claimed};
use crate::lease::Lease;

pub fn claim(batch: &mut Batch<'_>, request: &ClaimRequest) -> Result<Vec<Claimed>, Fault> {
    let candidates = candidates(batch, request)?;
    if candidates.is_empty() {
        return Ok(Vec::new());
    }
    let (now, unaccepted) = (batch.now, batch.counters.unaccepted);
    let load = batch.running()?.load(u32::try_from(unaccepted).unwrap_or(u32::MAX));
    let chosen = pick(&candidates, &request.capacity, load, &request.intakes, now);
    let mut claimed = Vec::new();
    for (candidate, attempt) in chosen.into_iter().zip(&request.attempt_ids) {
        claimed.push(take(batch, request, candidate, *attempt)?);
    }
    Ok(claimed)
}

/// The first of each role, as many as were asked for. That is far enough to look: all of one role share its
/// limits, and of those that differ in urgency the admissible ones come first.
fn candidates(batch: &mut Batch<'_>, request: &ClaimRequest) -> Result<Vec<Candidate>, Fault> {
    let limit = i64::try_from(request.attempt_ids.len()).unwrap_or(i64::MAX);
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

fn candidate(
    role: &Role,
    agent: &AgentName,
    rank: i64,
    created_ms: i64,
    task: i64,
) -> Result<Candidate, Fault> {
    let rank = ClaimRank::try_from(rank).map_err(|error| bad_row("ready task", task, error))?;
    let created_at = Timestamp::from_ms(created_ms);
    Ok(Candidate { task: task_id(task)?, rank, created_at, role: role.clone(), agent: agent.clone() })
}

fn take(
    batch: &mut Batch<'_>,
    request: &ClaimRequest,
    candidate: &Candidate,
    attempt: AttemptId,
) -> Result<Claimed, Fault> {
    let task = candidate.task;
    let stored =
        rows::task_in(batch, of_task(task))?.ok_or_else(|| bad_row("ready task", task, "it is gone"))?;
    // Ready tasks are exactly those that nothing blocks.
    let command = Command::Claim { attempt, agent: candidate.agent.clone(), open_blockers: 0 };
    let context = Context { now: batch.now, actor: request.actor.clone(), fresh: UNUSED };
    let transition =
        stored.value.apply(command, &context).map_err(|refusal| bad_row("ready task", task, refusal))?;
    let claimed = Stored { version: stored.version + 1, value: transition.task.clone() };
    let before = Before::ready(stored.version, candidate.rank.number());
    apply_to(batch, before, &Rendered::of(Change::transition(stored.version, transition))?)?;
    let lease = Lease {
        attempt,
        task,
        worker: request.worker.clone(),
        role: candidate.role.clone(),
        agent: candidate.agent.clone(),
        expires_at: batch.now.plus_ms(request.lease_ms),
    };
    leases::begin(batch, &lease)?;
    Ok(Claimed { task: claimed, lease })
}

/// A claim asks nothing and breaks nothing down, so it takes no fresh ids.
const UNUSED: Fresh = Fresh { question: QuestionId::from_bits(0), breakdown: TaskId::from_bits(0) };
