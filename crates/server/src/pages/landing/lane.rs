//! One lane: its branch, the run of the checks at work, and its candidates in order.

use baton_core::base::time::Timestamp;
use baton_engine::landing::live_runs::CheckRunView;
use baton_engine::landing::views::{LaneCandidate, LaneView};
use maud::{Markup, html};

use crate::pages::landing::commit;
use crate::pages::widgets::ansi::strip_ansi;
use crate::pages::widgets::words::{age, ago, pluralize};

pub(super) fn render(number: usize, lane: &LaneView, run: Option<&CheckRunView>, now: Timestamp) -> Markup {
    html! {
        section.lane #{ "lane-" (number) } aria-labelledby={ "lane-" (number) "-title" } {
            h2 #{ "lane-" (number) "-title" } {
                code { (lane.branch) }
                @if let Some(title) = &lane.project_title { " of " (title) }
                @if let Some(remote) = &lane.remote { " at " (remote) }
                @if let Some(tip) = &lane.tip { ", at " (commit(tip)) }
            }
            @if let Some(error) = &lane.error {
                div.alert role="alert" { p { "Nothing lands on this branch for now: " (error) } p.muted { "Baton keeps retrying; it goes on once the cause is fixed." } }
            }
            @if let Some(note) = &lane.note { p.notice { (note) } }
            @if let Some(run) = run { (at_work(run, lane, now)) }
            ol.lane-tasks { @for candidate in &lane.candidates { (entry(candidate, lane, now)) } }
        }
    }
}

/// The batch that is being checked, with the end of its output.
fn at_work(run: &CheckRunView, lane: &LaneView, now: Timestamp) -> Markup {
    let tasks = pluralize(run.task_ids.len() as u64, "task");
    html! {
        div.run #{ "run-" (run.run) } {
            p {
                @if let Some(what) = &run.without_work {
                    span.tone-working { "▶ Checking " (what) " without " (tasks) }
                    " for " (age(run.since, now)) ": " (commit(&run.commit))
                } @else {
                    span.tone-working { "▶ Checking " (tasks) }
                    " for " (age(run.since, now)) ": " (commit(&run.commit)) " on " (commit(&run.base))
                }
            }
            div.tail.terminal tabindex="0" role="log" aria-live="off" aria-label={ "Output of the checks on " (lane.branch) } {
                pre {
                    @if run.output_bytes_before > 0 { "… " (run.output_bytes_before) " bytes before this …\n" }
                    @if run.output.is_empty() { "No output yet." } @else { (strip_ansi(&run.output)) }
                }
            }
        }
    }
}

fn entry(candidate: &LaneCandidate, lane: &LaneView, now: Timestamp) -> Markup {
    html! {
        li #{ "candidate-" (candidate.task_id) } data-row {
            a href={ "/tasks/" (candidate.task_id) } { (candidate.title) }
            " " span.id { (candidate.task_id) }
            br;
            (standing(candidate, lane))
            span.muted { " · accepted by " (candidate.accepted_by) " " (ago(candidate.since, now)) }
        }
    }
}

fn standing(candidate: &LaneCandidate, lane: &LaneView) -> Markup {
    html! {
        @if candidate.is_being_checked { span.tone-working { "▶ being checked" } }
        @else if let Some(delayed) = &candidate.delayed { span.tone-failed { "✗ delayed: " (delayed) } }
        @else if let Some(behind) = candidate.behind {
            span.tone-queued { "◷ waits behind " a href={ "#candidate-" (behind) } { (behind) } }
        }
        @else if lane.error.is_some() { span.tone-failed { "✗ waits until the branch can move" } }
        @else if lane.run.is_some() { span.tone-queued { "◷ next, once the running checks have ended" } }
        @else { span.tone-queued { "◷ next to be checked" } }
    }
}
