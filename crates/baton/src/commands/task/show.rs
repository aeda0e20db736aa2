//! `baton task show`

use std::fmt::Write;

use baton_core::base::words::pluralize;
use baton_core::task::attempt::AttemptResult;
use baton_core::task::guard::RequeueReason;
use baton_core::task::ledger::TaskNote;
use baton_core::task::state::{ReplacedBy, TaskState};
use baton_engine::reports::view::TaskView;

use crate::commands::question::answer_command;

/// A task as text, with what to do next.
pub(crate) fn render(view: &TaskView) -> String {
    let summary = &view.summary;
    let mut text = format!(
        "{}  {}\n{} · {} · {} · {}\n",
        summary.task_id,
        summary.title,
        summary.queue.as_str(),
        summary.status.as_str(),
        summary.task_type,
        summary.priority.as_str()
    );
    if !view.description.trim().is_empty() {
        let _ = writeln!(text, "\n{}", view.description.trim_end());
    }
    if let Some(question) = &summary.question {
        let _ = writeln!(text, "\nQuestion ({}):\n{}", question.id, question.text());
        let _ = writeln!(text, "\nAnswer: {}", answer_command(question));
    }
    if let Some(origin) = view.came_of {
        let how = if summary.is_breakdown { "Breakdown of" } else { "Planned in" };
        let _ = writeln!(text, "\n{how} {origin}");
    }
    if !view.waiting_on.is_empty() {
        let names: Vec<String> = view.waiting_on.iter().map(ToString::to_string).collect();
        let _ = writeln!(text, "\nWaiting on {}", names.join(", "));
    }
    if let Some(reason) = &view.not_started {
        let _ = writeln!(text, "\nReady, but not started: {}", reason.message);
    }
    if let Some(problem) = &view.problem {
        let _ =
            writeln!(text, "\nIn the way ({}; tried again by itself): {}", problem.service, problem.error);
    }
    if !view.dead_edges.is_empty() {
        text.push_str("\nIt can never start. Cancel it, or add it again without these dependencies:\n");
        for edge in &view.dead_edges {
            let _ = writeln!(text, "  {}", edge.reason);
        }
    }
    if let (Some(reported), Some(verified)) = (&view.reported, &view.verified) {
        let _ = writeln!(text, "\nReported: {:?}", reported.result.kind());
        // The only place that shows why an agent did not start.
        if let AttemptResult::Error { message, .. } = &reported.result {
            let _ = writeln!(text, "{}", message.trim_end());
        }
        let _ = writeln!(
            text,
            "Verified: {}, {} of {} turns",
            pluralize(u64::from(verified.commits), "commit"),
            verified.turns,
            verified.turns_max
        );
    }
    if let Some(note) = view.notes.last() {
        text.push_str(&render_note(note));
    }
    if let Some(next) = next_step(view) {
        let _ = writeln!(text, "\n{next}");
    }
    if let Some(output) = view.output.as_deref().filter(|output| !output.trim().is_empty()) {
        let _ = writeln!(text, "\nOutput:\n{}", output.trim_end());
    }
    text
}

/// Why the last attempt did not end the task.
fn render_note(note: &TaskNote) -> String {
    match note {
        TaskNote::Rejected { reason, .. } => format!("\nRejected:\n{}\n", reason.as_str().trim_end()),
        TaskNote::Conflict { detail, .. } => {
            format!("\nNot merged because of conflicts:\n{}\n", detail.as_str().trim_end())
        }
        TaskNote::Requeued { reason: reason @ RequeueReason::CheckFailed { output_tail, .. }, .. } => {
            format!("\nRequeued: {reason}:\n{}\n", output_tail.trim_end())
        }
        TaskNote::Requeued { reason, .. } => format!("\nRequeued: {reason}.\n"),
    }
}

/// What the person should do now, if anything.
fn next_step(view: &TaskView) -> Option<String> {
    let id = view.summary.task_id;
    match &view.state {
        TaskState::Provisional(_) if view.summary.is_breakdown => {
            Some(format!("Review the plan: baton breakdown show {id}, then baton breakdown approve {id}"))
        }
        TaskState::Provisional(_) => Some(format!("Review it: baton task diff {id}, then baton accept {id}")),
        TaskState::Recycled { replaced_by: ReplacedBy::Planning(plan) } => {
            Some(format!("Too large; its breakdown is {plan}: baton task show {plan}"))
        }
        TaskState::Recycled { replaced_by: ReplacedBy::Tasks(parts) } => {
            let parts: Vec<String> = parts.iter().map(ToString::to_string).collect();
            Some(format!("Too large; replaced by {}", parts.join(", ")))
        }
        TaskState::Breakdown { released: false } => {
            Some(format!("Waits for a plan: baton breakdown run {id}"))
        }
        TaskState::Failed { .. } => {
            Some(format!("Show the log: baton task log {id}; try again: baton task retry {id}"))
        }
        TaskState::Held => Some("Held: no agent starts it until it is released".to_owned()),
        TaskState::Incoming
        | TaskState::Breakdown { released: true }
        | TaskState::Claimed { .. }
        | TaskState::NeedsContinuation { .. }
        | TaskState::AwaitingResponse { .. }
        | TaskState::Blocked { .. }
        | TaskState::Done { .. }
        | TaskState::Cancelled { .. } => None,
    }
}
