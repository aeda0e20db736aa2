//! What each attempt reported, next to what Baton verified.

use baton_core::base::time::Timestamp;
use baton_core::task::attempt_record::{AttemptClosing, AttemptRecord};
use maud::{Markup, html};

use crate::pages::task::claims::pair;
use crate::pages::widgets::words::{ago, duration};

pub(super) fn render(attempts: &[AttemptRecord], now: Timestamp) -> Markup {
    html! {
        section #evidence {
            h2 { "Evidence" }
            @if attempts.is_empty() { p.muted { "No attempts. What the agent reports is shown here next to what Baton verified." } }
            @for record in attempts.iter().rev() { (render_attempt(record, now)) }
        }
    }
}

fn render_attempt(record: &AttemptRecord, now: Timestamp) -> Markup {
    let attempt = &record.attempt;
    html! {
        div.attempt #{ "evidence-" (attempt.number) } {
            h3 { "Attempt " (attempt.number) " " span.muted { "by " (attempt.agent) ", started " (ago(attempt.started_at, now)) } }
            @match &record.closing {
                Some(AttemptClosing::Ended { end, .. }) => (pair(&end.reported, &end.verified)),
                Some(AttemptClosing::Lost { at }) => p { "It ended early, after " (duration(at.ms_since(attempt.started_at))) ", without a report. That does not count against the task." },
                Some(AttemptClosing::Stopped { at }) => p { "Stopped after " (duration(at.ms_since(attempt.started_at))) " without a report." },
                None => p { span.tone-working { "▶ Running." } " Results appear when the attempt ends." },
            }
        }
    }
}
