//! Finished work that waits for a person's review.

use baton_core::ask::question_record::QuestionRecord;
use baton_core::base::text::NonBlank;
use baton_core::base::time::Timestamp;
use baton_core::task::Task;
use baton_core::task::attempt::Evidence;
use baton_core::task::state::{Provisional, ReviewMark, TaskState};
use maud::{Markup, html};

use crate::pages::widgets::markdown::markdown;
use crate::pages::widgets::row::{QuickDecision, Row};
use crate::pages::widgets::words::{money, pluralize, state_badge};

/// `answered` are settled questions, of this task or of others.
pub(super) fn row(task: &Task, work: &Provisional, answered: &[QuestionRecord], now: Timestamp) -> Markup {
    let id = task.id();
    let measured = task.ledger().last_end.as_ref().map(|end| &end.verified);
    Row {
        id: id.to_string(),
        badge: state_badge(task.state()),
        title: task.spec().title.as_str(),
        address: format!("/tasks/{id}/diff"),
        gist: measured.map_or_else(|| html! {}, size),
        at: Some(task.updated_at()),
        verbs: verbs(task, work, "/"),
        more: Some(more(task, work, answered)),
    }
    .render(now)
}

/// The buttons of work to review; `next` is where accepting leads.
pub(crate) fn verbs(task: &Task, work: &Provisional, next: &str) -> Markup {
    let id = task.id();
    let accept = QuickDecision {
        verb: "accept",
        word: "Accept",
        said: "Accepted",
        key: Some('a'),
        is_primary: true,
        next,
    };
    html! {
        @if work.mark.needs_force() {
            @if work.mark.is_too_large() {
                a.button.primary href={ "/tasks/" (id) "/do/recycle" } data-sheet { "Split it" }
            }
            a.button href={ "/tasks/" (id) "/do/accept" } data-sheet data-key="a" { "Accept anyway…" }
        } @else {
            (accept.form(id))
        }
    }
}

/// How much changed, and what Baton measured about it.
pub(crate) fn size(evidence: &Evidence) -> Markup {
    html! {
        @if evidence.files_changed > 0 {
            span.plus { "+" (evidence.insertions) } " " span.minus { "−" (evidence.deletions) } " in " (pluralize(u64::from(evidence.files_changed), "file"))
        } @else if evidence.commits > 0 {
            (pluralize(u64::from(evidence.commits), "commit"))
        } @else { "no changes" }
        @for check in &evidence.checks {
            @if check.exit_code == 0 { span.plus { " ✓ " (check.name) } } @else { span.minus { " ✗ " (check.name) } }
        }
        @if evidence.cost_micro_usd > 0 { " · " (money(evidence.cost_micro_usd)) }
    }
}

fn more(task: &Task, work: &Provisional, answered: &[QuestionRecord]) -> Markup {
    let id = task.id();
    let said = task.ledger().output.as_deref().map(str::trim).filter(|said| !said.is_empty());
    html! {
        @match &work.mark {
            ReviewMark::NeedsReview { reasons } => { p { "Look closely before you accept this:" } ul { @for reason in reasons { li { (reason) } } } },
            ReviewMark::BurnedOut => p { "The agent used up its turns without a commit." },
            ReviewMark::NotConverging => p { "Too many attempts without acceptance." },
            ReviewMark::NoChanges { reason } => { p { "The agent says that nothing needs to change:" } div.prose { (markdown(reason.as_str())) } },
            ReviewMark::Ready | ReviewMark::Plan => {},
        }
        @if let Some(question) = open_question(task, work, answered) { p { strong { "The agent asks: " } (question) } }
        @if let Some(said) = said { div.prose.clamp { (markdown(said)) } }
        form.request method="post" action={ "/tasks/" (id) "/do/reject" } {
            input type="hidden" name="next" value="/";
            label.unseen for={ "request-" (id) } { "What should change?" }
            textarea #{ "request-" (id) } name="reason" rows="1" required data-draft={ "request-" (id) } placeholder="What should change? The agent goes on with this." {}
            button type="submit" { "Request changes " kbd { "Ctrl ⏎" } }
            a.button.quiet href={ "/tasks/" (id) "/diff" } { "Changes" }
        }
    }
}

/// What the agent asks in its result, unless it was asked and answered before in the same words.
pub(crate) fn open_question<'w>(
    task: &Task,
    work: &'w Provisional,
    answered: &[QuestionRecord],
) -> Option<&'w NonBlank> {
    let is_same = |record: &QuestionRecord, text: &NonBlank| {
        record.task_id == Some(task.id()) && record.question.text().as_str().trim() == text.as_str().trim()
    };
    work.question.as_ref().filter(|text| !answered.iter().any(|record| is_same(record, text)))
}

/// Whether the task is work to review, and no plan.
pub(crate) fn to_review(task: &Task) -> Option<&Provisional> {
    match task.state() {
        TaskState::Provisional(work) if work.mark != ReviewMark::Plan => Some(work),
        _ => None,
    }
}
