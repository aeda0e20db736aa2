//! What the attempts of this process have used that is not written yet: it is, when they end.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use baton_core::base::id::{AttemptId, ProjectId};
use baton_core::limits::spending::SpendingAmount;
use baton_core::task::attempt_record::AttemptUse;

/// Shared by all runs, so that a budget they have in common is not overdrawn by each of them.
#[derive(Clone, Default)]
pub struct LiveSpending(Arc<Mutex<BTreeMap<AttemptId, LiveAttempt>>>);

#[derive(Clone, Copy, Default)]
struct LiveAttempt {
    project: Option<ProjectId>,
    /// Of the runs that are over.
    before: SpendingAmount,
    /// Of the current one.
    run: SpendingAmount,
    /// What the runs that are over used, as the agents themselves said at their end.
    ended: AttemptUse,
}

impl LiveAttempt {
    fn amount(self) -> SpendingAmount {
        self.before.plus(self.run)
    }
}

impl LiveSpending {
    /// An agent starts, perhaps not the first of the attempt.
    pub fn begin_run(&self, attempt: AttemptId, project: Option<ProjectId>) {
        let mut all = self.all();
        let known = all.entry(attempt).or_default();
        *known = LiveAttempt { project, before: known.amount(), run: SpendingAmount::default(), ..*known };
    }

    /// What the current run of the attempt has used so far.
    pub fn note(&self, attempt: AttemptId, run: SpendingAmount) {
        if let Some(known) = self.all().get_mut(&attempt) {
            known.run = run;
        }
    }

    /// An agent of the attempt is over.
    pub fn end_run(&self, attempt: AttemptId, used: AttemptUse) {
        if let Some(known) = self.all().get_mut(&attempt) {
            known.ended = known.ended.plus(used);
        }
    }

    /// What it has used so far is about to be written.
    pub fn begin_writing(&self, attempt: AttemptId) {
        if let Some(known) = self.all().get_mut(&attempt) {
            *known = LiveAttempt { ended: known.ended, ..LiveAttempt::default() };
        }
    }

    /// It is over. Returns what its agents used.
    pub fn end(&self, attempt: AttemptId) -> AttemptUse {
        self.all().remove(&attempt).map(|known| known.ended).unwrap_or_default()
    }

    pub fn of_attempt(&self, attempt: AttemptId) -> SpendingAmount {
        self.all().get(&attempt).copied().unwrap_or_default().amount()
    }

    pub fn of_project(&self, project: ProjectId) -> SpendingAmount {
        self.sum(|live| live.project == Some(project))
    }

    pub fn in_total(&self) -> SpendingAmount {
        self.sum(|_| true)
    }

    fn sum(&self, counts: impl Fn(&LiveAttempt) -> bool) -> SpendingAmount {
        let all = self.all();
        let amounts = all.values().filter(|live| counts(live)).map(|live| live.amount());
        amounts.fold(SpendingAmount::default(), SpendingAmount::plus)
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<AttemptId, LiveAttempt>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runs_of_an_attempt_add_up_and_each_attempt_counts_for_its_project() {
        let live = LiveSpending::default();
        let (first, second) = (AttemptId::from_bits(1), AttemptId::from_bits(2));
        let project = ProjectId::from_bits(1);
        let turns = |turns| SpendingAmount { turns, ..SpendingAmount::default() };
        live.begin_run(first, Some(project));
        live.note(first, turns(2));
        live.note(first, turns(3));
        live.begin_run(first, Some(project));
        live.note(first, turns(4));
        live.begin_run(second, None);
        live.note(second, turns(10));
        assert_eq!((live.of_attempt(first), live.of_project(project)), (turns(7), turns(7)));
        assert_eq!(live.in_total(), turns(17));
        live.end(first);
        assert_eq!((live.of_project(project), live.in_total()), (turns(0), turns(10)));
    }
}
