//! What the loop says: its questions, each of which can be answered by itself, and what its agents are told.

#[cfg(test)]
mod tests;
use std::fmt::Write;

use baton_core::ask::question::{QuestionDraft, QuestionKind};
use baton_core::base::id::TaskId;
use baton_core::base::text::{BlankText, NonBlank};
use baton_core::base::words::pluralize;
use baton_core::phase::discovered::Proposal;
use baton_core::phase::phase_loop::PhaseLoop;
use baton_core::phase::subtask::{SubtaskResult, SubtaskState};
use baton_core::phase::work::{ExecuteWork, PHASE_TRIES_MAX, PlanWork, ReviewWork, SKIP};
use baton_core::task::Task;
use baton_core::task::attempt::AttemptResult;
use baton_core::task::state::{ReviewMark, TaskState};

use crate::base::fenced::fenced;

type Drafted = Result<QuestionDraft, BlankText>;

fn draft(kind: QuestionKind, text: &str, options: &[&str]) -> Drafted {
    let mut draft = QuestionDraft::new(kind, NonBlank::new(text)?);
    draft.options = options.iter().filter_map(|option| NonBlank::new(*option).ok()).collect();
    Ok(draft)
}

fn subject(work: &PlanWork) -> String {
    work.subject().map(|task| format!("{} {}", task.id, task.title)).unwrap_or_default()
}

pub(super) fn vagueness(work: &PlanWork) -> Drafted {
    let assessed = work.rubric().map(|rubric| rubric.assess().to_string()).unwrap_or_default();
    let text = format!(
        "What should the agent know before it plans {}?\n\n{assessed}\n\nWrite what is missing, and it is planned again \
         with that. {SKIP} takes the plan as it is; STOP ends the loop.",
        subject(work)
    );
    // Free text is the rule here; the one word is only recognised.
    draft(QuestionKind::Clarification, &text, &[SKIP])
}

pub(super) fn plan_gate(work: &PlanWork) -> Drafted {
    let count = pluralize(work.plan().map_or(0, |plan| plan.items().len() as u64), "subtask");
    let lines = work.plan().map(ToString::to_string).unwrap_or_default();
    let mut text = format!("The plan for {} has {count}:\n{lines}", subject(work));
    if let Some(rubric) = work.rubric() {
        let _ = writeln!(text, "{}", rubric.assess());
    }
    text.push_str(
        "\nYES creates the subtasks, and the execute phase begins. NO stays in the plan phase: you are asked what should be \
         different, and it is planned again; `NO: what should be different` says it at once. DONE ends the loop.",
    );
    draft(QuestionKind::Gate, &text, &[])
}

pub(super) fn revision(work: &PlanWork) -> Drafted {
    let text = format!(
        "What should be different about the plan for {}?\n\nYou declined it, and nothing was created. What you write here is \
         given to the agent that plans it again. NO goes back to the question whether to take the plan.",
        subject(work)
    );
    draft(QuestionKind::Clarification, &text, &[])
}

/// Whether the current subtask may run, or is done.
pub(super) fn subtask(work: &ExecuteWork, ran: Option<&Task>) -> Option<QuestionDraft> {
    let current = work.current()?;
    let mut asked = current.question()?;
    let number = work.subtasks.iter().position(|subtask| subtask.task.id == current.task.id)? + 1;
    let of = format!("Subtask {number} of {}, {}.", work.subtasks.len(), current.task.id);
    let about = match current.state() {
        SubtaskState::AskingWithHelp => current.help(),
        SubtaskState::AskingToRun => format!(
            "{of} YES lets an agent work on it now, in a worktree of its own. NO leaves it {}. HELP says more about it and asks \
             again.",
            if current.has_failed { "failed, as it is" } else { "for another time" }
        ),
        SubtaskState::AskingWhetherDone | SubtaskState::Running | SubtaskState::Finished(_) => format!(
            "{of} {}\n\n{}NO leaves it as it is, open; `NO: what is missing` lets an agent work on it again with that. FAILED \
             counts it as failed; what it wrote is kept.",
            ran.map(how_it_went).unwrap_or_default(),
            if ran.is_none_or(is_mergeable) {
                "YES merges its work and counts it as completed. "
            } else {
                "There is nothing to merge, so YES is not possible. "
            },
        ),
    };
    asked.text = NonBlank::new(format!("{}\n\n{about}", asked.text)).unwrap_or(asked.text);
    Some(asked)
}

/// Whether there is something that YES could merge, or has merged.
pub(crate) fn is_mergeable(task: &Task) -> bool {
    matches!(task.state(), TaskState::Provisional(_) | TaskState::Landing(_) | TaskState::Done { .. })
}

fn how_it_went(task: &Task) -> String {
    let last = task.ledger().last_end.as_ref().map(|end| &end.reported.result);
    let mut text = match &task.ledger().held_because {
        Some(why) => format!("Its agent was stopped before it was through ({why})."),
        None if matches!(last, Some(AttemptResult::Stopped { .. })) => {
            let queue = task.state().queue().as_str();
            format!("Its agent was stopped before it was through; what it has is in {queue}.")
        }
        None => format!("Its agent is through, and the task is in {}.", task.state().queue().as_str()),
    };
    if let Some(end) = &task.ledger().last_end {
        let seen = &end.verified;
        let _ = write!(
            text,
            " Baton counted {} in {}, +{} −{} lines.",
            pluralize(u64::from(seen.commits), "commit"),
            pluralize(u64::from(seen.files_changed), "file"),
            seen.insertions,
            seen.deletions
        );
    }
    if let TaskState::Provisional(work) = task.state() {
        match &work.mark {
            ReviewMark::BurnedOut => {
                text.push_str(" Its turns are used up, and there is nothing to show for them.");
            }
            ReviewMark::NotConverging => text.push_str(" It was tried too often without a result."),
            ReviewMark::NeedsReview { reasons } => {
                let _ = write!(text, " It needs a closer look: {}.", reasons.join("; "));
            }
            ReviewMark::NoChanges { reason } => {
                let _ = write!(text, " It says that nothing had to be changed: {reason}");
            }
            ReviewMark::Ready | ReviewMark::Plan => {}
        }
    }
    if let Some(said) = task.ledger().output.as_deref().map(str::trim).filter(|said| !said.is_empty()) {
        // Of an agent that failed without a word, Baton says how.
        let lead = match task.state() {
            TaskState::Failed { error, .. } if error.as_str().trim() == said => "It failed:",
            _ => "The agent says:",
        };
        let _ = write!(text, "\n\n{lead}\n{said}");
    }
    text
}

/// `not_merged` are those the human called done, with the queue each is in instead.
pub(super) fn execute_gate(work: &ExecuteWork, not_merged: &[(TaskId, &str)]) -> Drafted {
    let mut text = String::from("Every subtask has been gone through:\n");
    for subtask in &work.subtasks {
        let how = match subtask.state() {
            SubtaskState::Finished(SubtaskResult::Completed) => "completed",
            SubtaskState::Finished(SubtaskResult::Failed) => "failed",
            SubtaskState::Finished(SubtaskResult::LeftOpen) => "left open",
            SubtaskState::Finished(SubtaskResult::Skipped) => "skipped",
            SubtaskState::AskingToRun
            | SubtaskState::AskingWithHelp
            | SubtaskState::Running
            | SubtaskState::AskingWhetherDone => "open",
        };
        let needs: Vec<String> =
            subtask.waits_on.iter().map(|task| format!("{} {}", task.id, task.title)).collect();
        let why =
            if needs.is_empty() { String::new() } else { format!(", as it needs {}", needs.join(" and ")) };
        let _ = writeln!(text, "- {} {}: {how}{why}", subtask.task.id, subtask.task.title);
    }
    for (task, queue) in not_merged {
        let _ = writeln!(
            text,
            "{task} has not landed: it is in {queue}. See baton task show {task}, baton accept {task}."
        );
    }
    if work.subtasks.is_empty() {
        "There was no open subtask to execute.\n".clone_into(&mut text);
    }
    text.push_str(
        "\nYES begins the review phase. NO stays in the execute phase: what was skipped, left open or failed is asked about again. \
         `NO: another thing to do` adds a subtask. DONE ends the loop.",
    );
    draft(QuestionKind::Gate, &text, &[])
}

/// None when there is nothing to decide: everything proposed is open already.
pub(super) fn discovered<'a>(
    work: &ReviewWork,
    open: impl IntoIterator<Item = &'a str>,
) -> Option<QuestionDraft> {
    let mut asked = work.proposal()?.question(open)?;
    let about = "`AGAIN: what it missed` sends the review back.";
    asked.text = NonBlank::new(format!("{} {about}\n\nThe review found:\n{}", asked.text, work.findings()))
        .unwrap_or(asked.text);
    Some(asked)
}

pub(super) fn more_work() -> Drafted {
    let text = format!(
        "What else should be executed?\n\nEvery subtask is completed, and you said NO to the review. What you write becomes \
         another subtask, which you are asked about next. {SKIP} goes back to the question whether to review."
    );
    draft(QuestionKind::Clarification, &text, &[SKIP])
}

pub(super) fn review_failed(work: &ReviewWork) -> Drafted {
    let text = format!(
        "Review again? [YES/NO]\n\nThe last {PHASE_TRIES_MAX} agents made no review: {}.\n\nYES starts another one. NO goes on \
         without a review: you are asked whether to continue the loop.",
        work.failure()
    );
    draft(QuestionKind::Confirmation, &text, &["YES", "NO"])
}

pub(super) fn list(work: &ReviewWork) -> Drafted {
    let mut text = String::from(
        "Which tasks should be proposed instead?\n\nWrite one on each line, or several separated by semicolons: its title and, \
         behind a colon, what it is about. NONE proposes none. You are asked once more before any is created. So far:\n",
    );
    for task in work.proposal().into_iter().flat_map(Proposal::tasks) {
        let about =
            if task.description.is_empty() { String::new() } else { format!(": {}", task.description) };
        let _ = writeln!(text, "{}{about}", task.title);
    }
    draft(QuestionKind::Clarification, &text, &[])
}

pub(super) fn review_gate(phase_loop: &PhaseLoop, work: &ReviewWork) -> Drafted {
    let (reviewed, no) = if work.found_no_work() {
        let reviewed =
            format!("No issues found: the review of iteration {} names no task.", phase_loop.iteration());
        (reviewed, "NO marks the work done and ends the loop with a summary.")
    } else {
        let reviewed = format!(
            "The review of iteration {} is done. Discovered tasks added: {} (duplicates skipped: {}).",
            phase_loop.iteration(),
            work.discovered(),
            work.duplicates_skipped()
        );
        (reviewed, "NO ends the loop with a summary.")
    };
    let text = format!(
        "{reviewed}\n\nThe review found:\n{}\n\nYES goes round again: iteration {} begins with the next task of the queue. \
         {no} `AGAIN: what it missed` sends the review back.",
        work.findings(),
        phase_loop.iteration() + 1
    );
    draft(QuestionKind::Gate, &text, &[])
}

/// What the agent of the plan phase is told.
pub(super) fn plan_prompt(
    brief: &str,
    work: &PlanWork,
    planned: &Task,
    answered: &[(NonBlank, NonBlank)],
) -> String {
    let spec = planned.spec();
    let mut text = format!("{brief}\n\nThe task to plan: {} {}\n", spec.id, spec.title);
    if !spec.description.trim().is_empty() {
        text.push_str(&fenced(&spec.description));
    }
    if !answered.is_empty() {
        text.push_str("\nThe human has answered these questions in this phase; do not ask them again:\n");
        for (question, answer) in answered {
            text.push_str(&fenced(&format!("{question}\n→ {answer}")));
        }
    }
    if let Some(earlier) = work.earlier() {
        let _ = write!(
            text,
            "\nThe plan that the human has seen so far, and wants to be different:\n{}",
            fenced(&earlier.to_string())
        );
    }
    if !work.said().is_empty() {
        text.push_str("\nThe human said in this phase:\n");
        for said in work.said() {
            text.push_str(&fenced(said.as_str()));
        }
    }
    if !work.faults().is_empty() {
        let _ = write!(text, "\nThe last plan could not be used:\n{}", fenced(work.faults()));
    }
    text.push_str(
        "\nHand in both before you end, each as one line by itself (of standard output, or of your last message):\n\
         {\"baton\":\"vagueness\",\"goal\":{\"clarity\":\"clear|partly|missing\",\"reason\":\"…\"},\"scope\":{…},\
         \"acceptance\":{…},\"constraints\":{…}}\n\
         {\"baton\":\"plan\",\"items\":[{\"title\":\"…\",\"description\":\"…\"},\
         {\"title\":\"…\",\"description\":\"…\",\"depends_on\":[1]}]}\n\
         depends_on names the items that have to be done first, by their place in the list; the first is 1.\n\
         You create no task yourself: the subtasks are created when the human has said YES.\n",
    );
    text
}

pub(super) fn review_prompt(brief: &str, work: &ReviewWork) -> String {
    let said = if work.said().is_empty() {
        String::new()
    } else {
        let words: String = work.said().iter().map(|said| fenced(said.as_str())).collect();
        format!("\n\nThe human said in this phase:\n{words}")
    };
    format!(
        "{brief}{said}\n\nSay what you found as your message. Tasks you came upon go into one line by itself (of standard \
         output, or of your last message):\n\
         {{\"baton\":\"discovered\",\"tasks\":[{{\"title\":\"…\",\"description\":\"…\"}}]}}\n\
         You create no task yourself: they are created when the human has said YES.\n"
    )
}
