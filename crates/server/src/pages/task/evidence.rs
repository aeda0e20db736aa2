//! The tab of evidence: of every attempt, what the agent reported beside what Baton verified.

use axum::extract::State;
use baton_core::attempt_record::{AttemptRecord, Closing};
use baton_core::id::TaskId;
use baton_core::time::Timestamp;
use maud::{Markup, html};

use crate::pages::frame::key::Key;
use crate::pages::frame::layout::empty;
use crate::pages::frame::response::PageAnswer;
use crate::pages::frame::visit::Visit;
use crate::pages::task::claims::pair;
use crate::pages::task::{Seen, Sheet};
use crate::pages::widgets::words::{ago, took};
use crate::state::App;

pub async fn show(State(app): State<App>, Key(id): Key<TaskId>, visit: Visit) -> PageAnswer {
    let seen = Seen::load(&app, id, visit).await?;
    let attempts = app.desk().store.attempts(id).await?;
    let now = seen.frame.now;
    let body = html! {
        @if attempts.is_empty() {
            (empty("Nothing to compare yet", "Once an agent has worked on it, what it reports stands here beside what Baton saw for itself.", &[]))
        }
        @for record in attempts.iter().rev() { (shown(record, now)) }
    };
    Ok(seen.page(Sheet::Evidence, &[], &body))
}

fn shown(record: &AttemptRecord, now: Timestamp) -> Markup {
    let attempt = &record.attempt;
    html! {
        section #{ "attempt-" (attempt.number) } {
            h2 { "Attempt " (attempt.number) " " span.muted { "by " (attempt.agent) ", began " (ago(attempt.started_at, now)) } }
            @match &record.closing {
                Some(Closing::Ended { end, .. }) => (pair(&end.reported, &end.verified)),
                Some(Closing::Lost { at }) => p { "Its agent was lost after " (took(at.ms_since(attempt.started_at))) " and reported nothing. The task is not blamed for it." },
                Some(Closing::Stopped { at }) => p { "It was stopped after " (took(at.ms_since(attempt.started_at))) ", before it reported anything." },
                None => p { span.tone-working { "▶ At work." } " What it reports is compared when it ends." },
            }
        }
    }
}
