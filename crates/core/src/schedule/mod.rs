//! Who is next, and who may run at all.
//!
//! Order and admission are separate: [`ClaimRank`] and age say who is first, [`Capacity`] says how many may
//! run, of all and of each [`Share`], [`Intake`] says which agent is resting after failures that were nobody's fault.
//! The store keeps the rank as a column, the engine keeps the counts; here is only the judgement.

mod capacity;
mod fit;
mod intake;
mod rank;
mod share;
pub mod worker;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

use crate::base::id::TaskId;
use crate::base::text::{AgentName, Role};
use crate::base::time::Timestamp;

pub use capacity::{Capacity, Held, Limits, Load, admit};
pub use fit::Fit;
pub use intake::{FAILURES_BEFORE_PAUSE, Intake, PAUSE_MS_BASE, PAUSE_MS_MAX};
pub use rank::{AGEING_MS, BadClaimRank, ClaimOrder, ClaimRank, Urgency};
pub use share::Share;

/// A task that could be claimed: its dependencies are met and its state allows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    pub task: TaskId,
    pub rank: ClaimRank,
    pub created_at: Timestamp,
    pub role: Role,
    pub agent: AgentName,
    /// Nobody's where nothing is limited by whose it is.
    pub share: Share,
}

impl Candidate {
    pub const fn order(&self) -> ClaimOrder {
        ClaimOrder { rank: self.rank, created_at: self.created_at, task: self.task }
    }
}

/// Whether this candidate may start now, and if not, what holds it.
pub fn may_start(
    candidate: &Candidate,
    capacity: &Capacity,
    load: &Load,
    intakes: &BTreeMap<AgentName, Intake>,
    now: Timestamp,
) -> Result<(), Held> {
    if let Some(until) = intakes.get(&candidate.agent).and_then(|intake| intake.paused_until(now)) {
        return Err(Held::IntakePaused { agent: candidate.agent.clone(), until });
    }
    admit(candidate, capacity, load)
}

/// As many candidates as may run, first come first. One that is held does not hold those behind it.
pub fn pick<'a>(
    candidates: impl IntoIterator<Item = &'a Candidate>,
    capacity: &Capacity,
    load: &Load,
    intakes: &BTreeMap<AgentName, Intake>,
    now: Timestamp,
) -> Vec<&'a Candidate> {
    let mut chosen = Vec::new();
    let picked = pick_each(candidates, capacity, load.clone(), intakes, now, |candidate| {
        chosen.push(candidate);
        Ok::<_, Infallible>(Took::Place)
    });
    match picked {
        Ok(()) => chosen,
    }
}

/// What came of a candidate whose turn it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Took {
    /// It runs.
    Place,
    /// It turned out not to fit, and takes no place from those behind it.
    Nothing,
    /// There are enough.
    Last,
}

/// As [`pick`], where it is found out only when its turn comes whether a candidate fits.
pub fn pick_each<'a, E>(
    candidates: impl IntoIterator<Item = &'a Candidate>,
    capacity: &Capacity,
    mut load: Load,
    intakes: &BTreeMap<AgentName, Intake>,
    now: Timestamp,
    mut take: impl FnMut(&'a Candidate) -> Result<Took, E>,
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
                Took::Place => {
                    load.start(&candidate.role, &candidate.agent);
                    load.occupy(&candidate.share, 1);
                }
                Took::Nothing => {}
                Took::Last => break,
            }
        }
    }
    Ok(())
}
