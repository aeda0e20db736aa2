//! `baton task show`

use std::fmt::Write;

use baton_core::base::task_type::Deliverable;
use baton_core::base::words::pluralize;
use baton_core::task::attempt::{AttemptResult, Evidence};
use baton_core::task::environment::AttemptEnvironment;
use baton_core::task::guard::RequeueReason;
use baton_core::task::ledger::TaskNote;
use baton_core::task::state::{ReplacedBy, TaskState};
use baton_engine::landing::standing::WorkStanding;
use baton_engine::reports::view::{TaskSummary, TaskView};

use crate::commands::question::answer_command;
use crate::commands::recipe::describe_state;
use crate::output::time;

/// A task as text, with what to do next.
pub(crate) fn render(view: &TaskView) -> String {
    let summary = &view.summary;
    let mut text = format!(
        "{}  {}\n{} · {} · {}\n",
        summary.task_id,
        summary.title,
        view.state.label(),
        summary.task_type,
        summary.priority.as_str()
    );
    text.push_str(&render_attempt_at_work(view));
    if !view.description.trim().is_empty() {
        let _ = writeln!(text, "\n{}", view.description.trim_end());
    }
    if let Some(run) = &view.run {
        let round = if run.iteration > 1 { format!(", iteration {}", run.iteration) } else { String::new() };
        let _ = writeln!(
            text,
            "\nRecipe {} ({}) at {}, step {}{round}: {}",
            run.recipe_id,
            run.run_id,
            run.current_step,
            run.step_count,
            describe_state(run)
        );
        if let Some(words) = run.last_outcome.as_ref().and_then(|last| last.words.as_ref()) {
            let _ = writeln!(text, "{words}");
        }
    } else if let Some(recipe) = &view.recipe_id {
        let _ = writeln!(text, "\nRecipe {recipe}");
    }
    if let Some(policy) = view.accept_when {
        let _ = writeln!(text, "\nAccepted when: {policy}");
    }
    for command in &view.verify {
        let _ = writeln!(text, "Verified by: {command}");
    }
    if let Some(question) = &summary.question {
        let _ = writeln!(text, "\nQuestion ({}):\n{}", question.id, question.text());
        let _ = writeln!(text, "\nAnswer: {}", answer_command(question));
    }
    if let Some(origin) = view.came_of {
        let how = if summary.is_breakdown { "Breakdown of" } else { "Planned in" };
        let _ = writeln!(text, "\n{how} {origin}");
    }
    if let Some(attempt) = summary.added_by {
        let _ = writeln!(text, "\nAdded by an agent ({attempt}), not by a person");
    }
    if !view.waiting_on.is_empty() {
        let names: Vec<String> = view.waiting_on.iter().map(ToString::to_string).collect();
        let _ = writeln!(text, "\nWaiting on {}", names.join(", "));
    }
    if !view.rests_on.is_empty() {
        let names: Vec<String> = view.rests_on.iter().map(ToString::to_string).collect();
        let _ = writeln!(text, "\nStarted on the accepted work of {}, and lands after it", names.join(", "));
    }
    if let Some(reason) = &view.not_started {
        let _ = writeln!(text, "\nReady, but not started: {}", reason.message);
    }
    if let Some(environment) = &view.environment {
        text.push_str(&render_environment(environment));
    }
    if let Some(problem) = &view.problem {
        let _ = writeln!(
            text,
            "\nIn the way ({}): {}\nWhat needs you is in baton questions; the rest is tried again.",
            problem.service, problem.error
        );
    }
    if let Some(landing) = &view.landing {
        let _ = writeln!(text, "\nLanding: {}", landing.message);
    }
    if !view.dead_edges.is_empty() {
        let id = summary.task_id;
        let _ = writeln!(
            text,
            "\nIt can never start. Remove these dependencies, or cancel it: baton task cancel {id}"
        );
        for edge in &view.dead_edges {
            let _ = writeln!(text, "  {}\n    baton task edit {id} --not-after {}", edge.reason, edge.on);
        }
    }
    text.push_str(&render_result(view));
    if let Some(note) = view.notes.last() {
        text.push_str(&render_note(note, &view.state));
    }
    text.push_str(&render_reasons_to_look(summary));
    text.push_str(&view.standing.as_ref().map(render_standing).unwrap_or_default());
    if let Some(next) = next_step(view) {
        let _ = writeln!(text, "\n{next}");
    }
    if let Some(output) = view.output.as_deref().filter(|output| !output.trim().is_empty()) {
        let _ = writeln!(text, "\nOutput:\n{}", output.trim_end());
    }
    text
}

/// Who works on it now, since when and where.
fn render_attempt_at_work(view: &TaskView) -> String {
    let Some(record) = view.attempts.last().filter(|record| record.closing.is_none()) else {
        return String::new();
    };
    let (id, attempt) = (view.summary.task_id, &record.attempt);
    let on = attempt.worker.as_ref().map(|worker| format!(" on {worker}")).unwrap_or_default();
    format!(
        "Attempt {} by {}{on}, started {}, on branch baton/{id}. See what it does: baton task log {id} -f\n",
        attempt.number,
        attempt.agent,
        time(attempt.started_at)
    )
}

/// What the last attempt reported, and what Baton measured of it.
fn render_result(view: &TaskView) -> String {
    let (Some(reported), Some(verified)) = (&view.reported, &view.verified) else { return String::new() };
    let summary = &view.summary;
    let mut text = String::new();
    let _ = writeln!(text, "\nReported: {}", reported.result.kind().as_str().replace('_', " "));
    // The only place that shows why an agent did not start.
    if let AttemptResult::Error { message, .. } = &reported.result {
        let _ = writeln!(text, "{}", message.trim_end());
    }
    text.push_str(&render_verified(verified, view.standing.as_ref()));
    let is_answer = summary.task_type.deliverable() == Deliverable::Output;
    if is_answer && verified.shows_work() && matches!(view.state, TaskState::Done { .. }) {
        let id = summary.task_id;
        let _ = writeln!(
            text,
            "Its changes are not merged: a task of this type is done with its answer. They are on baton/{id}. Look at \
             them: baton task diff {id}; take them: git merge baton/{id}"
        );
    }
    text
}

/// What has happened around finished work, and what keeps a policy from it.
fn render_standing(standing: &WorkStanding) -> String {
    let mut text = String::new();
    if let Some(withdrawn) = standing.on_withdrawn() {
        let _ = writeln!(text, "\n{withdrawn}");
    }
    if let Some(reason) = &standing.waits_because {
        let _ = writeln!(text, "\nWaits for you: {reason}");
    }
    text
}

/// What a person should know before they accept it.
fn render_reasons_to_look(summary: &TaskSummary) -> String {
    let mut text = String::new();
    if !summary.needs_review.is_empty() {
        let _ = writeln!(text, "\nLook closely before you accept it: {}", summary.needs_review.join("; "));
    }
    if let Some(asked) = &summary.open_question {
        let id = summary.task_id;
        let _ = writeln!(
            text,
            "\nIts agent still asks: {asked}\nAccept the work as it is, or answer with what should change: baton reject {id} \
             --reason TEXT"
        );
    }
    text
}

/// What attempts work with beside the code.
fn render_environment(environment: &AttemptEnvironment) -> String {
    let mut text = "\n".to_owned();
    if let Some(reason) = &environment.paused {
        let _ = writeln!(text, "Paused: {reason}");
    }
    for folder in &environment.reused {
        let _ = writeln!(text, "Reused: {folder}");
    }
    for (name, value) in &environment.values {
        let _ = writeln!(text, "Value: {name}={value}");
    }
    for service in &environment.services {
        let state = match (&service.ended, service.is_running) {
            (Some(reason), _) => format!("ended: {reason}"),
            (None, true) => "running".to_owned(),
            (None, false) => "ended with its attempt".to_owned(),
        };
        let url = service.url.as_ref().map(|url| format!(" at {url}")).unwrap_or_default();
        let _ = writeln!(text, "Service {}{url}: {state}", service.name);
    }
    text
}

/// What Baton measured, where, and how the checks ended.
fn render_verified(verified: &Evidence, standing: Option<&WorkStanding>) -> String {
    let mut text = format!("Verified: {}", pluralize(u64::from(verified.commits), "commit"));
    if verified.uncommitted_changes {
        let files = pluralize(u64::from(verified.files_changed), "file");
        let _ =
            write!(text, " of the agent's; what it left uncommitted was committed by Baton ({files} in all)");
    }
    if verified.turns_max > 0 {
        let _ = write!(text, ", {} of {} turns", verified.turns, verified.turns_max);
    }
    text.push('\n');
    if let (Some(head), Some(base)) = (&verified.head, &verified.base) {
        let moved = standing.and_then(WorkStanding::moved).map(|moved| format!("; {moved}"));
        let (head, base) = (short(head.as_str()), short(base.as_str()));
        let _ = writeln!(text, "Measured at {head} from {base}{}", moved.unwrap_or_default());
    }
    for check in &verified.checks {
        let without = if check.fails_without { ", and it fails without this work, too" } else { "" };
        let _ = writeln!(text, "Check {}: exit code {}{without}", check.name, check.exit_code);
    }
    text
}

/// As git abbreviates a commit.
fn short(commit: &str) -> &str {
    commit.get(..10).unwrap_or(commit)
}

/// Why the last attempt did not end the task.
fn render_note(note: &TaskNote, state: &TaskState) -> String {
    match note {
        TaskNote::Rejected { reason, .. } => format!("\nRejected:\n{}\n", reason.as_str().trim_end()),
        TaskNote::Conflict { detail, .. } => {
            format!("\nSent back because of conflicts:\n{}\n", detail.as_str().trim_end())
        }
        TaskNote::NotLanded { reason, .. } => {
            let word = match state {
                TaskState::Landing(_) => "Waiting",
                _ if reason.is_delay() => "Waited before",
                _ if !reason.is_fault_of_task() => "Left to you",
                _ => "Sent back",
            };
            format!("\n{word}: {}\n", reason.describe().trim_end())
        }
        TaskNote::Requeued { reason: reason @ RequeueReason::CheckFailed { output_tail, .. }, .. } => {
            let output = output_tail.trim_end();
            let output = if output.is_empty() { ".".to_owned() } else { format!(":\n{output}") };
            format!("\nNot accepted: {reason}{output}\n")
        }
        TaskNote::Requeued { reason, .. } => {
            let is_over = matches!(state, TaskState::Held | TaskState::Cancelled { .. });
            let word = if is_over { "Ended before" } else { "Tried again" };
            format!("\n{word}: {reason}.\n")
        }
    }
}

/// What the person should do now, if anything.
fn next_step(view: &TaskView) -> Option<String> {
    let id = view.summary.task_id;
    if let Some(at) = view.summary.waits_until {
        return Some(format!("Waits until {at}. Start it now: baton task release {id}"));
    }
    if let Some(reason) =
        view.summary.held_because.as_ref().filter(|why| why.as_str().starts_with("taken over"))
    {
        return Some(format!("Held: {reason}. Hand it back: baton give {id}"));
    }
    if let Some(reason) = view.summary.held_because.as_ref().filter(|_| !view.summary.is_breakdown) {
        return Some(format!("Held: {reason}. Release it: baton task release {id}"));
    }
    match &view.state {
        TaskState::Provisional(_) if view.summary.is_breakdown => {
            Some(format!("Review the plan: baton breakdown show {id}, then baton breakdown approve {id}"))
        }
        TaskState::Provisional(_) if view.summary.too_large.is_some() => Some(format!(
            "Break it down: baton recycle {id}; or review it (baton task diff {id}), then baton accept {id} --force, or baton \
             reject {id}"
        )),
        TaskState::Provisional(_) if !view.summary.needs_review.is_empty() => Some(format!(
            "Review it: baton task diff {id}, then baton accept {id} --force, or baton reject {id}"
        )),
        TaskState::Provisional(_) => Some(format!("Review it: baton task diff {id}, then baton accept {id}")),
        TaskState::Landing(_) => {
            Some(format!("Accepted; it lands when the checks have passed: baton landing, baton accept {id}"))
        }
        TaskState::Recycled { replaced_by: ReplacedBy::Planning(plan) } => {
            Some(format!("It is to be replaced by smaller tasks, planned in {plan}: baton task show {plan}"))
        }
        TaskState::Recycled { replaced_by: ReplacedBy::Tasks(parts) } => {
            let parts: Vec<String> = parts.iter().map(ToString::to_string).collect();
            Some(format!("Broken down; replaced by {}", parts.join(", ")))
        }
        TaskState::Breakdown { released: false } => {
            let why =
                view.summary.held_because.as_ref().map(|why| format!("Held: {why}. ")).unwrap_or_default();
            Some(format!("{why}Waits for a plan: baton breakdown run {id}"))
        }
        TaskState::Failed { .. } => {
            Some(format!("Show the log: baton task log {id}; try again: baton task retry {id}"))
        }
        TaskState::Incoming
        | TaskState::Held
        | TaskState::Breakdown { released: true }
        | TaskState::Claimed { .. }
        | TaskState::NeedsContinuation { .. }
        | TaskState::AwaitingResponse { .. }
        | TaskState::Blocked { .. }
        | TaskState::Done { .. }
        | TaskState::Cancelled { .. } => None,
    }
}
