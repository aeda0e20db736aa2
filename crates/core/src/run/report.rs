//! What an agent reports at the end of a step, and what Baton saw of it.
//!
//! A report is a claim. Where Baton saw something else, the agent is told what, and asked once more.

use super::Advance;
use crate::outcome::{NO_TASKS, Outcome};
use crate::reminder::{OutcomeMistake, reminder};
use crate::text::{NonBlank, OutcomeName};

/// What the agent sent at the end of its turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Report {
    Outcome(Outcome),
    Mistake(OutcomeMistake),
}

/// What Baton itself saw, to hold against the report.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Observed {
    /// How many tasks of the queue could start now.
    pub ready_count: u32,
    /// Whether anything came of the work since the last restart.
    pub progress: bool,
    /// A claim that did not hold.
    pub contradiction: Option<Contradiction>,
}

/// Something that was claimed and not found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction {
    /// What the agent claimed, such as "you committed the change".
    pub claimed: NonBlank,
    /// What Baton saw instead, such as "the branch has no new commit".
    pub seen: NonBlank,
}

impl Observed {
    /// What speaks against the outcome. Said once; an agent that repeats itself is believed to mean it,
    /// and the evidence decides what becomes of the task.
    pub(super) fn against(&self, outcome: &Outcome) -> Option<Contradiction> {
        if outcome.name.as_str() == NO_TASKS && self.ready_count > 0 {
            return Some(Contradiction::ready_work(self.ready_count));
        }
        self.contradiction.clone()
    }
}

impl Contradiction {
    fn ready_work(ready_count: u32) -> Self {
        let tasks = if ready_count == 1 { "task is" } else { "tasks are" };
        Self {
            claimed: NonBlank::fixed("there is no task to work on"),
            seen: NonBlank::led_by(
                "the queue has ready work: ",
                &format!("{ready_count} {tasks} ready to start, and `get_next_task` hands out the first"),
            ),
        }
    }

    pub(super) fn ask_again(&self, outcome: &Outcome, allowed: &[OutcomeName]) -> Advance {
        let Self { claimed, seen } = self;
        let error = format!("you reported \"{}\" ({claimed}), but {seen}", outcome.name);
        let mend = "Look again and do what is left, then report how the step really ended.";
        let text = reminder(&error, mend, allowed);
        Advance::Remind { error, text }
    }
}
