//! Back-off per agent. Systemic failures (missing binary, rate limit, network) say nothing about the task, but two in
//! a row say something about the agent: it pauses for a while.

use serde::{Deserialize, Serialize};

use crate::base::time::Timestamp;

/// One failure may be chance; two in a row are a condition.
pub const FAILURES_BEFORE_PAUSE: u32 = 2;
/// The first pause; about as long as a typical rate limit.
pub const PAUSE_MS_BASE: i64 = 60_000;
/// Pauses double up to this, so that a fixed agent is noticed within the hour.
pub const PAUSE_MS_MAX: i64 = 3_600_000;

/// The intake of one agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentIntake {
    failures_in_row: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    paused_until: Option<Timestamp>,
}

impl AgentIntake {
    /// Paused until then, regardless of earlier failures.
    pub const fn held_until(until: Timestamp) -> Self {
        Self { failures_in_row: 0, paused_until: Some(until) }
    }

    /// When the current pause ends, if there is one.
    pub fn paused_until(&self, now: Timestamp) -> Option<Timestamp> {
        self.paused_until.filter(|until| now < *until)
    }

    pub const fn failures_in_row(&self) -> u32 {
        self.failures_in_row
    }

    /// An attempt failed through no fault of its task.
    ///
    /// While the agent pauses, attempts started earlier still fail. They have the same cause, so they do not extend
    /// the pause.
    pub fn after_systemic_failure(self, now: Timestamp) -> Self {
        if self.paused_until(now).is_some() {
            return self;
        }
        let failures_in_row = self.failures_in_row.saturating_add(1);
        let doublings = failures_in_row.checked_sub(FAILURES_BEFORE_PAUSE);
        let paused_until = doublings.map(|doublings| now.plus_ms(pause_ms(doublings)));
        Self { failures_in_row, paused_until }
    }

    /// The agent worked, whatever happened to the task: clears failures and pause.
    pub fn after_success(self) -> Self {
        Self::default()
    }

    /// A person resumes the agent. The next failure counts as the first.
    pub fn resume(self) -> Self {
        Self::default()
    }
}

fn pause_ms(doublings: u32) -> i64 {
    let factor = 1_i64.checked_shl(doublings).filter(|factor| *factor > 0).unwrap_or(i64::MAX);
    PAUSE_MS_BASE.saturating_mul(factor).min(PAUSE_MS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_ms(ms)
    }

    #[test]
    fn two_failures_in_a_row_pause_and_each_further_one_doubles_it() {
        let mut now = at(0);
        let mut intake = AgentIntake::default().after_systemic_failure(now);
        assert_eq!(intake.paused_until(now), None);
        for minutes in [1, 2, 4, 8, 16, 32, 60, 60] {
            intake = intake.after_systemic_failure(now);
            let end = now.plus_ms(minutes * 60_000);
            assert_eq!(intake.paused_until(now), Some(end));
            assert_eq!(intake.paused_until(end), None, "the pause ends at its end");
            now = end;
        }
    }

    #[test]
    fn a_success_between_two_failures_means_no_pause() {
        let intake = AgentIntake::default().after_systemic_failure(at(0)).after_success();
        assert_eq!(intake.after_systemic_failure(at(1)).paused_until(at(1)), None);
    }

    #[test]
    fn late_failures_with_the_same_cause_do_not_extend_the_pause() {
        let paused = AgentIntake::default().after_systemic_failure(at(0)).after_systemic_failure(at(0));
        assert_eq!(paused.after_systemic_failure(at(59_999)), paused);
        assert_ne!(paused.after_systemic_failure(at(60_000)), paused);
    }

    #[test]
    fn a_person_ends_the_pause() {
        let paused = AgentIntake::default().after_systemic_failure(at(0)).after_systemic_failure(at(0));
        assert_eq!(paused.resume().paused_until(at(0)), None);
        assert_eq!(paused.resume().after_systemic_failure(at(1)).paused_until(at(1)), None);
    }

    #[test]
    fn the_stored_form_is_stable() {
        let paused = AgentIntake::default().after_systemic_failure(at(0)).after_systemic_failure(at(0));
        let stored = serde_json::to_string(&paused).unwrap();
        insta::assert_snapshot!(stored, @r#"{"failures_in_row":2,"paused_until":"1970-01-01T00:01:00.000Z"}"#);
        assert_eq!(serde_json::from_str::<AgentIntake>(&stored).unwrap(), paused);
    }

    proptest! {
        #[test]
        fn no_pause_is_longer_than_the_cap(failures in 0_u32..u32::MAX, start in 0_i64..1_000_000) {
            let intake = AgentIntake { failures_in_row: failures, paused_until: None };
            if let Some(until) = intake.after_systemic_failure(at(start)).paused_until(at(start)) {
                let pause = until.ms_since(at(start));
                prop_assert!((PAUSE_MS_BASE..=PAUSE_MS_MAX).contains(&pause));
            }
        }
    }
}
