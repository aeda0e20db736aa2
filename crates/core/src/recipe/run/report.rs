//! What an agent reports at the end of a step, and what Baton observed.
//!
//! A report is a claim. If Baton observed something else, the agent is told and asked again.

use crate::base::text::{NonBlank, OutcomeName};
use crate::recipe::outcome::OutcomeMistake;
use crate::recipe::outcome::{COMMITTED, COMPLETE, NO_CHANGES, NO_TASKS, Outcome};
use crate::recipe::reminder::reminder;

/// What the agent sent at the end of its turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepReport {
    Outcome(Outcome),
    Mistake(OutcomeMistake),
}

/// What Baton observed, to compare with the report.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunObservation {
    /// Other tasks in the queue that could start now.
    pub ready_count: u32,
    /// The task of the queue that the run works on, by its id and title.
    pub own_task: Option<NonBlank>,
    /// Whether the work made progress since the last restart.
    pub progress: bool,
    /// A claim that did not hold.
    pub contradiction: Option<Contradiction>,
}

/// A claim that the observation contradicts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction {
    /// What the agent claimed, such as "you committed the change".
    pub claimed: NonBlank,
    /// What Baton observed instead, such as "the branch has no new commit".
    pub seen: NonBlank,
}

impl RunObservation {
    /// What contradicts the outcome. Raised once; an agent that repeats itself is believed, and the evidence decides
    /// what happens to the task.
    pub(crate) fn contradicts(&self, outcome: &Outcome) -> Option<Contradiction> {
        if outcome.name.as_str() == NO_TASKS {
            if let Some(own) = &self.own_task {
                return Some(Contradiction::own_task(own));
            }
            if self.ready_count > 0 {
                return Some(Contradiction::ready_work(self.ready_count));
            }
        }
        self.contradiction.clone()
    }
}

/// What git shows of the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GitObservation {
    /// I15: counted by Baton.
    pub commits: u32,
    /// Changed files that are not committed.
    pub uncommitted: u32,
    /// All changed files, committed or not.
    pub files_changed: u32,
}

impl Contradiction {
    /// What git shows against an outcome that claims work. `complete` claims a change only in a step whose other
    /// outcomes have a word for none; elsewhere it means what the recipe says.
    pub fn in_git(outcome: &Outcome, allowed: &[OutcomeName], seen: GitObservation) -> Option<Self> {
        let claims_change = allowed.iter().any(|name| [NO_CHANGES, NO_TASKS].contains(&name.as_str()));
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
            COMPLETE if claims_change && seen == GitObservation::default() => Some(Self {
                claimed: NonBlank::fixed("the work is done"),
                seen: NonBlank::fixed(
                    "nothing has changed in the worktree, and the branch has no new commit",
                ),
            }),
            _ => None,
        }
    }

    fn own_task(own: &NonBlank) -> Self {
        Self {
            claimed: NonBlank::fixed("there is no task to work on"),
            seen: NonBlank::led_by("this run works on ", &format!("{own}, as `get_next_task` says")),
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

    /// The error for people, and the message for the agent.
    pub(crate) fn ask_again(&self, outcome: &Outcome, allowed: &[OutcomeName]) -> (String, String) {
        let Self { claimed, seen } = self;
        let error = format!("you reported \"{}\" ({claimed}), but {seen}", outcome.name);
        let advice = "Check again, do what is left, then report how the step really ended.";
        let text = reminder(&error, advice, allowed);
        (error, text)
    }
}
