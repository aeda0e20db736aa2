//! Counts systemic failures of agents. Two in a row pause an agent's intake; core says for how long. Failures of one task
//! count once, because the task may be what is wrong, unless the agent did not even start. The pause itself is a hold, in
//! the store.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use baton_core::base::id::TaskId;
use baton_core::base::text::AgentName;
use baton_core::base::time::Timestamp;
use baton_core::schedule::AgentIntake;

/// Shared by the runners, who learn how agents fare, and the dispatcher, who asks before it claims.
#[derive(Clone, Default)]
pub struct Intakes {
    streaks: Arc<Mutex<BTreeMap<AgentName, FailureStreak>>>,
    /// Tasks whose last failure has put somebody on hold, which is consequence enough.
    excused: Arc<Mutex<BTreeSet<TaskId>>>,
}

#[derive(Clone, Copy)]
struct FailureStreak {
    intake: AgentIntake,
    /// The task that failed last. None if the agent failed whatever the task.
    task: Option<TaskId>,
}

impl Intakes {
    /// The agent did its part, whatever became of the task.
    pub fn success(&self, agent: &AgentName) {
        self.map().remove(agent);
    }

    /// The agent did not start, which is no task's fault. To be called before the failure is counted.
    pub fn crash_at_start(&self, agent: &AgentName) {
        let mut map = self.map();
        let intake = map.get(agent).map(|streak| streak.intake).unwrap_or_default();
        map.insert(agent.clone(), FailureStreak { intake, task: None });
    }

    /// Returns when the pause this starts is over, if it starts one.
    pub fn systemic_failure(&self, agent: &AgentName, task: TaskId, now: Timestamp) -> Option<Timestamp> {
        let mut map = self.map();
        let known = map.get(agent).copied();
        if known.is_some_and(|streak| streak.task == Some(task)) {
            return None;
        }
        let intake = known.map(|streak| streak.intake).unwrap_or_default().after_systemic_failure(now);
        map.insert(agent.clone(), FailureStreak { intake, task: Some(task) });
        intake.paused_until(now)
    }

    /// A person let the agent go on while it rested: all is forgotten.
    pub fn forgive(&self, agent: &AgentName, released_at: Timestamp) {
        let mut map = self.map();
        if map.get(agent).is_some_and(|streak| streak.intake.paused_until(released_at).is_some()) {
            map.remove(agent);
        }
    }

    pub fn excuse(&self, task: TaskId) {
        self.excused.lock().unwrap_or_else(PoisonError::into_inner).insert(task);
    }

    pub fn is_excused(&self, task: TaskId) -> bool {
        self.excused.lock().unwrap_or_else(PoisonError::into_inner).contains(&task)
    }

    /// Its next attempt begins.
    pub fn begin(&self, task: TaskId) {
        self.excused.lock().unwrap_or_else(PoisonError::into_inner).remove(&task);
    }

    fn map(&self) -> MutexGuard<'_, BTreeMap<AgentName, FailureStreak>> {
        self.streaks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_of_two_tasks_in_a_row_pause_and_a_success_forgets() {
        let intakes = Intakes::default();
        let (agent, now) = ("mine".parse().unwrap(), Timestamp::from_ms(1_000));
        let fail = |task| intakes.systemic_failure(&agent, TaskId::from_bits(task), now);
        assert_eq!(fail(1), None);
        intakes.success(&agent);
        assert_eq!(fail(1), None);
        assert_eq!(fail(1), None, "the same task");
        assert!(fail(2) > Some(now));
        intakes.forgive(&agent, now);
        assert_eq!(fail(1), None);
        intakes.crash_at_start(&agent);
        assert!(fail(1) > Some(now), "an agent that does not start fails with any task");
    }
}
