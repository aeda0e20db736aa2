//! Tasks that are too large: limits, depth, the plan that replaces them, and the escalation to a human. Applying them
//! to a task is in [`transition`](crate::transition).

pub mod plan;
pub mod plan_record;
pub mod prompt;
use serde::{Deserialize, Serialize};

use crate::ask::question::{QuestionDraft, QuestionKind};
use crate::base::id::TaskId;
use crate::base::text::NonBlank;

/// Attempts without acceptance after which a task is not retried as it is.
pub const TRIES_MAX: u32 = 3;

/// Continuations after a turn limit before a task counts as not converging.
pub const CONTINUATIONS_MAX: u32 = 3;

/// Why a task is recycled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecycleReason {
    TooLarge,
    CumulativeFailures,
}

/// How often the work was broken down already. I14: at most once.
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
pub struct InvalidDepth(pub u8);

impl TryFrom<u8> for Depth {
    type Error = InvalidDepth;

    fn try_from(depth: u8) -> Result<Self, InvalidDepth> {
        match depth {
            0 => Ok(Self::Original),
            1 => Ok(Self::BrokenDown),
            deeper => Err(InvalidDepth(deeper)),
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

/// The question when a part of a broken-down task fails again (I14).
pub fn escalation(task: TaskId, title: &str, what_happened: &str) -> QuestionDraft {
    let text = NonBlank::led_by(
        "This task could not be finished and is not split again by itself. What should become of it?\n\n",
        &format!(
            "{task}: {title}\n{what_happened}\n\n\
             SPLIT: you write the smaller tasks yourself.\n\
             RETRY: it is tried again from the start of its count.\n\
             CANCEL: it is given up; what it wrote is kept."
        ),
    );
    QuestionDraft::new(QuestionKind::Escalation, text).with_options(&["SPLIT", "RETRY", "CANCEL"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_no_depth_beyond_one() {
        assert_eq!(serde_json::from_str::<Depth>("1").unwrap(), Depth::BrokenDown);
        assert!(serde_json::from_str::<Depth>("2").is_err());
    }
}
