//! How agents fare. Two failures in a row that were no task's fault pause an agent's intake; core says for how long. The
//! pause itself is a hold, in the store; only the counting is here.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use baton_core::base::text::AgentName;
use baton_core::base::time::Timestamp;
use baton_core::schedule::AgentIntake;

/// Shared by the runners, who learn how agents fare, and the dispatcher, who asks before it claims.
#[derive(Clone, Default)]
pub struct Intakes(Arc<Mutex<BTreeMap<AgentName, AgentIntake>>>);

impl Intakes {
    /// The agent did its part, whatever became of the task.
    pub fn success(&self, agent: &AgentName) {
        self.map().remove(agent);
    }

    /// Returns when the pause this starts is over, if it starts one.
    pub fn systemic_failure(&self, agent: &AgentName, now: Timestamp) -> Option<Timestamp> {
        let mut map = self.map();
        let intake = map.get(agent).copied().unwrap_or_default().after_systemic_failure(now);
        map.insert(agent.clone(), intake);
        intake.paused_until(now)
    }

    /// A person let the agent go on while it rested: all is forgotten.
    pub fn forgive(&self, agent: &AgentName, released_at: Timestamp) {
        let mut map = self.map();
        if map.get(agent).is_some_and(|intake| intake.paused_until(released_at).is_some()) {
            map.remove(agent);
        }
    }

    fn map(&self) -> MutexGuard<'_, BTreeMap<AgentName, AgentIntake>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_failure_in_a_row_pauses_and_a_success_forgets() {
        let intakes = Intakes::default();
        let (agent, now) = ("mine".parse().unwrap(), Timestamp::from_ms(1_000));
        assert_eq!(intakes.systemic_failure(&agent, now), None);
        intakes.success(&agent);
        assert_eq!(intakes.systemic_failure(&agent, now), None);
        assert!(intakes.systemic_failure(&agent, now) > Some(now));
        intakes.forgive(&agent, now);
        assert_eq!(intakes.systemic_failure(&agent, now), None);
    }
}
