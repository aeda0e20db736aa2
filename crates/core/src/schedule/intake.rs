//! Whether an agent takes new work. Failures of the system (binary missing, rate limit, network) say
//! nothing about the task, but two in a row say something about the agent: it rests for a while.

use serde::{Deserialize, Serialize};

use crate::base::time::Timestamp;

/// One failure may be chance; the second in a row is a condition.
pub const FAILURES_BEFORE_PAUSE: u32 = 2;
/// The first pause; about as long as a rate limit of the common kind.
pub const PAUSE_MS_BASE: i64 = 60_000;
/// Pauses double up to this, so that a mended agent is noticed within the hour.
pub const PAUSE_MS_MAX: i64 = 3_600_000;

/// One agent's intake.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intake {
    failures_in_row: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    paused_until: Option<Timestamp>,
}

impl Intake {
    /// One that takes nothing before then, whatever came before.
    pub const fn held_until(until: Timestamp) -> Self {
        Self { failures_in_row: 0, paused_until: Some(until) }
    }

    /// When the pause ends, if there is one now.
    pub fn paused_until(&self, now: Timestamp) -> Option<Timestamp> {
        self.paused_until.filter(|until| now < *until)
    }

    pub const fn failures_in_row(&self) -> u32 {
        self.failures_in_row
    }

    /// An attempt failed for no fault of its task.
    ///
    /// While the agent rests, failures still come in from attempts begun before. They tell of the same
    /// trouble, so they do not lengthen the pause.
    pub fn after_systemic_failure(self, now: Timestamp) -> Self {
        if self.paused_until(now).is_some() {
            return self;
        }
        let failures_in_row = self.failures_in_row.saturating_add(1);
        let doublings = failures_in_row.checked_sub(FAILURES_BEFORE_PAUSE);
        let paused_until = doublings.map(|doublings| now.plus_ms(pause_ms(doublings)));
        Self { failures_in_row, paused_until }
    }

    /// The agent did its part, whatever became of the task: all is forgotten, a pause too.
    pub fn after_success(self) -> Self {
        Self::default()
    }

    /// A person says go on. The next failure counts as the first.
    pub fn resumed(self) -> Self {
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
        let mut intake = Intake::default().after_systemic_failure(now);
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
        let intake = Intake::default().after_systemic_failure(at(0)).after_success();
        assert_eq!(intake.after_systemic_failure(at(1)).paused_until(at(1)), None);
    }

    #[test]
    fn late_failures_of_the_same_trouble_do_not_lengthen_the_pause() {
        let paused = Intake::default().after_systemic_failure(at(0)).after_systemic_failure(at(0));
        assert_eq!(paused.after_systemic_failure(at(59_999)), paused);
        assert_ne!(paused.after_systemic_failure(at(60_000)), paused);
    }

    #[test]
    fn a_person_ends_the_pause() {
        let paused = Intake::default().after_systemic_failure(at(0)).after_systemic_failure(at(0));
        assert_eq!(paused.resumed().paused_until(at(0)), None);
        assert_eq!(paused.resumed().after_systemic_failure(at(1)).paused_until(at(1)), None);
    }

    #[test]
    fn the_stored_form_is_stable() {
        let paused = Intake::default().after_systemic_failure(at(0)).after_systemic_failure(at(0));
        let stored = serde_json::to_string(&paused).unwrap();
        insta::assert_snapshot!(stored, @r#"{"failures_in_row":2,"paused_until":"1970-01-01T00:01:00.000Z"}"#);
        assert_eq!(serde_json::from_str::<Intake>(&stored).unwrap(), paused);
    }

    proptest! {
        #[test]
        fn no_pause_is_longer_than_the_cap(failures in 0_u32..u32::MAX, start in 0_i64..1_000_000) {
            let intake = Intake { failures_in_row: failures, paused_until: None };
            if let Some(until) = intake.after_systemic_failure(at(start)).paused_until(at(start)) {
                let pause = until.ms_since(at(start));
                prop_assert!((PAUSE_MS_BASE..=PAUSE_MS_MAX).contains(&pause));
            }
        }
    }
}
