//! What the checks said about the newest commits.

use baton_core::base::time::Timestamp;
use baton_core::landing::evidence::CheckExit;
use baton_engine::landing::views::VerdictView;
use maud::{Markup, html};

use crate::pages::landing::commit;
use crate::pages::widgets::ansi::strip_ansi;
use crate::pages::widgets::words::{ago, duration, pluralize};

pub(super) fn render(verdicts: &[VerdictView], now: Timestamp) -> Markup {
    html! {
        @if !verdicts.is_empty() {
            section #verdicts {
                h2 { "Recent check results" }
                ul.plain { @for verdict in verdicts { (one(verdict, now)) } }
            }
        }
    }
}

fn one(verdict: &VerdictView, now: Timestamp) -> Markup {
    let ms = i64::try_from(verdict.duration_ms).unwrap_or(i64::MAX);
    html! {
        li #{ "verdict-" (verdict.tree) } {
            @if !verdict.passed { span.tone-failed { "✗ failed" } }
            @else if verdict.flaky.is_empty() { span.tone-done { "✓ passed" } }
            @else { span.tone-asking { "▲ flaky" } }
            " " (commit(&verdict.commit))
            // A branch by itself is built on nothing.
            @if verdict.commit != verdict.base { " on " (commit(&verdict.base)) }
            " for " code { (verdict.branch) } ": "
            @for (number, check) in verdict.checks.iter().enumerate() {
                @if number > 0 { ", " }
                (exit(check))
            }
            @if !verdict.flaky.is_empty() {
                ". Failed at first, then passed on the same files: "
                (verdict.flaky.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
            }
            " "
            span.muted {
                (duration(ms)) ", " (pluralize(verdict.runs, "run"))
                @if let Some(at) = verdict.checked_at { ", " (ago(at, now)) }
                ", suite " code title=(verdict.suite) { (verdict.suite.get(..12).unwrap_or(&verdict.suite)) }
                @if let Some(from) = &verdict.suite_from { " of " (commit(from)) }
                ", " (verdict.environment)
            }
            @for check in &verdict.checks {
                @if let Some(output) = output_of(check, verdict) {
                    details {
                        summary { "Output of " (check.name) }
                        pre.terminal tabindex="0" { (strip_ansi(output)) }
                    }
                }
            }
        }
    }
}

/// All that is kept of a check that failed, the end of what any other printed; none if it printed nothing.
fn output_of<'a>(check: &'a CheckExit, verdict: &'a VerdictView) -> Option<&'a str> {
    let failed = verdict.failed.iter().find(|failed| failed.name == check.name);
    let output = failed.map_or(check.output_tail.as_deref(), |failed| Some(failed.output_tail.as_str()));
    output.filter(|output| !output.trim().is_empty())
}

fn exit(check: &CheckExit) -> Markup {
    html! {
        (check.name) " "
        @if check.exit_code == 0 { span.tone-done { "passed" } } @else { span.tone-failed { "exit code " (check.exit_code) } }
    }
}
