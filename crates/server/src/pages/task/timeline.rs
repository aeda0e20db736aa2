//! The timeline: each stay and each attempt as a bar on one scale, waiting for a person as its own.

use axum::extract::State;
use baton_core::base::id::TaskId;
use baton_core::base::time::Timestamp;
use baton_core::records::event::EventBody;
use baton_core::task::attempt_record::{AttemptClosing, AttemptRecord};
use baton_core::task::state::StateName;
use baton_engine::StoredEvent;
use maud::{Markup, html};

use super::walk::{Stay, walk};
use super::{Seen, Sheet, history};
use crate::pages::answer::PageAnswer;
use crate::pages::key::Key;
use crate::pages::visit::Visit;
use crate::pages::words::{age, ago, money, of_result, of_state_name, pluralize, short, took};
use crate::state::App;

/// The scale is a thousand wide.
const SCALE: i64 = 1_000;
/// No bar is so short that it cannot be seen.
const BAR_MIN: i64 = 4;

pub async fn show(State(app): State<App>, Key(id): Key<TaskId>, visit: Visit) -> PageAnswer {
    let seen = Seen::load(&app, id, visit).await?;
    let events = history(&app, id).await?;
    let attempts = app.tasks().store.attempts(id).await?;
    let stays = walk(&seen.task, &events);
    let now = seen.frame.now;
    let body = html! {
        section {
            h2 { "Where the time went" }
            (sums(&stays, now))
            (bars(&stays, now))
        }
        section {
            h2 { "Attempts" }
            @if attempts.is_empty() { p.muted { "No agent has worked on it yet." } } @else { (table(&attempts, now)) }
        }
        section {
            h2 { "History" }
            ol.history { @for recorded in &events { (line(recorded, now)) } }
        }
    };
    Ok(seen.page(Sheet::Timeline, &[], &body))
}

fn sums(stays: &[Stay], now: Timestamp) -> Markup {
    let sum = |states: &[StateName]| -> i64 {
        stays.iter().filter(|stay| states.contains(&stay.state)).map(|stay| stay.ms(now)).sum()
    };
    html! {
        dl.sums {
            div { dt { "Agents worked" } dd { (took(sum(&[StateName::Claimed]))) } }
            div { dt { "Waited for you" } dd { (took(sum(&[StateName::AwaitingResponse, StateName::Blocked, StateName::Provisional]))) } }
            div { dt { "Waited in the queue" } dd { (took(sum(&[StateName::Incoming, StateName::Breakdown, StateName::NeedsContinuation]))) } }
        }
    }
}

fn bars(stays: &[Stay], now: Timestamp) -> Markup {
    let Some(first) = stays.first() else { return html! {} };
    // What is over took no more time from then on.
    let is_over = |stay: &&Stay| matches!(stay.state, StateName::Done | StateName::Cancelled);
    let end = stays.last().filter(is_over).map_or(now, |stay| stay.from);
    let whole = end.ms_since(first.from).max(1);
    let at = |moment: Timestamp| moment.ms_since(first.from) * SCALE / whole;
    html! {
        ol.bars {
            @for stay in stays {
                @let (sign, from, until) = (of_state_name(stay.state), at(stay.from), at(stay.until.unwrap_or(end).min(end)));
                li class={ "tone-" (sign.tone) } {
                    span.what { (sign.glyph) " " (sign.word) }
                    svg viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true" {
                        rect.track x="0" y="0" width="1000" height="10" {}
                        rect.bar x=(from.min(SCALE - BAR_MIN)) y="0" width=((until - from).max(BAR_MIN)) height="10" {}
                    }
                    span.long { (took(stay.until.unwrap_or(end).min(end).ms_since(stay.from))) }
                }
            }
        }
    }
}

fn table(attempts: &[AttemptRecord], now: Timestamp) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Attempts" {
            table {
                thead { tr { th { "#" } th { "Agent" } th { "Began" } th { "Took" } th { "Ended" } th { "Turns" } th { "Commits" } th { "Cost" } th { "Log" } } }
                tbody {
                    @for record in attempts {
                        @let attempt = &record.attempt;
                        tr {
                            td { (attempt.number) @if attempt.resumes.is_some() { span.muted { " goes on" } } }
                            td { (attempt.agent) }
                            td { (ago(attempt.started_at, now)) }
                            @match &record.closing {
                                Some(AttemptClosing::Ended { at, end }) => {
                                    td { (took(at.ms_since(attempt.started_at))) }
                                    td { (of_result(end.reported.result.kind())) }
                                    td { (end.verified.turns) "/" (end.verified.turns_max) }
                                    td { (end.verified.commits) }
                                    td { (money(end.verified.cost_micro_usd)) }
                                },
                                Some(AttemptClosing::Lost { at }) => { td { (took(at.ms_since(attempt.started_at))) } td { "lost" } td {} td {} td {} },
                                Some(AttemptClosing::Stopped { at }) => { td { (took(at.ms_since(attempt.started_at))) } td { "stopped" } td {} td {} td {} },
                                None => { td { (took(now.ms_since(attempt.started_at))) } td { span.tone-working { "▶ at work" } } td {} td {} td {} },
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
            span { (told(&event.body)) " " span.muted { "by " (event.by) } }
        }
    }
}

/// One event in a few words.
fn told(body: &EventBody) -> String {
    const CHARS_MAX: usize = 160;
    match body {
        EventBody::TaskCreated { .. } => "created".to_owned(),
        EventBody::TaskClaimed { agent, .. } => format!("claimed by {agent}"),
        EventBody::AgentStarted { .. } => "the agent's process started".to_owned(),
        EventBody::AttemptEnded { end, .. } => {
            format!("the attempt ended: {}", pluralize(u64::from(end.verified.commits), "commit"))
        }
        EventBody::TaskProvisional { .. } => "waits to be accepted".to_owned(),
        EventBody::TaskDone { .. } => "done".to_owned(),
        EventBody::TaskContinues { .. } => "out of turns; goes on from here".to_owned(),
        EventBody::TaskRequeued { reason, .. } => {
            format!("back to the queue: {}", super::overview::requeued(reason))
        }
        EventBody::TaskRejected { reason, .. } => format!("rejected: {}", short(reason.as_str(), CHARS_MAX)),
        EventBody::TaskConflicted { detail, .. } => {
            format!("conflict: {}", short(detail.as_str(), CHARS_MAX))
        }
        EventBody::TaskRecycled { breakdown, .. } => format!("recycled; {breakdown} plans the rest"),
        EventBody::TaskReplaced { replaced_by, .. } => {
            format!("replaced by {}", pluralize(replaced_by.len() as u64, "task"))
        }
        EventBody::TaskFailed { error, .. } => format!("failed: {}", short(error.as_str(), CHARS_MAX)),
        EventBody::TaskRetried { .. } => "to be tried again".to_owned(),
        EventBody::TaskHeldBack { .. } => "held back until somebody lets it go".to_owned(),
        EventBody::TaskLetGo { .. } => "let go".to_owned(),
        EventBody::TaskRevised { .. } => "what it asks for was changed".to_owned(),
        EventBody::TaskCancelled { .. } => "cancelled".to_owned(),
        EventBody::BreakdownReleased { .. } => "an agent may plan it".to_owned(),
        EventBody::PlanSubmitted { plan, .. } => {
            format!("a plan of {} was handed in", pluralize(plan.items().len() as u64, "task"))
        }
        EventBody::PlanApproved { .. } => "the plan was approved".to_owned(),
        EventBody::PlanRejected { reason, .. } => {
            format!("the plan was rejected: {}", short(reason.as_str(), CHARS_MAX))
        }
        EventBody::QuestionAsked { question, .. } => {
            format!("asked: {}", short(question.text().as_str(), CHARS_MAX))
        }
        EventBody::QuestionAnswered { answer, answered_by, .. } => {
            format!("answered by {answered_by}: {}", short(answer.as_str(), CHARS_MAX))
        }
        EventBody::QuestionWithdrawn { reason, .. } => {
            format!("the question was withdrawn: {}", short(reason.as_str(), CHARS_MAX))
        }
        EventBody::MessagePosted { text, .. } => format!("said: {}", short(text.as_str(), CHARS_MAX)),
        EventBody::DependentsRewired { to, .. } => {
            format!("what waited on it waits on {} now", pluralize(to.len() as u64, "task"))
        }
        EventBody::RunStarted { label, .. } => format!("the recipe {label} began"),
        EventBody::RunBound { .. } => "a run took it on".to_owned(),
        EventBody::ItemFailed { service, error, .. } => {
            format!("{service} failed, it is retried: {}", short(error.as_str(), CHARS_MAX))
        }
        EventBody::AnswerQueued { .. } => "an answer was laid down for later".to_owned(),
        // The rest is about no task, and so in no task's history.
        _ => "happened".to_owned(),
    }
}
