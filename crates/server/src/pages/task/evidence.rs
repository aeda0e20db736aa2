//! The evidence tab: for each attempt, what the agent reported and what Baton verified.

use axum::extract::State;
use baton_core::base::id::TaskId;
use baton_core::base::time::Timestamp;
use baton_core::task::attempt_record::{AttemptClosing, AttemptRecord};
use maud::{Markup, html};

use crate::pages::frame::key::PageParam;
use crate::pages::frame::layout::empty;
use crate::pages::frame::request::PageRequest;
use crate::pages::frame::response::PageResult;
use crate::pages::task::claims::pair;
use crate::pages::task::{TaskPage, TaskTab};
use crate::pages::widgets::words::{ago, duration};
use crate::state::App;

pub(crate) async fn show(
    State(app): State<App>,
    PageParam(id): PageParam<TaskId>,
    request: PageRequest,
) -> PageResult {
    let seen = TaskPage::load(&app, id, request).await?;
    let attempts = app.tasks().store.attempts(id).await?;
    let now = seen.frame.now;
    let body = html! {
        @if attempts.is_empty() {
            (empty("No attempts", "After an attempt, what the agent reported is shown next to what Baton verified.", &[]))
        }
        @for record in attempts.iter().rev() { (render_attempt(record, now)) }
    };
    Ok(seen.page(TaskTab::Evidence, &[], &body))
}

fn render_attempt(record: &AttemptRecord, now: Timestamp) -> Markup {
    let attempt = &record.attempt;
    html! {
        section #{ "attempt-" (attempt.number) } {
            h2 { "Attempt " (attempt.number) " " span.muted { "by " (attempt.agent) ", started " (ago(attempt.started_at, now)) } }
            @match &record.closing {
                Some(AttemptClosing::Ended { end, .. }) => (pair(&end.reported, &end.verified)),
                Some(AttemptClosing::Lost { at }) => p { "The agent was lost after " (duration(at.ms_since(attempt.started_at))) " without a report. It does not count against the task." },
                Some(AttemptClosing::Stopped { at }) => p { "Stopped after " (duration(at.ms_since(attempt.started_at))) " without a report." },
                None => p { span.tone-working { "▶ Running." } " Results appear when the attempt ends." },
            }
        }
    }
}
