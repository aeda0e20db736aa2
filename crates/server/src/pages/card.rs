//! A task as a card: what it is, how it fares, and what can be done with it now.

use baton_core::base::time::Timestamp;
use baton_core::task::Task;
use baton_core::task::state::{ReviewMark, StateName, TaskState};
use baton_engine::attempt::running::Running;
use maud::{Markup, html};

use super::words::{Sign, age, money, of_state, pluralize};

/// How many of a task's dependencies are met, of how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waits {
    pub met: usize,
    pub all: usize,
}

/// `said` is the state that stands over it already, such as its column's; a card says only what is more than that.
pub fn card(
    task: &Task,
    waits: Option<Waits>,
    running: &Running,
    now: Timestamp,
    said: Option<Sign>,
) -> Markup {
    let (spec, sign) = (task.spec(), of_state(task.state()));
    html! {
        article.card.{ "tone-" (sign.tone) } #{ "card-" (spec.id) } data-row data-task=(spec.id) data-turns[task.state().live_attempt().is_some()] {
            header {
                @if said == Some(sign) { span.id { (spec.id) } } @else { (sign.chip()) }
                @if task.pending_question().is_some() { span.asks title="A question waits" { span aria-hidden="true" { "?" } span.unseen { "A question waits" } } }
                span.age { (age(task.updated_at(), now)) }
            }
            a.title href={ "/tasks/" (spec.id) } { (spec.title) }
            (facts(task, waits, running, said == Some(sign)))
            (actions(task))
        }
    }
}

/// The numbers, as far as there are any.
fn facts(task: &Task, waits: Option<Waits>, running: &Running, is_named: bool) -> Markup {
    let live = task.state().live_attempt();
    let agent = live.map(|attempt| &attempt.agent);
    let at_work = live.and_then(|attempt| running.at_work(attempt.id));
    // While an agent is at it, what the last attempt came to is not the news.
    let end = task.ledger().last_end.as_ref().map(|end| &end.verified).filter(|_| at_work.is_none());
    html! {
        p.facts {
            @if !is_named { span.id { (task.id()) } }
            @if let Some(agent) = agent { span title="Agent" { (agent) } }
            @if task.spec().priority != baton_core::base::priority::Priority::default() { span title="Priority" { (task.spec().priority) } }
            @if let Some(Waits { met, all }) = waits {
                span.waits[met < all] title="Dependencies met" { "deps " (met) "/" (all) }
            }
            @if let Some(at_work) = at_work {
                span.turns title="Turns so far, of those it has" { (at_work.turns) "/" (at_work.turns_max) " turns" }
            }
            @if let Some(end) = end {
                span title="Turns used in the last attempt, of those it had" { (end.turns) "/" (end.turns_max) " turns" }
                span title="Commits, counted by Baton" { (pluralize(u64::from(end.commits), "commit")) }
                @if end.cost_micro_usd > 0 { span title="Cost of the last attempt" { (money(end.cost_micro_usd)) } }
            }
            @if task.ledger().started > 1 { span title="Attempts so far" { "attempt " (task.ledger().started) } }
        }
    }
}

/// What a person may do with a task now: the verb as it stands in an address, and the word on the button.
pub fn verbs(task: &Task) -> Vec<(&'static str, &'static str)> {
    let mut verbs = Vec::new();
    match task.state() {
        TaskState::Provisional(provisional) => match provisional.mark {
            ReviewMark::Plan => verbs.extend([("plan", "Review plan")]),
            ReviewMark::Ready | ReviewMark::NoChanges { .. } => {
                verbs.extend([("accept", "Accept"), ("reject", "Reject")]);
            }
            ReviewMark::BurnedOut | ReviewMark::NotConverging => {
                verbs.extend([("recycle", "Recycle"), ("accept", "Accept anyway"), ("reject", "Reject")]);
            }
        },
        TaskState::Breakdown { released: false } => verbs.extend([("plan", "Plan it")]),
        TaskState::Failed { .. } => verbs.push(("retry", "Retry")),
        TaskState::Incoming if task.ledger().is_held => verbs.push(("release", "Let go")),
        TaskState::Incoming
        | TaskState::Breakdown { .. }
        | TaskState::Claimed { .. }
        | TaskState::NeedsContinuation { .. }
        | TaskState::AwaitingResponse { .. }
        | TaskState::Blocked { .. }
        | TaskState::Recycled { .. }
        | TaskState::Done { .. }
        | TaskState::Cancelled { .. } => {}
    }
    if !matches!(task.state().name(), StateName::Done | StateName::Cancelled) {
        verbs.push(("cancel", "Cancel"));
    }
    verbs
}

/// Each leads to a sheet that says what it starts or moves before anything happens.
pub fn actions(task: &Task) -> Markup {
    let (id, verbs) = (task.id(), verbs(task));
    html! {
        @if !verbs.is_empty() {
            p.verbs {
                @for (index, (verb, word)) in verbs.into_iter().enumerate() {
                    @if verb == "plan" {
                        a.button.primary[index == 0] href={ "/breakdowns/" (id) } { (word) }
                    } @else {
                        a.button.primary[index == 0 && verb != "cancel"].quiet[verb == "cancel"] href={ "/tasks/" (id) "/do/" (verb) } data-sheet { (word) }
                    }
                }
            }
        }
    }
}
