//! Which task runs next, and which may run at all.
//!
//! Order and admission are separate: [`ClaimRank`] and age decide the order, [`Capacity`] how many may run, in total
//! and per [`Share`], and [`AgentIntake`] which agent is backing off after systemic failures. The store keeps the
//! rank in a column and the engine keeps the counts; only the decision is here. A task's own state is in
//! [`task`](crate::task), holds and budgets are in [`limits`](crate::limits).

mod capacity;
mod fit;
mod intake;
mod owned_queue;
mod rank;
mod route;
mod share;
pub mod worker;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

use crate::base::id::TaskId;
use crate::base::text::{AgentName, Role};
use crate::base::time::Timestamp;

pub use capacity::{Capacity, LimitsByKey, Load, StartRefusal, admit};
pub use fit::WorkerFit;
pub use intake::{AgentIntake, FAILURES_BEFORE_PAUSE, PAUSE_MS_BASE, PAUSE_MS_MAX};
pub use owned_queue::{OwnedQueue, OwnedQueues, ProjectScope};
pub use rank::{AGEING_MS, ClaimOrder, ClaimRank, InvalidClaimRank, Urgency};
pub use route::{AgentPlace, AgentRoute, AgentRoutes, RouteRefusal, RouteWish};
pub use share::Share;

/// A task that could be claimed: its dependencies are met and its state allows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    pub task: TaskId,
    pub rank: ClaimRank,
    pub created_at: Timestamp,
    pub role: Role,
    pub agent: AgentName,
    /// Empty if no limit depends on who it belongs to.
    pub share: Share,
}

impl Candidate {
    pub const fn order(&self) -> ClaimOrder {
        ClaimOrder { rank: self.rank, created_at: self.created_at, task: self.task }
    }
}

/// Whether this candidate may start now, and if not, why.
pub fn may_start(
    candidate: &Candidate,
    capacity: &Capacity,
    load: &Load,
    intakes: &BTreeMap<AgentName, AgentIntake>,
    now: Timestamp,
) -> Result<(), StartRefusal> {
    if let Some(until) = intakes.get(&candidate.agent).and_then(|intake| intake.paused_until(now)) {
        return Err(StartRefusal::IntakePaused { agent: candidate.agent.clone(), until });
    }
    admit(candidate, capacity, load)
}

/// As many candidates as may run, in claim order. One that may not start does not hold back those behind it.
pub fn pick<'a>(
    candidates: impl IntoIterator<Item = &'a Candidate>,
    capacity: &Capacity,
    load: &Load,
    intakes: &BTreeMap<AgentName, AgentIntake>,
    now: Timestamp,
) -> Vec<&'a Candidate> {
    let mut chosen = Vec::new();
    let picked = pick_each(candidates, capacity, load.clone(), intakes, now, |candidate| {
        chosen.push(candidate);
        Ok::<_, Infallible>(PickOutcome::Place)
    });
    match picked {
        Ok(()) => chosen,
    }
}

/// What happened to a candidate when it was picked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PickOutcome {
    /// It runs.
    Place,
    /// It turned out not to fit, and takes no slot.
    Nothing,
    /// Stop picking.
    Last,
}

/// Like [`pick`], where only trying a candidate shows whether it fits.
pub fn pick_each<'a, E>(
    candidates: impl IntoIterator<Item = &'a Candidate>,
    capacity: &Capacity,
    mut load: Load,
    intakes: &BTreeMap<AgentName, AgentIntake>,
    now: Timestamp,
    mut take: impl FnMut(&'a Candidate) -> Result<PickOutcome, E>,
) -> Result<(), E> {
    let mut in_order: Vec<&Candidate> = candidates.into_iter().collect();
    in_order.sort_by_key(|candidate| candidate.order());
    let mut seen = BTreeSet::new();
    for candidate in in_order {
        if load.total() >= capacity.total_max {
            break;
        }
        // I16: a task listed twice is still started once.
        if seen.insert(candidate.task) && may_start(candidate, capacity, &load, intakes, now).is_ok() {
            match take(candidate)? {
                PickOutcome::Place => {
                    load.start(&candidate.role, &candidate.agent);
                    load.occupy(&candidate.share, 1);
                }
                PickOutcome::Nothing => {}
                PickOutcome::Last => break,
            }
        }
    }
    Ok(())
}
