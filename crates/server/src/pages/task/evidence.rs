//! The tab of evidence: of every attempt, what the agent reported beside what Baton verified.

use axum::extract::State;
use baton_core::base::id::TaskId;
use baton_core::base::time::Timestamp;
use baton_core::task::attempt_record::{AttemptClosing, AttemptRecord};
use maud::{Markup, html};

use super::claims::pair;
use super::{Seen, Sheet};
use crate::pages::answer::PageAnswer;
use crate::pages::key::Key;
use crate::pages::layout::empty;
use crate::pages::visit::Visit;
use crate::pages::words::{ago, took};
use crate::state::App;

pub async fn show(State(app): State<App>, Key(id): Key<TaskId>, visit: Visit) -> PageAnswer {
    let seen = Seen::load(&app, id, visit).await?;
    let attempts = app.tasks().store.attempts(id).await?;
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
                Some(AttemptClosing::Ended { end, .. }) => (pair(&end.reported, &end.verified)),
                Some(AttemptClosing::Lost { at }) => p { "Its agent was lost after " (took(at.ms_since(attempt.started_at))) " and reported nothing. The task is not blamed for it." },
                Some(AttemptClosing::Stopped { at }) => p { "It was stopped after " (took(at.ms_since(attempt.started_at))) ", before it reported anything." },
                None => p { span.tone-working { "▶ At work." } " What it reports is compared when it ends." },
            }
        }
    }
}
