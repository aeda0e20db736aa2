//! The first tab: what waits for an answer, the way so far, what was reported beside what was verified, and where the
//! task comes from.

use axum::extract::State;
use baton_core::ask::question_record::{QuestionRecord, QuestionState};
use baton_core::base::id::TaskId;
use baton_core::task::TaskNote;
use baton_core::task::state::{ReviewMark, TaskState};
use maud::{Markup, html};

use super::about::{about, run_of};
use super::claims::claims;
use super::questions::of_task;
use super::walk::walk;
use super::{Seen, Sheet, history, machine};
use crate::pages::answer::PageAnswer;
use crate::pages::key::Key;
use crate::pages::markdown::markdown;
use crate::pages::question;
use crate::pages::visit::Visit;
use crate::pages::words::ago;
use crate::state::App;

pub async fn show(State(app): State<App>, Key(id): Key<TaskId>, visit: Visit) -> PageAnswer {
    let seen = Seen::load(&app, id, visit).await?;
    let view = app.shop.task_view(id).await?;
    let questions = of_task(&app, id).await?;
    let events = history(&app, id).await?;
    let stays = walk(&seen.task, &events);
    let run = run_of(&app, &events).await?;
    let (now, next) = (seen.frame.now, format!("/tasks/{id}"));
    let pending = questions.iter().filter(|record| record.state == QuestionState::Pending);
    // Who was about to answer here sees what became of it, and keeps what was typed.
    let settled: Vec<&QuestionRecord> =
        questions.iter().filter(|record| record.state != QuestionState::Pending).collect();
    let body = html! {
        @for record in pending { (question::card(record, Some(&seen.task), now, &next)) }
        (standing(&seen))
        @if let Some(reason) = &view.not_started { div.notice { p { "It is ready and not started yet: " (reason.message) "." } } }
        @if let Some(problem) = &view.problem { div.alert role="alert" { p { (problem.error) } p.muted { "Baton tries again by itself (" (problem.service) ", since " (ago(problem.since, now)) ")." } } }
        (machine::drawing(&stays, now))
        div.columns {
            div {
                @if !view.description.trim().is_empty() {
                    section { h2 { "What is to be done" } div.prose { (markdown(&view.description)) } }
                }
                @if let Some(output) = view.output.as_deref().filter(|text| is_news(text, &questions)) {
                    section { h2 { "What came of it" } div.prose.output { (markdown(output)) } }
                }
                (claims(view.reported.as_ref(), view.verified.as_ref()))
                @if !settled.is_empty() {
                    section {
                        h2 { "Questions" }
                        @for record in settled { (question::card(record, Some(&seen.task), now, &next)) }
                    }
                }
            }
            aside aria-label="About this task" {
                (about(&app, &seen, &view, run.as_ref()).await?)
                (notes(&seen))
            }
        }
    };
    Ok(seen.page(Sheet::Overview, &[], &body))
}

/// Where what an agent said last was its question, that stands on the page already.
fn is_news(output: &str, questions: &[QuestionRecord]) -> bool {
    let is_asked = |record: &QuestionRecord| record.question.text().as_str().trim() == output.trim();
    !output.trim().is_empty() && !questions.iter().any(is_asked)
}

/// A sentence where the state alone does not say enough.
fn standing(seen: &Seen) -> Markup {
    html! {
        @match seen.task.state() {
            TaskState::Failed { error } => div.alert role="alert" { pre { (error) } p.muted { "Retry lets an agent try again." } },
            TaskState::Provisional(provisional) => {
                @match &provisional.mark {
                    ReviewMark::BurnedOut => div.alert { p { "The agent used up its turns and committed nothing. Recycling breaks the task down; the branch is kept." } },
                    ReviewMark::NotConverging => div.alert { p { "It was tried too often without being accepted. Recycling breaks it down; the branch is kept." } },
                    ReviewMark::NoChanges { reason } => div.notice { p { "The agent says there was nothing to do:" } div.prose { (markdown(reason.as_str())) } },
                    ReviewMark::Ready | ReviewMark::Plan => {},
                }
                @if let Some(question) = &provisional.question { div.notice { p { "It would still like to know:" } div.prose { (markdown(question.as_str())) } } }
            },
            TaskState::Cancelled { by, reason } => div.notice { p { "Cancelled by " (by) @if let Some(reason) = reason { ": " (reason) } "." } },
            TaskState::Incoming
            | TaskState::Breakdown { .. }
            | TaskState::Claimed { .. }
            | TaskState::NeedsContinuation { .. }
            | TaskState::AwaitingResponse { .. }
            | TaskState::Blocked { .. }
            | TaskState::Recycled { .. }
            | TaskState::Done { .. } => {},
        }
    }
}

/// What the next attempt is told.
fn notes(seen: &Seen) -> Markup {
    let notes = &seen.task.ledger().notes;
    html! {
        @if !notes.is_empty() {
            section {
                h2 { "Told to the next attempt" }
                ul.plain {
                    @for note in notes {
                        li {
                            @match note {
                                TaskNote::Rejected { at, reason } => { span.muted { "Rejected " (ago(*at, seen.frame.now)) } div.prose { (markdown(reason.as_str())) } },
                                TaskNote::Requeued { at, reason } => { span.muted { "Sent back " (ago(*at, seen.frame.now)) } p { (requeued(reason)) } },
                                TaskNote::Conflict { at, detail } => { span.muted { "Conflict " (ago(*at, seen.frame.now)) } div.prose { (markdown(detail.as_str())) } },
                            }
                        }
                    }
                }
            }
        }
    }
}

pub fn requeued(reason: &baton_core::task::guard::RequeueReason) -> String {
    use baton_core::task::guard::RequeueReason as Why;
    match reason {
        Why::NoCommits => "it committed nothing".to_owned(),
        Why::NoPlan => "it handed in no plan".to_owned(),
        Why::CheckFailed { check, .. } => format!("the check {check} failed"),
        Why::Systemic { message } => format!("not its fault: {message}"),
        Why::LeaseExpired => "not its fault: the agent was lost".to_owned(),
    }
}
