//! A hand-off: everything the next phase gets from the previous one.
//!
//! Built by the loop when a phase ends, read when the next agent starts. It holds the decision, the results and
//! the prompt built from both. It has no field for a question or an answer, so none can leak into the next phase.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::base::id::TaskId;
use crate::base::text::NonBlank;
use crate::phase::Phase;
use crate::phase::summary::LoopSummary;

/// Tasks a prompt lists by name; the rest are only counted, and the agent can list them itself.
const LISTED_MAX: usize = 50;

/// Characters of a title in a prompt, so that one list item stays one line.
const TITLE_CHARS_MAX: usize = 160;

/// What ended the phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HandoffDecision {
    /// The human started the phase from the hub.
    Started,
    Yes,
    No,
    BrokenOff,
    /// No task was ready to be planned.
    NoTasks,
    /// Nobody answered, and the policy is to stop then.
    Unanswered,
    /// The agents of a phase failed too often.
    GaveUp,
}

/// A task as named in a hand-off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedTask {
    pub id: TaskId,
    pub title: NonBlank,
}

/// What a phase achieved, by the edge it leaves on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PhaseResults {
    /// From the hub: nothing has been done yet.
    Started,
    Planned {
        subtasks: Vec<NamedTask>,
    },
    Executed {
        completed: Vec<NamedTask>,
        failed: Vec<NamedTask>,
        /// The person skipped these or left them open.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        left_out: Vec<NamedTask>,
    },
    Reviewed {
        /// Tasks created after the human's YES.
        discovered: u32,
        duplicates_skipped: u32,
    },
    /// To the hub: the summary of the whole loop.
    Ended {
        summary: LoopSummary,
    },
}

impl PhaseResults {
    /// Adds these results to the loop's summary.
    pub(crate) fn add_to(&self, mut summary: LoopSummary) -> LoopSummary {
        match self {
            Self::Started | Self::Planned { .. } | Self::Ended { .. } => {}
            Self::Executed { completed, failed, .. } => {
                summary.tasks_completed = summary.tasks_completed.saturating_add(count(completed.len()));
                summary.tasks_failed = summary.tasks_failed.saturating_add(count(failed.len()));
            }
            Self::Reviewed { discovered, duplicates_skipped } => {
                summary.tasks_discovered = summary.tasks_discovered.saturating_add(*discovered);
                summary.duplicates_skipped = summary.duplicates_skipped.saturating_add(*duplicates_skipped);
            }
        }
        summary
    }

    /// The phase that ends with such results.
    pub const fn phase(&self) -> Option<Phase> {
        match self {
            Self::Started | Self::Ended { .. } => None,
            Self::Planned { .. } => Some(Phase::Plan),
            Self::Executed { .. } => Some(Phase::Execute),
            Self::Reviewed { .. } => Some(Phase::Review),
        }
    }
}

fn count(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

/// I7: built in the same step that closes the phase's ask cycle and opens the next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handoff {
    pub from: Phase,
    pub to: Phase,
    /// The iteration of the receiving phase.
    pub iteration: u32,
    pub decision: HandoffDecision,
    pub results: PhaseResults,
    pub prompt: String,
}

impl Handoff {
    pub(crate) fn new(
        from: Phase,
        to: Phase,
        iteration: u32,
        decision: HandoffDecision,
        results: PhaseResults,
    ) -> Self {
        let prompt = prompt(to, iteration, decision, &results);
        Self { from, to, iteration, decision, results, prompt }
    }
}

fn prompt(to: Phase, iteration: u32, decision: HandoffDecision, results: &PhaseResults) -> String {
    let mut text = match results {
        PhaseResults::Started => String::new(),
        PhaseResults::Planned { subtasks } => {
            format!("Planning is done. The human's decision: YES.\n{}", list("Subtasks to execute", subtasks))
        }
        PhaseResults::Executed { completed, failed, left_out } => {
            let left_out =
                if left_out.is_empty() { String::new() } else { list("Skipped or left open", left_out) };
            format!(
                "Execution is done. The human's decision: YES.\n{}{}{left_out}",
                list("Completed", completed),
                list("Failed", failed)
            )
        }
        PhaseResults::Reviewed { discovered, duplicates_skipped } => format!(
            "The review is done. The human's decision: YES. Discovered tasks added: {discovered} (duplicates skipped: \
             {duplicates_skipped}).\n"
        ),
        PhaseResults::Ended { summary } => {
            let how = match decision {
                HandoffDecision::BrokenOff => "was broken off by the human",
                HandoffDecision::NoTasks => "ended: no task was ready to be planned",
                HandoffDecision::Unanswered => "was stopped because nobody answered",
                HandoffDecision::GaveUp => "was stopped because the agents of a phase failed too often",
                HandoffDecision::Started | HandoffDecision::Yes | HandoffDecision::No => {
                    "was ended by the human"
                }
            };
            format!("The loop {how}.\n{summary}\n")
        }
    };
    if !text.is_empty() {
        text.push('\n');
    }
    // Writing to a String cannot fail.
    let _ = match to {
        Phase::Hub => write!(
            text,
            "Show this summary to the human and offer what can follow: start a new loop, look at the results, \
             or edit the tasks. Do not start a phase unasked."
        ),
        Phase::Plan => write!(
            text,
            "Iteration {iteration}, plan phase. The next task of the queue, as get_next_task hands it out, is \
             planned: how vague it is, what is missing and has to be cleared up with the human, and the subtasks \
             it falls into. When the plan stands, the human is asked whether to execute it; on YES the execute \
             phase follows by itself, not by way of the hub. {ON_AND_ON}"
        ),
        Phase::Execute => write!(
            text,
            "Iteration {iteration}, execute phase. The subtasks are worked through in order. The human is asked \
             before each one, and after it whether it is done. When none is left, they are asked whether to \
             review; on YES the review phase follows by itself, not by way of the hub. {ON_AND_ON}"
        ),
        Phase::Review => write!(
            text,
            "Iteration {iteration}, review phase. Look at what was completed and what failed, find the causes \
             of the failures, and note improvements worth a task of their own. These are proposed to the human; \
             only what they approve is added. Then they are asked whether to go on; on YES planning follows by \
             itself, not by way of the hub. {ON_AND_ON}"
        ),
    };
    text
}

const ON_AND_ON: &str = "Plan, execute and review take turns until the human ends the loop.";

fn list(heading: &str, tasks: &[NamedTask]) -> String {
    let mut text = format!("{heading}: {}\n", tasks.len());
    for task in tasks.iter().take(LISTED_MAX) {
        let title = task.title.as_str().split_whitespace().collect::<Vec<_>>().join(" ");
        let shown: String = title.chars().take(TITLE_CHARS_MAX).collect();
        let cut = if shown.len() < title.len() { "…" } else { "" };
        let _ = writeln!(text, "- {} {shown}{cut}", task.id);
    }
    if tasks.len() > LISTED_MAX {
        let _ = writeln!(text, "- and {} more", tasks.len() - LISTED_MAX);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(bits: u32, title: &'static str) -> NamedTask {
        NamedTask { id: TaskId::from_bits(bits), title: NonBlank::fixed(title) }
    }

    #[test]
    fn the_execute_prompt_lists_the_subtasks() {
        let results =
            PhaseResults::Planned { subtasks: vec![named(1, "Read the file"), named(2, "Parse\nit")] };
        let handoff = Handoff::new(Phase::Plan, Phase::Execute, 1, HandoffDecision::Yes, results);
        insta::assert_snapshot!(handoff.prompt, @r"
        Planning is done. The human's decision: YES.
        Subtasks to execute: 2
        - TASK-00000001 Read the file
        - TASK-00000002 Parse it

        Iteration 1, execute phase. The subtasks are worked through in order. The human is asked before each one, and after it whether it is done. When none is left, they are asked whether to review; on YES the review phase follows by itself, not by way of the hub. Plan, execute and review take turns until the human ends the loop.
        ");
    }

    #[test]
    fn the_review_prompt_lists_completed_and_failed() {
        let results = PhaseResults::Executed {
            completed: vec![named(1, "Read")],
            failed: vec![named(2, "Parse")],
            left_out: vec![named(3, "Print")],
        };
        let handoff = Handoff::new(Phase::Execute, Phase::Review, 1, HandoffDecision::Yes, results);
        insta::assert_snapshot!(handoff.prompt, @r"
        Execution is done. The human's decision: YES.
        Completed: 1
        - TASK-00000001 Read
        Failed: 1
        - TASK-00000002 Parse
        Skipped or left open: 1
        - TASK-00000003 Print

        Iteration 1, review phase. Look at what was completed and what failed, find the causes of the failures, and note improvements worth a task of their own. These are proposed to the human; only what they approve is added. Then they are asked whether to go on; on YES planning follows by itself, not by way of the hub. Plan, execute and review take turns until the human ends the loop.
        ");
    }

    #[test]
    fn the_plan_prompt_has_the_iteration_and_duplicates() {
        let results = PhaseResults::Reviewed { discovered: 3, duplicates_skipped: 2 };
        let handoff = Handoff::new(Phase::Review, Phase::Plan, 2, HandoffDecision::Yes, results);
        insta::assert_snapshot!(handoff.prompt, @r"
        The review is done. The human's decision: YES. Discovered tasks added: 3 (duplicates skipped: 2).

        Iteration 2, plan phase. The next task of the queue, as get_next_task hands it out, is planned: how vague it is, what is missing and has to be cleared up with the human, and the subtasks it falls into. When the plan stands, the human is asked whether to execute it; on YES the execute phase follows by itself, not by way of the hub. Plan, execute and review take turns until the human ends the loop.
        ");
    }

    #[test]
    fn the_hub_prompt_has_the_summary_and_the_options() {
        let summary = LoopSummary {
            iterations: 2,
            tasks_completed: 5,
            tasks_failed: 1,
            tasks_discovered: 3,
            duplicates_skipped: 2,
        };
        let ended =
            |decision| Handoff::new(Phase::Review, Phase::Hub, 2, decision, PhaseResults::Ended { summary });
        insta::assert_snapshot!(ended(HandoffDecision::No).prompt, @r"
        The loop was ended by the human.
        Iterations: 2
        Tasks completed: 5
        Tasks failed: 1
        Tasks discovered: 3
        Duplicates skipped: 2

        Show this summary to the human and offer what can follow: start a new loop, look at the results, or edit the tasks. Do not start a phase unasked.
        ");
        let broken_off = ended(HandoffDecision::BrokenOff).prompt;
        assert!(broken_off.starts_with("The loop was broken off by the human.\n"), "{broken_off}");
    }

    #[test]
    fn a_start_from_the_hub_says_which_phase_it_is() {
        for (to, opening) in [
            (Phase::Plan, "Iteration 1, plan phase. "),
            (Phase::Execute, "Iteration 1, execute phase. "),
            (Phase::Review, "Iteration 1, review phase. "),
        ] {
            let handoff = Handoff::new(Phase::Hub, to, 1, HandoffDecision::Started, PhaseResults::Started);
            assert!(handoff.prompt.starts_with(opening), "{}", handoff.prompt);
        }
    }

    #[test]
    fn a_long_list_is_cut_and_marked() {
        let subtasks = vec![named(1, "x"); LISTED_MAX + 3];
        let results = PhaseResults::Planned { subtasks };
        let handoff = Handoff::new(Phase::Plan, Phase::Execute, 1, HandoffDecision::Yes, results);
        assert_eq!(handoff.prompt.matches("TASK-").count(), LISTED_MAX);
        assert!(handoff.prompt.contains("- and 3 more\n"));
    }

    #[test]
    fn a_handoff_has_no_place_for_questions_or_answers() {
        let results = PhaseResults::Reviewed { discovered: 3, duplicates_skipped: 2 };
        let handoff = Handoff::new(Phase::Review, Phase::Plan, 2, HandoffDecision::Yes, results);
        let json = serde_json::to_value(&handoff).unwrap();
        let fields: Vec<&String> = json.as_object().unwrap().keys().collect();
        assert_eq!(fields, ["decision", "from", "iteration", "prompt", "results", "to"]);
        assert_eq!(serde_json::from_value::<Handoff>(json).unwrap(), handoff);
    }
}
