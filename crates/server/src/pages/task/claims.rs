//! What the agent reported, next to what Baton verified.

use baton_core::task::attempt::{AttemptReport, AttemptResult, BlockReason, Evidence};
use maud::{Markup, html};

use crate::pages::widgets::markdown::markdown;
use crate::pages::widgets::words::{duration, grouped, money, pluralize, result_text};

pub(super) fn pair(reported: &AttemptReport, verified: &Evidence) -> Markup {
    html! {
        div.pair {
            div { h4 { "Reported " span.muted { "by the agent" } } (said(reported)) }
            div { h4 { "Verified " span.muted { "by Baton" } } (measured(verified)) }
        }
    }
}

fn said(reported: &AttemptReport) -> Markup {
    let more = match &reported.result {
        AttemptResult::NoChanges { reason } | AttemptResult::Stopped { reason } => Some(reason.as_str()),
        AttemptResult::Asked { question } => Some(question.text.as_str()),
        AttemptResult::Blocked { reason } => Some(match reason {
            BlockReason::Timeout => "timeout",
            BlockReason::InteractivePrompt => "interactive prompt",
            BlockReason::Unstated => "no reason given",
            BlockReason::Other(text) => text.as_str(),
        }),
        AttemptResult::Error { message, .. } => Some(message.as_str()),
        AttemptResult::Complete
        | AttemptResult::Incomplete
        | AttemptResult::NoEvidence
        | AttemptResult::TurnLimit => None,
    };
    html! {
        p { strong { (result_text(reported.result.kind())) } }
        @if let Some(more) = more { div.prose { (markdown(more)) } }
        @if !reported.output.trim().is_empty() {
            details { summary { "Output" } div.prose { (markdown(&reported.output)) } }
        }
    }
}

fn measured(verified: &Evidence) -> Markup {
    let ms = i64::try_from(verified.duration_ms).unwrap_or(i64::MAX);
    html! {
        dl.facts-list {
            @if let (Some(head), Some(base)) = (&verified.head, &verified.base) {
                dt { "Measured at" } dd { code { (head.short()) } " from " code { (base.short()) } }
            }
            dt { "Commits" } dd { (verified.commits) @if verified.uncommitted_changes { " plus uncommitted changes, committed by Baton" } }
            @for finding in &verified.findings { dt { "Note" } dd.tone-failed { (finding) } }
            dt { "Changed" } dd { (pluralize(u64::from(verified.files_changed), "file")) " " span.plus { "+" (verified.insertions) } " " span.minus { "−" (verified.deletions) } }
            dt { "Turns" } dd { (verified.turns) " of " (verified.turns_max) }
            dt { "Time" } dd { (duration(ms)) }
            @if verified.input_tokens + verified.output_tokens > 0 {
                dt { "Tokens" } dd { (grouped(verified.input_tokens)) " in, " (grouped(verified.output_tokens)) " out" }
            }
            @if verified.cost_micro_usd > 0 { dt { "Cost" } dd { (money(verified.cost_micro_usd)) } }
            @for check in &verified.checks {
                dt { "Check " (check.name) }
                dd {
                    @if check.exit_code == 0 { span.tone-done { "✓ passed" } } @else {
                        span.tone-failed { "✗ exit code " (check.exit_code) }
                    }
                    @if !check.output_tail.trim().is_empty() { details { summary { "Output" } pre { (check.output_tail) } } }
                }
            }
        }
    }
}
