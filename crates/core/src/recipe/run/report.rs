//! What an agent reports at the end of a step, and what Baton saw of it.
//!
//! A report is a claim. Where Baton saw something else, the agent is told what, and asked once more.

use crate::base::text::{NonBlank, OutcomeName};
use crate::recipe::outcome::OutcomeMistake;
use crate::recipe::outcome::{COMMITTED, COMPLETE, NO_TASKS, Outcome};
use crate::recipe::reminder::reminder;

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
    pub(crate) fn against(&self, outcome: &Outcome) -> Option<Contradiction> {
        if outcome.name.as_str() == NO_TASKS && self.ready_count > 0 {
            return Some(Contradiction::ready_work(self.ready_count));
        }
        self.contradiction.clone()
    }
}

/// What git shows of a piece of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Seen {
    /// I15: counted by Baton.
    pub commits: u32,
    /// Changed and in no commit yet.
    pub uncommitted: u32,
    /// Changed in all, whoever committed it.
    pub files_changed: u32,
}

impl Contradiction {
    /// What git says against an outcome that claims work.
    pub fn in_git(outcome: &Outcome, seen: Seen) -> Option<Self> {
        match outcome.name.as_str() {
            COMMITTED if seen.commits == 0 && seen.files_changed == 0 => Some(Self {
                claimed: NonBlank::fixed("you committed the change"),
                seen: match seen.uncommitted {
                    0 => NonBlank::fixed("the branch has no new commit, and nothing has changed"),
                    count => NonBlank::led_by(
                        "the branch has no new commit: ",
                        &format!("{count} changed file(s) are in none"),
                    ),
                },
            }),
            COMPLETE if seen == Seen::default() => Some(Self {
                claimed: NonBlank::fixed("the work is done"),
                seen: NonBlank::fixed(
                    "nothing has changed in the worktree, and the branch has no new commit",
                ),
            }),
            _ => None,
        }
    }

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

    /// What to say to people, and what to the agent.
    pub(crate) fn ask_again(&self, outcome: &Outcome, allowed: &[OutcomeName]) -> (String, String) {
        let Self { claimed, seen } = self;
        let error = format!("you reported \"{}\" ({claimed}), but {seen}", outcome.name);
        let mend = "Look again and do what is left, then report how the step really ended.";
        let text = reminder(&error, mend, allowed);
        (error, text)
    }
}
