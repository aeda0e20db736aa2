//! The first tab: pending questions, state diagram, reported and verified results, origin.

use axum::extract::State;
use baton_core::ask::question_record::{QuestionRecord, QuestionState};
use baton_core::base::id::TaskId;
use baton_core::task::ledger::TaskNote;
use baton_core::task::state::{QueueName, ReviewMark, TaskState};
use baton_engine::landing::task_landing::TaskLandingView;
use baton_engine::reports::view::task_view;
use baton_engine::tasks::start_at::waits_until;
use maud::{Markup, html};

use crate::pages::frame::key::PageParam;
use crate::pages::frame::request::PageRequest;
use crate::pages::frame::response::PageResult;
use crate::pages::question;
use crate::pages::task::about::{find_run, render_about};
use crate::pages::task::claims::claims;
use crate::pages::task::questions::load_questions;
use crate::pages::task::walk::walk;
use crate::pages::task::{TaskPage, TaskTab, history, machine, messages};
use crate::pages::widgets::markdown::markdown;
use crate::pages::widgets::words::ago;
use crate::state::App;

pub(crate) async fn show(
    State(app): State<App>,
    PageParam(id): PageParam<TaskId>,
    request: PageRequest,
) -> PageResult {
    let seen = TaskPage::load(&app, id, request).await?;
    let view = task_view(&app.workspace.scheduling(), id).await?;
    let landing = TaskLandingView::load(&app.workspace.landing, &app.workspace.projects, &seen.task).await?;
    let questions = load_questions(&app, id).await?;
    let events = history(&app, id).await?;
    let spans = walk(&seen.task, &events);
    let run = find_run(&app, &events).await?;
    let (now, next) = (seen.frame.now, format!("/tasks/{id}"));
    let pending = questions.iter().filter(|record| record.state == QuestionState::Pending);
    // Answered questions stay visible, so that someone who was typing an answer keeps their text.
    let settled: Vec<&QuestionRecord> =
        questions.iter().filter(|record| record.state != QuestionState::Pending).collect();
    let body = html! {
        @for record in pending { (question::card(record, Some(&seen.task), now, &next)) }
        (standing(&seen))
        @if let Some(problem) = &view.problem { div.alert role="alert" { p { (problem.error) } p.muted { (problem.service) ", since " (ago(problem.since, now)) "." } } }
        @if let Some(landing) = &landing { div.notice { p { "Landing: " (landing.message) } } }
        @if let Some(reason) = &view.not_started { div.notice { p { "Ready but not started: " (reason.message) "." } } }
        (machine::render(&spans, now))
        div.columns {
            div {
                @if !view.description.trim().is_empty() {
                    section { h2 { "Description" } div.prose { (markdown(&view.description)) } }
                }
                @if let Some(output) = view.output.as_deref().filter(|text| is_news(text, &questions)) {
                    section { h2 { "Result" } div.prose.output { (markdown(output)) } }
                }
                (messages::render(&app, &seen.task, now).await?)
                (claims(view.reported.as_ref(), view.verified.as_ref()))
                @if !settled.is_empty() {
                    section {
                        h2 { "Questions" }
                        @for record in settled { (question::card(record, Some(&seen.task), now, &next)) }
                    }
                }
            }
            aside aria-label="About this task" {
                (render_about(&app, &seen, &view, run.as_ref()).await?)
                (notes(&seen))
            }
        }
    };
    Ok(seen.page(TaskTab::Overview, &[], &body))
}

/// Whether the output differs from the questions already shown.
fn is_news(output: &str, questions: &[QuestionRecord]) -> bool {
    let is_asked = |record: &QuestionRecord| record.question.text().as_str().trim() == output.trim();
    !output.trim().is_empty() && !questions.iter().any(is_asked)
}

/// Explains states that need more than their name.
fn standing(seen: &TaskPage) -> Markup {
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
                @if let Some(question) = &provisional.question { div.notice { p { "Open question:" } div.prose { (markdown(question.as_str())) } } }
            },
            TaskState::Cancelled { by, reason } => div.notice { p { "Cancelled by " (by) @if let Some(reason) = reason { ": " (reason) } "." } },
            TaskState::Held if waits_until(&seen.task).is_some() => div.notice { p { "Waits until " @if let Some(at) = waits_until(&seen.task) { time datetime=(at) { (at) } } ". Release it to start it now." } },
            TaskState::Held => div.notice { p { "Held" @if let Some(reason) = &seen.task.ledger().held_because { ": " (reason) } ". No agent starts it until you release it." } },
            TaskState::Landing(entry) => div.notice { p { "Accepted by " (entry.accepted_by) ". It is merged once the checks have passed on its branch together with it: " a href={ "/landing#candidate-" (seen.task.id()) } { "see where it stands" } "." } },
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

/// Notes for the next attempt.
fn notes(seen: &TaskPage) -> Markup {
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
                                TaskNote::NotLanded { at, reason } => { span.muted { (if seen.task.state().queue() == QueueName::Landing { "Waits since " } else { "Sent back " }) (ago(*at, seen.frame.now)) } pre { (reason.describe()) } },
                                TaskNote::Conflict { at, detail } => { span.muted { "Conflict " (ago(*at, seen.frame.now)) } div.prose { (markdown(detail.as_str())) } },
                            }
                        }
                    }
                }
            }
        }
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
        Why::LeaseExpired => "systemic failure: the agent was lost".to_owned(),
    }
}
