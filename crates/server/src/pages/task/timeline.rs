//! The timeline: time in each state and each attempt as bars on one scale.

use std::fmt::Write;

use baton_core::base::time::Timestamp;
use baton_core::records::event::EventBody;
use baton_core::schedule::AgentPlace;
use baton_core::task::attempt_record::{AttemptClosing, AttemptRecord};
use baton_core::task::state::StateName;
use baton_engine::StoredEvent;
use maud::{Markup, html};

use crate::pages::task::walk::StateSpan;
use crate::pages::widgets::words::{
    age, ago, duration, money, pluralize, result_text, short, state_name_badge,
};

/// Width of the scale.
const SCALE: i64 = 1_000;
/// Smallest visible bar.
const BAR_MIN: i64 = 4;
/// A longer history is folded.
const EVENTS_OPEN_MAX: usize = 60;

/// The bars, the attempts and the events.
pub(super) fn render(
    spans: &[StateSpan],
    attempts: &[AttemptRecord],
    events: &[StoredEvent],
    now: Timestamp,
) -> Markup {
    html! {
        section #timeline {
            h2 { "Time" }
            (sums(spans, now))
            (bars(spans, now))
        }
        section #attempts {
            h2 { "Attempts" }
            @if attempts.is_empty() { p.muted { "No attempts." } } @else { (table(attempts, now)) }
        }
        section #history {
            h2 { "History" }
            details open[events.len() <= EVENTS_OPEN_MAX] {
                summary { (pluralize(events.len() as u64, "event")) }
                ol.history { @for recorded in events { (line(recorded, now)) } }
            }
        }
    }
}

fn sums(spans: &[StateSpan], now: Timestamp) -> Markup {
    let sum = |states: &[StateName]| -> i64 {
        spans.iter().filter(|span| states.contains(&span.state)).map(|span| span.ms(now)).sum()
    };
    html! {
        dl.sums {
            div { dt { "Agents" } dd { (duration(sum(&[StateName::Claimed]))) } }
            div { dt { "Waiting for you" } dd { (duration(sum(&[StateName::AwaitingResponse, StateName::Blocked, StateName::Provisional]))) } }
            div { dt { "Queued" } dd { (duration(sum(&[StateName::Incoming, StateName::Held, StateName::Breakdown, StateName::NeedsContinuation]))) } }
        }
    }
}

fn bars(spans: &[StateSpan], now: Timestamp) -> Markup {
    let Some(first) = spans.first() else { return html! {} };
    // A final state has no duration.
    let is_over = |span: &&StateSpan| matches!(span.state, StateName::Done | StateName::Cancelled);
    let end = spans.last().filter(is_over).map_or(now, |span| span.from);
    let whole = end.ms_since(first.from).max(1);
    let at = |moment: Timestamp| moment.ms_since(first.from) * SCALE / whole;
    html! {
        ol.bars {
            @for span in spans {
                @let (badge, from, until) = (state_name_badge(span.state), at(span.from), at(span.until.unwrap_or(end).min(end)));
                li class={ "tone-" (badge.tone) } {
                    span.what { (badge.glyph) " " (badge.word) }
                    svg viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true" {
                        rect.track x="0" y="0" width="1000" height="10" {}
                        rect.bar x=(from.min(SCALE - BAR_MIN)) y="0" width=((until - from).max(BAR_MIN)) height="10" {}
                    }
                    span.long { (duration(span.until.unwrap_or(end).min(end).ms_since(span.from))) }
                }
            }
        }
    }
}

fn table(attempts: &[AttemptRecord], now: Timestamp) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Attempts" {
            table {
                thead { tr { th { "#" } th { "Agent" } th { "Started" } th { "Duration" } th { "Result" } th { "Turns" } th { "Commits" } th { "Cost" } th { "Log" } } }
                tbody {
                    @for record in attempts {
                        @let attempt = &record.attempt;
                        tr {
                            td { (attempt.number) @if attempt.resumes.is_some() { span.muted { " resumed" } } }
                            td { (attempt.agent) }
                            td { (ago(attempt.started_at, now)) }
                            @match &record.closing {
                                Some(AttemptClosing::Ended { at, end }) => {
                                    td { (duration(at.ms_since(attempt.started_at))) }
                                    td { (result_text(end.reported.result.kind())) }
                                    td { (end.verified.turns) "/" (end.verified.turns_max) }
                                    td { (end.verified.commits) }
                                    td { (money(end.verified.cost_micro_usd)) }
                                },
                                Some(AttemptClosing::Lost { at }) => { td { (duration(at.ms_since(attempt.started_at))) } td { "lost" } td {} td {} td {} },
                                Some(AttemptClosing::Stopped { at }) => { td { (duration(at.ms_since(attempt.started_at))) } td { "stopped" } td {} td {} td {} },
                                None => { td { (duration(now.ms_since(attempt.started_at))) } td { span.tone-working { "▶ running" } } td {} td {} td {} },
                            }
                            td { a href={ "/tasks/" (record.task_id) "/log?attempt=" (attempt.id) } { "log" } }
                        }
                    }
                }
            }
        }
    }
}

fn line(recorded: &StoredEvent, now: Timestamp) -> Markup {
    let event = &recorded.event;
    html! {
        li #{ "e" (recorded.seq) } {
            (age(event.at, now))
            span { (describe_event(&event.body)) " " span.muted { "by " (event.by) } }
        }
    }
}

/// Characters of a reason that are shown.
const CHARS_MAX: usize = 160;

/// The way of accepted work into its branch.
fn describe_landing(body: &EventBody) -> String {
    match body {
        EventBody::TaskLanding { despite: Some(despite), .. } => {
            format!("accepted by force despite: {despite}; waits in its lane for the checks")
        }
        EventBody::TaskLandingDelayed { reason, .. } => {
            format!("waits to land: {}", short(&reason.headline(), CHARS_MAX))
        }
        EventBody::TaskLanded { commit, verified, evidence, .. } => {
            let mut text = format!("landed with {}", short(commit.as_str(), 12));
            if let Some(evidence) = evidence {
                let _ = write!(text, "; {}", evidence.sentence());
            }
            for one in verified {
                let _ = write!(text, "; {one}");
            }
            text
        }
        EventBody::TaskSentBack { reason, .. } => {
            format!("sent back: {}", short(&reason.headline(), CHARS_MAX))
        }
        EventBody::TaskForced { .. } => "landed by force, without its checks".to_owned(),
        _ => "accepted; waits for the checks".to_owned(),
    }
}

/// A short description of an event.
fn describe_event(body: &EventBody) -> String {
    match body {
        EventBody::TaskCreated { .. } => "created".to_owned(),
        EventBody::TaskClaimed { agent, .. } => format!("started by {agent}"),
        EventBody::AgentStarted { .. } => "agent started".to_owned(),
        EventBody::AttemptEnded { end, .. } => {
            format!("attempt ended: {}", pluralize(u64::from(end.verified.commits), "commit"))
        }
        EventBody::TaskProvisional { .. } => "ready for review".to_owned(),
        EventBody::TaskDone { despite: None, .. } => "done".to_owned(),
        EventBody::TaskDone { despite: Some(despite), .. } => {
            format!("done, accepted by force despite: {despite}")
        }
        EventBody::TaskContinues { .. } => "out of turns; continues from here".to_owned(),
        EventBody::TaskRequeued { reason, .. } => {
            format!("back to the queue: {}", crate::pages::task::standing::requeued(reason))
        }
        EventBody::TaskRejected { reason, .. } => format!("rejected: {}", short(reason.as_str(), CHARS_MAX)),
        EventBody::TaskConflicted { detail, .. } => {
            format!("conflict: {}", short(detail.as_str(), CHARS_MAX))
        }
        EventBody::TaskLanding { .. }
        | EventBody::TaskLandingDelayed { .. }
        | EventBody::TaskLanded { .. }
        | EventBody::TaskSentBack { .. }
        | EventBody::TaskForced { .. } => describe_landing(body),
        EventBody::TaskRecycled { breakdown, .. } => format!("split; {breakdown} plans the parts"),
        EventBody::TaskReplaced { replaced_by, .. } => {
            format!("replaced by {}", pluralize(replaced_by.len() as u64, "task"))
        }
        EventBody::TaskFailed { error, .. } => format!("failed: {}", short(error.as_str(), CHARS_MAX)),
        EventBody::TaskRetried { .. } => "retried".to_owned(),
        EventBody::TaskHeldBack { reason: Some(reason), .. } => format!("held until released: {reason}"),
        EventBody::TaskHeldBack { reason: None, .. } => "held until released".to_owned(),
        EventBody::TaskLetGo { .. } => "released".to_owned(),
        EventBody::TaskRevised { .. } => "edited".to_owned(),
        EventBody::TaskCancelled { .. } => "cancelled".to_owned(),
        EventBody::BreakdownReleased { .. } => "released to an agent for planning".to_owned(),
        EventBody::PlanSubmitted { plan, .. } => {
            format!("plan of {} submitted", pluralize(plan.items().len() as u64, "task"))
        }
        EventBody::PlanApproved { .. } => "plan approved".to_owned(),
        EventBody::PlanRejected { reason, .. } => {
            format!("plan rejected: {}", short(reason.as_str(), CHARS_MAX))
        }
        EventBody::QuestionAsked { question, .. } => {
            format!("asked: {}", short(question.text().as_str(), CHARS_MAX))
        }
        EventBody::QuestionAnswered { answer, answered_by, .. } => {
            format!("answered by {answered_by}: {}", short(answer.as_str(), CHARS_MAX))
        }
        EventBody::QuestionWithdrawn { reason, .. } => {
            format!("question withdrawn: {}", short(reason.as_str(), CHARS_MAX))
        }
        EventBody::MessagesDelivered { .. } => "message delivered to the agent".to_owned(),
        EventBody::MessagePosted { text, .. } => format!("message: {}", short(text.as_str(), CHARS_MAX)),
        EventBody::DependentsRewired { to, .. } => {
            format!("dependents now depend on {}", pluralize(to.len() as u64, "task"))
        }
        EventBody::RunStarted { label, .. } => format!("recipe {label} started"),
        EventBody::RunBound { .. } => "assigned to a run".to_owned(),
        EventBody::ItemFailed { service, error, .. } => {
            format!("{service} failed and retries: {}", short(error.as_str(), CHARS_MAX))
        }
        EventBody::AgentMoved { from, to, reason, .. } => {
            let place = |place: &AgentPlace| {
                if place.agent == place.account {
                    place.agent.to_string()
                } else {
                    format!("{} on {}", place.agent, place.account)
                }
            };
            format!("moved from {} to {}: {reason}", place(from), place(to))
        }
        EventBody::AttemptFenced { fence, .. } => fence.to_string(),
        EventBody::EnvironmentChanged { change, .. } => change.to_string(),
        EventBody::AttemptRefused { action, reason, .. } => {
            format!("refused to its agent: {} ({reason})", short(action.as_str(), CHARS_MAX))
        }
        EventBody::NetworkRefused { host, reason, .. } => {
            format!("connection to {} refused ({reason})", short(host.as_str(), CHARS_MAX))
        }
        EventBody::AnswerQueued { .. } => "answer queued".to_owned(),
        // Other events concern no task.
        _ => "event".to_owned(),
    }
}
