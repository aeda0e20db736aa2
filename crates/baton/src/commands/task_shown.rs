//! `baton task show`: everything about one task, in the order a person asks for it.

use std::fmt::Write;

use baton_core::base::words::counted;
use baton_core::task::Note;
use baton_core::task::attempt::AttemptResult;
use baton_core::task::guard::RequeueReason;
use baton_core::task::state::{ReplacedBy, TaskState};
use baton_engine::reports::view::TaskView;

use super::question::answer_command;

/// A task as a person reads it, and what they can do about it.
pub fn shown(view: &TaskView) -> String {
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
        let _ = writeln!(text, "\nIt asks ({}):\n{}", question.id, question.text());
        let _ = writeln!(text, "\nAnswer: {}", answer_command(question));
    }
    if let Some(origin) = view.came_of {
        let how = if summary.is_breakdown { "Breaks down" } else { "Planned in" };
        let _ = writeln!(text, "\n{how} {origin}");
    }
    if !view.waiting_on.is_empty() {
        let names: Vec<String> = view.waiting_on.iter().map(ToString::to_string).collect();
        let _ = writeln!(text, "\nWaiting on {}", names.join(", "));
    }
    if let Some(reason) = &view.not_started {
        let _ = writeln!(text, "\nIt is ready and not started yet: {}", reason.message);
    }
    if let Some(problem) = &view.problem {
        let _ =
            writeln!(text, "\nIn the way ({}; tried again by itself): {}", problem.service, problem.error);
    }
    if !view.dead_edges.is_empty() {
        text.push_str("\nIt can never start; cancel it, or add it again without these:\n");
        for edge in &view.dead_edges {
            let _ = writeln!(text, "  {}", edge.reason);
        }
    }
    if let (Some(reported), Some(verified)) = (&view.reported, &view.verified) {
        let _ = writeln!(text, "\nReported: {:?}", reported.result.kind());
        // What an agent that never came to work wrote, or its provider said, is here and nowhere else.
        if let AttemptResult::Error { message, .. } = &reported.result {
            let _ = writeln!(text, "{}", message.trim_end());
        }
        let _ = writeln!(
            text,
            "Verified: {}, {} of {} turns",
            counted(u64::from(verified.commits), "commit"),
            verified.turns,
            verified.turns_max
        );
    }
    if let Some(note) = view.notes.last() {
        text.push_str(&sent_back(note));
    }
    if let Some(next) = next(view) {
        let _ = writeln!(text, "\n{next}");
    }
    if let Some(output) = view.output.as_deref().filter(|output| !output.trim().is_empty()) {
        let _ = writeln!(text, "\nOutput:\n{}", output.trim_end());
    }
    text
}

/// Why the last attempt was not the last one.
fn sent_back(note: &Note) -> String {
    match note {
        Note::Rejected { reason, .. } => format!("\nRejected:\n{}\n", reason.as_str().trim_end()),
        Note::Conflict { detail, .. } => {
            format!("\nIt could not be merged:\n{}\n", detail.as_str().trim_end())
        }
        Note::Requeued { reason: reason @ RequeueReason::CheckFailed { output_tail, .. }, .. } => {
            format!("\nSent back: {reason}:\n{}\n", output_tail.trim_end())
        }
        Note::Requeued { reason, .. } => format!("\nSent back: {reason}.\n"),
    }
}

/// What a person can do now, where it is theirs to do something.
fn next(view: &TaskView) -> Option<String> {
    let id = view.summary.task_id;
    match &view.state {
        TaskState::Provisional(_) if view.summary.is_breakdown => Some(format!(
            "Its plan waits for you: baton breakdown show {id}, then baton breakdown approve {id}"
        )),
        TaskState::Provisional(_) => {
            Some(format!("It waits for you: baton task diff {id}, then baton accept {id}"))
        }
        TaskState::Recycled { replaced_by: ReplacedBy::Planning(plan) } => {
            Some(format!("It was too large as it was; {plan} finds its parts: baton task show {plan}"))
        }
        TaskState::Recycled { replaced_by: ReplacedBy::Tasks(parts) } => {
            let parts: Vec<String> = parts.iter().map(ToString::to_string).collect();
            Some(format!("It was too large as it was; instead there are {}", parts.join(", ")))
        }
        TaskState::Breakdown { released: false } => {
            Some(format!("It waits for somebody to plan it: baton breakdown run {id}"))
        }
        TaskState::Failed { .. } => {
            Some(format!("See why: baton task log {id}; again: baton task retry {id}"))
        }
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
