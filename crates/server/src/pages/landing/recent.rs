//! What landed or was sent back lately.

use baton_core::base::time::Timestamp;
use baton_core::task::not_landed::NotLanded;
use baton_engine::landing::history::{LandingEnd, LandingEntry};
use maud::{Markup, html};

use crate::pages::landing::commit;
use crate::pages::widgets::ansi::strip_ansi;
use crate::pages::widgets::words::ago;

pub(super) fn render(entries: &[LandingEntry], now: Timestamp) -> Markup {
    html! {
        @if !entries.is_empty() {
            section #recent {
                h2 { "Recently landed or returned" }
                ul.plain { @for entry in entries { (one(entry, now)) } }
            }
        }
    }
}

fn one(entry: &LandingEntry, now: Timestamp) -> Markup {
    html! {
        li #{ "end-" (entry.task_id) "-" (entry.at.ms()) } {
            @match &entry.end {
                LandingEnd::Landed { .. } => span.tone-done { "✓ landed" },
                LandingEnd::SentBack { .. } => span.tone-failed { "↩ returned to its agent" },
                LandingEnd::Forced { .. } => span.tone-asking { "▲ merged without its checks" },
            }
            " " a href={ "/tasks/" (entry.task_id) } { (entry.title) }
            " " span.id { (entry.task_id) }
            @match &entry.end {
                LandingEnd::Landed { commit: id, flaky } => {
                    " at " (commit(id))
                    @for check in flaky { ", flaky: " (check) }
                },
                LandingEnd::SentBack { headline, .. } => { ": " (headline) },
                LandingEnd::Forced { by, commit: id } => { " by " (by) @if let Some(id) = id { " at " (commit(id)) } },
            }
            " " span.muted { (ago(entry.at, now)) }
            @if let LandingEnd::SentBack { reason, .. } = &entry.end { (why(reason)) }
        }
    }
}

fn why(reason: &NotLanded) -> Markup {
    html! { details { summary { "Feedback for its agent" } pre.terminal tabindex="0" { (strip_ansi(&reason.describe())) } } }
}
