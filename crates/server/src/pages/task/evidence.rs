//! The tab of evidence: of every attempt, what the agent reported beside what Baton verified.

use axum::extract::State;
use baton_core::attempt_record::{AttemptRecord, Closing};
use baton_core::id::TaskId;
use baton_core::time::Timestamp;
use maud::{Markup, html};

use crate::pages::frame::key::PageParam;
use crate::pages::frame::layout::empty;
use crate::pages::frame::request::PageRequest;
use crate::pages::frame::response::PageResult;
use crate::pages::task::claims::pair;
use crate::pages::task::{TaskPage, TaskTab};
use crate::pages::widgets::words::{ago, duration};
use crate::state::App;

pub async fn show(
    State(app): State<App>,
    PageParam(id): PageParam<TaskId>,
    request: PageRequest,
) -> PageResult {
    let seen = TaskPage::load(&app, id, request).await?;
    let attempts = app.desk().store.attempts(id).await?;
    let now = seen.frame.now;
    let body = html! {
        @if attempts.is_empty() {
            (empty("Nothing to compare yet", "Once an agent has worked on it, what it reports stands here beside what Baton saw for itself.", &[]))
        }
        @for record in attempts.iter().rev() { (render_attempt(record, now)) }
    };
    Ok(seen.page(TaskTab::Evidence, &[], &body))
}

fn render_attempt(record: &AttemptRecord, now: Timestamp) -> Markup {
    let attempt = &record.attempt;
    html! {
        section #{ "attempt-" (attempt.number) } {
            h2 { "Attempt " (attempt.number) " " span.muted { "by " (attempt.agent) ", began " (ago(attempt.started_at, now)) } }
            @match &record.closing {
                Some(Closing::Ended { end, .. }) => (pair(&end.reported, &end.verified)),
                Some(Closing::Lost { at }) => p { "Its agent was lost after " (duration(at.ms_since(attempt.started_at))) " and reported nothing. The task is not blamed for it." },
                Some(Closing::Stopped { at }) => p { "It was stopped after " (duration(at.ms_since(attempt.started_at))) ", before it reported anything." },
                None => p { span.tone-working { "▶ At work." } " What it reports is compared when it ends." },
            }
        }
    }
}
