//! Tasks that were too big: how they are known, what is done with them, and when a human must decide.

use serde::{Deserialize, Serialize};

use crate::attempt::Evidence;
use crate::id::TaskId;
use crate::question::{Draft, QuestionKind};
use crate::text::NonBlank;

/// Of ten turns, how many must be used before an empty-handed attempt counts as burned out: 40 of 50.
const BURNED_OUT_TENTHS: u64 = 8;

/// Attempts without acceptance after which a task is not tried again as it is.
pub const TRIES_MAX: u32 = 3;

/// Times a task may go on after its turn limit before it counts as not converging.
pub const CONTINUATIONS_MAX: u32 = 3;

/// Why a task is recycled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecycleReason {
    TooLarge,
    CumulativeFailures,
}

/// How often work has been broken down on its way here. I14: there is no depth beyond one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub enum Depth {
    #[default]
    Original,
    BrokenDown,
}

/// A depth that does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a task cannot have depth {0}: work is broken down once at most")]
pub struct BadDepth(pub u8);

impl TryFrom<u8> for Depth {
    type Error = BadDepth;

    fn try_from(depth: u8) -> Result<Self, BadDepth> {
        match depth {
            0 => Ok(Self::Original),
            1 => Ok(Self::BrokenDown),
            deeper => Err(BadDepth(deeper)),
        }
    }
}

impl From<Depth> for u8 {
    fn from(depth: Depth) -> u8 {
        match depth {
            Depth::Original => 0,
            Depth::BrokenDown => 1,
        }
    }
}

/// Nothing in git, and the turns nearly or wholly used up. Uncommitted changes are work, not nothing.
pub const fn is_burned_out(verified: &Evidence) -> bool {
    let turns_used = verified.turns as u64 * 10 >= verified.turns_max as u64 * BURNED_OUT_TENTHS;
    !verified.shows_work() && verified.turns > 0 && turns_used
}

/// The question a human gets when a part of a broken-down task fails again (I14).
pub fn escalation(task: TaskId, title: &str, what_happened: &str) -> Draft {
    let text = NonBlank::led_by(
        "This task could not be finished and is not split again by itself. What should become of it?\n\n",
        &format!(
            "{task}: {title}\n{what_happened}\n\n\
             SPLIT: you write the smaller tasks yourself (`baton breakdown edit`).\n\
             RETRY: it is tried again from the start of its count.\n\
             CANCEL: it is given up; what it wrote is kept."
        ),
    );
    Draft::new(QuestionKind::Escalation, text).with_options(&["SPLIT", "RETRY", "CANCEL"])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(commits: u32, turns: u32) -> Evidence {
        Evidence { commits, turns, turns_max: 50, ..Evidence::default() }
    }

    #[test]
    fn burned_out_is_no_commits_and_four_fifths_of_the_turns() {
        assert!(!is_burned_out(&evidence(0, 39)));
        assert!(is_burned_out(&evidence(0, 40)));
        assert!(is_burned_out(&evidence(0, 50)));
        assert!(!is_burned_out(&evidence(1, 50)));
    }

    #[test]
    fn uncommitted_changes_are_work() {
        assert!(!is_burned_out(&Evidence { uncommitted_changes: true, ..evidence(0, 50) }));
    }

    #[test]
    fn an_attempt_that_never_took_a_turn_did_not_burn_out() {
        assert!(!is_burned_out(&Evidence::default()));
    }

    #[test]
    fn there_is_no_depth_beyond_one() {
        assert_eq!(serde_json::from_str::<Depth>("1").unwrap(), Depth::BrokenDown);
        assert!(serde_json::from_str::<Depth>("2").is_err());
    }
}
