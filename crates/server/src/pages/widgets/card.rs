//! A task as a card: title, facts and actions.

use baton_core::base::time::Timestamp;
use baton_core::task::state::{ReplacedBy, ReviewMark, StateName, TaskState};
use baton_core::task::{Purpose, Task};
use baton_engine::cluster::running::Running;
use maud::{Markup, html};

use crate::pages::for_you::review::size;
use crate::pages::widgets::markdown::plain;
use crate::pages::widgets::words::{StateBadge, age, short};

/// Characters of the line that says why.
const GIST_CHARS_MAX: usize = 140;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DependencyCount {
    pub met: usize,
    pub all: usize,
}

/// `badge` may say more than the state alone; `said` is the state its column shows already, which the card does not repeat.
pub(crate) fn card(
    task: &Task,
    badge: StateBadge,
    waits: Option<DependencyCount>,
    running: &Running,
    now: Timestamp,
    said: Option<StateBadge>,
) -> Markup {
    let spec = task.spec();
    html! {
        article.card.{ "tone-" (badge.tone) } #{ "card-" (spec.id) } data-row data-task=(spec.id) data-turns[task.state().live_attempt().is_some()] {
            header {
                @if said == Some(badge) { span.id { (spec.id) } } @else { (badge.chip()) }
                @if task.pending_question().is_some() { span.asks title="Question pending" { span aria-hidden="true" { "?" } span.unseen { "Question pending" } } }
                span.age { (age(task.updated_at(), now)) }
            }
            a.title href={ "/tasks/" (spec.id) } { (spec.title) }
            @let gist = gist(task);
            @if !gist.0.is_empty() { p.gist { (gist) } }
            (facts(task, waits, running, now, said == Some(badge)))
            (actions(task, &html! {}))
        }
    }
}

/// The facts in one line; `is_named` leaves out the id, which is said already.
pub(crate) fn facts(
    task: &Task,
    waits: Option<DependencyCount>,
    running: &Running,
    now: Timestamp,
    is_named: bool,
) -> Markup {
    let live = task.state().live_attempt();
    let at_work = live.and_then(|attempt| running.at_work(attempt.id));
    // While an agent runs, the last attempt's numbers are not interesting.
    let end = task.ledger().last_end.as_ref().map(|end| &end.verified).filter(|_| at_work.is_none());
    html! {
        p.facts {
            @if !is_named { span.id { (task.id()) } }
            @if let Some(attempt) = live { span title="Agent" { (attempt.agent) } span title="At work for" { (age(attempt.started_at, now)) } }
            @if task.spec().priority != baton_core::base::priority::Priority::default() { span title="Priority" { (task.spec().priority) } }
            @if let Some(DependencyCount { met, all }) = waits {
                span.waits[met < all] title="Dependencies met" { @if met < all { "waits for " (all - met) " of " (all) } @else { (all) " dependencies met" } }
            }
            @if let Some(at_work) = at_work {
                span.turns title="Turns used" { (at_work.turns) "/" (at_work.turns_max) " turns" }
            }
            @if let Some(end) = end {
                @if end.commits > 0 || end.files_changed > 0 || !end.checks.is_empty() { span title="The last attempt, measured by Baton" { (size(end)) } }
            }
            @if task.ledger().started > 1 { span title="Attempts so far" { "attempt " (task.ledger().started) } }
        }
    }
}

/// Why it stands as it does, in one line: the question, the error, the reason of a hold.
pub(crate) fn gist(task: &Task) -> Markup {
    let line = |text: &str| short(text, GIST_CHARS_MAX);
    html! {
        @if let Some(question) = task.pending_question() { (line(&plain(question.text().as_str()))) }
        @else if let TaskState::Failed { error, .. } = task.state() { (line(error.as_str())) }
        @else if let (TaskState::Held, Some(reason)) = (task.state(), &task.ledger().held_because) { (line(&reason.to_string())) }
    }
}

/// The actions a person may take now: the verb in the URL and the label of the button.
pub(crate) fn verbs(task: &Task) -> Vec<(&'static str, &'static str)> {
    let mut verbs = Vec::new();
    match task.state() {
        TaskState::Provisional(provisional) => match provisional.mark {
            ReviewMark::Plan => verbs.extend([("plan", "Review plan")]),
            ReviewMark::Ready | ReviewMark::NoChanges { .. } => {
                verbs.extend([("accept", "Accept"), ("reject", "Request changes")]);
            }
            ReviewMark::NeedsReview { .. } => {
                verbs.extend([("accept", "Accept anyway"), ("reject", "Request changes")]);
            }
            ReviewMark::BurnedOut | ReviewMark::NotConverging => {
                verbs.extend([
                    ("recycle", "Split"),
                    ("accept", "Accept anyway"),
                    ("reject", "Request changes"),
                ]);
            }
        },
        TaskState::Landing(_) => verbs.extend([("accept", "Merge anyway"), ("reject", "Request changes")]),
        TaskState::Breakdown { released: false } => verbs.extend([("plan", "Plan")]),
        TaskState::Failed { .. } => verbs.push(("retry", "Retry")),
        TaskState::Cancelled { .. } if task.spec().purpose != Purpose::Run => {
            verbs.push(("retry", "Bring back"));
        }
        // Stopped in the middle of its work, or never begun.
        TaskState::Held if task.ledger().started > 0 => verbs.push(("release", "Resume")),
        TaskState::Held => verbs.push(("release", "Release")),
        TaskState::Claimed { .. } if !task.is_breakdown() => verbs.push(("stop", "Stop")),
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
    // What was replaced by its parts is over: they are cancelled one by one.
    let is_replaced = matches!(task.state(), TaskState::Recycled { replaced_by: ReplacedBy::Tasks(_) });
    if !is_replaced && !matches!(task.state().name(), StateName::Done | StateName::Cancelled) {
        verbs.push(("cancel", "Cancel"));
    }
    verbs
}

/// The buttons, and others after them. Each opens a dialog with a preview of the consequences.
pub(crate) fn actions(task: &Task, others: &Markup) -> Markup {
    let (id, verbs) = (task.id(), verbs(task));
    html! {
        @if !verbs.is_empty() || !others.0.is_empty() {
            p.verbs {
                @for (index, (verb, word)) in verbs.into_iter().enumerate() {
                    @if verb == "plan" {
                        a.button.primary[index == 0] href={ "/breakdowns/" (id) } { (word) }
                    } @else {
                        a.button.primary[index == 0 && verb != "cancel" && verb != "stop"].quiet[verb == "cancel"] href={ "/tasks/" (id) "/do/" (verb) } data-sheet { (word) }
                    }
                }
                (others)
            }
        }
    }
}
