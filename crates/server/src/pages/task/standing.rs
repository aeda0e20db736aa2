//! What a person should know about a task's state beyond its name, and what the next attempt is told.

use baton_core::ask::question_record::{QuestionRecord, QuestionState};
use baton_core::base::task_type::Deliverable;
use baton_core::records::event::EventBody;
use baton_core::recycle::RecycleReason;
use baton_core::task::ledger::TaskNote;
use baton_core::task::not_landed::NotLanded;
use baton_core::task::state::{QueueName, ReviewMark, TaskState};
use baton_engine::StoredEvent;
use baton_engine::tasks::start_at::waits_until;
use maud::{Markup, html};

use crate::pages::for_you::review::open_question;
use crate::pages::task::TaskPage;
use crate::pages::widgets::markdown::markdown;
use crate::pages::widgets::words::ago;

/// Explains states that need more than their name.
pub(super) fn standing(seen: &TaskPage, questions: &[QuestionRecord], events: &[StoredEvent]) -> Markup {
    let settled: Vec<QuestionRecord> =
        questions.iter().filter(|record| record.state != QuestionState::Pending).cloned().collect();
    html! {
        @match seen.task.state() {
            TaskState::Failed { error, .. } => div.alert role="alert" { pre { (error) } p.muted { "Retry to let an agent try again." } },
            TaskState::Provisional(provisional) => {
                @match &provisional.mark {
                    ReviewMark::BurnedOut => div.alert { p { "The agent used up its turns without a commit. Split it into smaller tasks; the branch is kept." } },
                    ReviewMark::NotConverging => div.alert { p { "Too many attempts without acceptance. Split it into smaller tasks; the branch is kept." } },
                    ReviewMark::NoChanges { reason } => div.notice { p { "The agent reports that nothing needs to change:" } div.prose { (markdown(reason.as_str())) } },
                    ReviewMark::NeedsReview { reasons } => div.alert { p { "Look closely before you accept this:" } ul { @for reason in reasons { li { (reason) } } } },
                    ReviewMark::Ready | ReviewMark::Plan => {},
                }
                @if let Some(question) = open_question(&seen.task, provisional, &settled) { div.notice { p { "Open question:" } div.prose { (markdown(question.as_str())) } } }
            },
            TaskState::Cancelled { by, reason } => div.notice { p { "Cancelled by " (by) @if let Some(reason) = reason { ": " (reason) } "." } },
            TaskState::Held if waits_until(&seen.task).is_some() => div.notice { p { "Waits until " @if let Some(at) = waits_until(&seen.task) { time datetime=(at) { (at) } } ". Release it to start it now." } },
            TaskState::Held if seen.task.waits_behind().is_some() => div.notice { p { "Waits" @if let Some(reason) = &seen.task.ledger().held_because { ": " (reason) } ". Release it to start it now, beside that one." } },
            TaskState::Held => div.notice { p { "Held" @if let Some(reason) = &seen.task.ledger().held_because { ": " (reason) } ". No agent starts it until you release it." } },
            TaskState::Landing(entry) => div.notice { p { "Accepted by " (entry.accepted_by) ". It is merged once the checks have passed on its branch together with it: " a href={ "/landing#candidate-" (seen.task.id()) } { "see where it stands" } "." } },
            TaskState::Recycled { .. } => div.notice { p { "Split into smaller tasks: " (split_because(events)) "." } },
            TaskState::Incoming
            | TaskState::Breakdown { .. }
            | TaskState::Claimed { .. }
            | TaskState::NeedsContinuation { .. }
            | TaskState::AwaitingResponse { .. }
            | TaskState::Blocked { .. } => {},
            TaskState::Done { .. } => @if has_unmerged_changes(seen) {
                div.notice { p { "Its changes are not merged: a task of this type is done with its answer. They are on the branch " code { "baton/" (seen.task.id()) } "; take them with " code { "git merge baton/" (seen.task.id()) } "." } }
            },
        }
    }
}

/// A task whose answer is its result, and whose agent changed files all the same.
fn has_unmerged_changes(seen: &TaskPage) -> bool {
    let is_answer = seen.task.spec().task_type.deliverable() == Deliverable::Output;
    is_answer && seen.task.shows_work()
}

/// Why it was split, the last time it was.
fn split_because(events: &[StoredEvent]) -> &'static str {
    let reason = events.iter().rev().find_map(|recorded| match &recorded.event.body {
        EventBody::TaskRecycled { reason, .. } => Some(*reason),
        _ => None,
    });
    match reason {
        Some(RecycleReason::CumulativeFailures) => {
            "several attempts were not accepted or failed their checks"
        }
        Some(RecycleReason::TooLarge) => "it was too large for one attempt",
        None => "a plan replaces it",
    }
}

/// Notes for the next attempt.
pub(super) fn notes(seen: &TaskPage) -> Markup {
    let notes = &seen.task.ledger().notes;
    html! {
        @if !notes.is_empty() {
            section {
                h2 { "Feedback for the next attempt" }
                ul.plain {
                    @for note in notes {
                        li {
                            @match note {
                                TaskNote::Rejected { at, reason } => { span.muted { "Rejected " (ago(*at, seen.frame.now)) } div.prose { (markdown(reason.as_str())) } },
                                TaskNote::Requeued { at, reason } => { span.muted { "Requeued " (ago(*at, seen.frame.now)) } p { (requeued(reason)) } },
                                TaskNote::NotLanded { at, reason } => { span.muted { (not_landed(reason, seen.task.state().queue())) (ago(*at, seen.frame.now)) } pre { (reason.describe()) } },
                                TaskNote::Conflict { at, detail } => { span.muted { "Conflict " (ago(*at, seen.frame.now)) } div.prose { (markdown(detail.as_str())) } },
                            }
                        }
                    }
                }
            }
        }
    }
}

/// What became of accepted work for this reason, before the time of it.
const fn not_landed(reason: &NotLanded, queue: QueueName) -> &'static str {
    if matches!(queue, QueueName::Landing) {
        "Waits since "
    } else if reason.is_delay() {
        "Waited "
    } else if reason.is_fault_of_task() {
        "Sent back "
    } else {
        "Left to you "
    }
}

pub(crate) fn requeued(reason: &baton_core::task::guard::RequeueReason) -> String {
    use baton_core::task::guard::RequeueReason as Why;
    match reason {
        Why::NoCommits => "no commits".to_owned(),
        Why::NoPlan { fault: None } => "no plan submitted".to_owned(),
        Why::NoPlan { fault: Some(fault) } => format!("its plan could not be used: {fault}"),
        Why::CheckFailed { .. } => reason.to_string(),
        Why::Systemic { message } => format!("systemic failure: {message}"),
        Why::LeaseExpired => "not its fault: the attempt ended early".to_owned(),
    }
}
