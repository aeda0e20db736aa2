//! What stands still until the person acts: plans, failures, holds, dependencies that cannot be met.

use std::collections::{BTreeMap, BTreeSet};

use baton_core::base::id::TaskId;
use baton_core::base::time::Timestamp;
use baton_core::limits::hold::Hold;
use baton_engine::reports::standstill::{Standstill, StandstillReason};
use maud::{Markup, html};

use crate::pages::widgets::row::{QuickDecision, Row};
use crate::pages::widgets::words::{StateBadge, pluralize, time_left};

/// A row for each, but one for all failures that are alike.
pub(super) fn rows(standing: &[Standstill], now: Timestamp) -> Vec<Markup> {
    let mut alike: BTreeMap<&str, Vec<&Standstill>> = BTreeMap::new();
    for one in standing.iter().filter(|one| one.reason == StandstillReason::Failed) {
        alike.entry(error_of(one)).or_default().push(one);
    }
    let is_grouped = |one: &Standstill| alike.get(error_of(one)).is_some_and(|group| group.len() > 1);
    let groups = alike.iter().filter(|(_, group)| group.len() > 1);
    let mut rows: Vec<Markup> = groups.map(|(error, group)| group_row(error, group, now)).collect();
    let single = |one: &&Standstill| one.reason != StandstillReason::Failed || !is_grouped(one);
    rows.extend(standing.iter().filter(single).map(|one| row(one, now)));
    rows
}

/// How many rows that makes.
pub(super) fn count(standing: &[Standstill]) -> usize {
    let is_failure = |one: &&Standstill| one.reason == StandstillReason::Failed;
    let failures: BTreeSet<&str> = standing.iter().filter(is_failure).map(error_of).collect();
    failures.len() + standing.iter().filter(|one| !is_failure(one)).count()
}

/// The first line of the error, without the task's id before it.
fn error_of(one: &Standstill) -> &str {
    let line = one.message.lines().next().unwrap_or_default();
    line.split_once(" failed: ").map_or(line, |(_, error)| error)
}

const fn badge(reason: StandstillReason) -> StateBadge {
    let (word, glyph, tone) = match reason {
        StandstillReason::PlanToApprove => ("Plan", "◆", "review"),
        StandstillReason::NoProgress => ("No progress", "▲", "asking"),
        StandstillReason::PlanWanted => ("Needs a plan", "⋔", "planning"),
        StandstillReason::Held => ("Held", "‖", "queued"),
        StandstillReason::BreakdownCancelled => ("Not split", "✗", "failed"),
        StandstillReason::DeadDependency => ("Cannot start", "✗", "failed"),
        StandstillReason::Failed => ("Failed", "✗", "failed"),
        StandstillReason::ProjectUnavailable => ("No repository", "✗", "failed"),
        StandstillReason::BranchFails => ("Branch fails", "✗", "failed"),
        StandstillReason::LandingStopped => ("Cannot land", "✗", "failed"),
        StandstillReason::ContainsRefused => ("Look first", "▲", "asking"),
        StandstillReason::NotAccepted => ("Not accepted", "✗", "failed"),
        StandstillReason::ReviewStuck => ("No review", "▲", "asking"),
    };
    StateBadge { word, glyph, tone }
}

fn row(one: &Standstill, now: Timestamp) -> Markup {
    let (first, rest) = one.message.split_once('\n').unwrap_or((&one.message, ""));
    let gist = if one.reason == StandstillReason::Failed { error_of(one) } else { first };
    let address = match (one.task_id, one.reason) {
        (Some(task), StandstillReason::PlanToApprove | StandstillReason::PlanWanted) => {
            format!("/breakdowns/{task}")
        }
        (_, StandstillReason::BranchFails | StandstillReason::LandingStopped) => "/landing".to_owned(),
        (Some(task), _) => format!("/tasks/{task}"),
        (None, _) => "/health".to_owned(),
    };
    let id = one.task_id.map_or_else(|| one.title.to_string(), |task| task.to_string());
    Row {
        id: format!("{id}-{}", badge(one.reason).word.to_lowercase().replace(' ', "-")),
        badge: badge(one.reason),
        title: one.title.as_str(),
        address,
        gist: html! { (gist) },
        at: None,
        verbs: verbs(one),
        more: (!rest.trim().is_empty()).then(|| html! { pre { (rest.trim()) } }),
    }
    .render(now)
}

const fn decision<'a>(verb: &'a str, word: &'a str, said: &'a str, key: Option<char>) -> QuickDecision<'a> {
    QuickDecision { verb, word, said, key, is_primary: key.is_some(), next: "/" }
}

fn verbs(one: &Standstill) -> Markup {
    let cancel = |task: Option<TaskId>| {
        html! { @if let Some(task) = task { (decision("cancel", "Cancel", "Cancelled", None).form(task)) } }
    };
    html! {
        @match one.reason {
            StandstillReason::PlanToApprove => {
                @if let Some(task) = one.task_id { a.button.primary href={ "/breakdowns/" (task) } { "Review the plan" } }
            },
            StandstillReason::PlanWanted => {
                @if let Some(task) = one.task_id { a.button.primary href={ "/breakdowns/" (task) } { "Plan" } }
            },
            StandstillReason::Held => {
                @if let Some(task) = one.task_id { (decision("release", "Release", "Released", Some('a')).form(task)) }
                (cancel(one.task_id))
            },
            StandstillReason::BreakdownCancelled => {
                @if let Some(on) = one.on { (decision("retry", "Plan it after all", "Brought back", Some('a')).form(on)) }
                (cancel(one.task_id))
            },
            StandstillReason::DeadDependency => {
                @if let (Some(task), Some(on)) = (one.task_id, one.on) {
                    (decision("", "Remove the dependency", "Removed the dependency", Some('a'))
                        .form_for(&format!("/tasks/{task}/not-after"), &html! { input type="hidden" name="on" value=(on); }))
                }
                (cancel(one.task_id))
            },
            StandstillReason::Failed => {
                @if let Some(task) = one.task_id { (decision("retry", "Retry", "Requeued", Some('a')).form(task)) }
                (cancel(one.task_id))
            },
            StandstillReason::BranchFails | StandstillReason::LandingStopped => a.button.primary href="/landing" { "Landing" },
            StandstillReason::NoProgress
            | StandstillReason::NotAccepted
            | StandstillReason::ReviewStuck
            | StandstillReason::ContainsRefused => {
                @if let Some(task) = one.task_id { a.button.primary href={ "/tasks/" (task) "/diff" } { "Review it yourself" } }
            },
            StandstillReason::ProjectUnavailable => a.button href="/health" { "Health" },
        }
    }
}

/// Failures with the same error: they are retried together.
fn group_row(error: &str, group: &[&Standstill], now: Timestamp) -> Markup {
    let tasks: Vec<TaskId> = group.iter().filter_map(|one| one.task_id).collect();
    let first = tasks.first().map(ToString::to_string).unwrap_or_default();
    let title = format!("{} failed alike", pluralize(group.len() as u64, "task"));
    let fields = html! { @for task in &tasks { input type="hidden" name="task" value=(task); } };
    Row {
        id: format!("{first}-alike"),
        badge: badge(StandstillReason::Failed),
        title: &title,
        address: format!("/tasks/{first}"),
        gist: html! { (error) },
        at: None,
        verbs: decision("retry", "Retry all", "Requeued them", Some('a')).form_for("/tasks/retry", &fields),
        more: Some(html! {
            ul.plain { @for one in group { @if let Some(task) = one.task_id { li { a href={ "/tasks/" (task) } { (one.title) } } } } }
        }),
    }
    .render(now)
}

/// An agent that is given no work for now.
pub(super) fn hold_row(hold: &Hold, now: Timestamp) -> Markup {
    let release = QuickDecision {
        verb: "",
        word: "Release",
        said: "Released",
        key: Some('a'),
        is_primary: false,
        next: "/",
    };
    Row {
        id: format!("hold-{}", hold.agent),
        badge: StateBadge { word: "On hold", glyph: "‖", tone: "asking" },
        title: hold.agent.as_str(),
        address: "/health#holds".to_owned(),
        gist: html! {
            @if let Some(until) = hold.until { "starts again in " (time_left(until, now)) ". " }
            (hold.reason.as_str().lines().next().unwrap_or_default())
        },
        at: Some(hold.since),
        verbs: release.form_for(&format!("/health/holds/{}/release", hold.agent), &html! {}),
        more: None,
    }
    .render(now)
}
