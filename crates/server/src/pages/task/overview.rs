//! The first tab: what waits for an answer, the way so far, what was reported beside what was verified, and where the
//! task comes from.

use axum::extract::State;
use baton_core::attempt::{AttemptResult, Evidence, Reported};
use baton_core::id::TaskId;
use baton_core::question_record::{QuestionRecord, QuestionState};
use baton_core::state::{Mark, ReplacedBy, TaskState};
use baton_core::task::{Note, Purpose};
use baton_engine::Store;
use baton_engine::query::QuestionFilter;
use baton_engine::view::TaskView;
use maud::{Markup, html};

use super::walk::walk;
use super::{Seen, Sheet, history, machine};
use crate::pages::answer::{PageAnswer, PageError};
use crate::pages::key::Key;
use crate::pages::markdown::markdown;
use crate::pages::question;
use crate::pages::visit::Visit;
use crate::pages::words::{age, counted, money, of_state, took};
use crate::state::App;

/// Questions of one task that its page shows.
const QUESTIONS_MAX: u32 = 100;
/// What waits on a task, named on its page.
const DEPENDENTS_MAX: u32 = 50;

pub async fn show<S: Store>(State(app): State<App<S>>, Key(id): Key<TaskId>, visit: Visit) -> PageAnswer {
    let seen = Seen::load(&app, id, visit).await?;
    let view = app.shop.task_view(id).await?;
    let filter = QuestionFilter { task: Some(id), ..QuestionFilter::default() };
    let questions = app.desk().store.questions(&filter, None, QUESTIONS_MAX).await?.items;
    let questions: Vec<QuestionRecord> = questions.into_iter().map(|stored| stored.value).collect();
    let stays = walk(&seen.task, &history(&app, id).await?);
    let (now, next) = (seen.frame.now, format!("/tasks/{id}"));
    let pending = questions.iter().filter(|record| record.state == QuestionState::Pending);
    let settled: Vec<&QuestionRecord> =
        questions.iter().filter(|record| record.state != QuestionState::Pending).collect();
    let body = html! {
        @for record in pending { (question::card(record, Some(&seen.task), now, &next)) }
        (standing(&seen))
        @if let Some(reason) = &view.not_started { div.notice { p { "It is ready and not started yet: " (reason.message) "." } } }
        (machine::drawing(&stays, now))
        div.columns {
            div {
                @if !view.description.trim().is_empty() {
                    section { h2 { "What is to be done" } div.prose { (markdown(&view.description)) } }
                }
                @if let Some(output) = view.output.as_deref().filter(|text| !text.trim().is_empty()) {
                    section { h2 { "What came of it" } div.prose.output { (markdown(output)) } }
                }
                (claims(view.reported.as_ref(), view.verified.as_ref()))
                @if !settled.is_empty() {
                    section {
                        h2 { "Questions" }
                        @for record in settled { (question::card(record, None, now, &next)) }
                    }
                }
            }
            aside aria-label="About this task" {
                (about(&app, &seen, &view).await?)
                (notes(&seen))
            }
        }
    };
    Ok(seen.page(Sheet::Overview, &[], &body))
}

/// A sentence where the state alone does not say enough.
fn standing(seen: &Seen) -> Markup {
    html! {
        @match seen.task.state() {
            TaskState::Failed { error } => div.alert role="alert" { p { (error) } p.muted { "Retry lets an agent try again." } },
            TaskState::Provisional(provisional) => {
                @match &provisional.mark {
                    Mark::BurnedOut => div.alert { p { "The agent used up its turns and committed nothing. Recycling breaks the task down; the branch is kept." } },
                    Mark::NotConverging => div.alert { p { "It was tried too often without being accepted. Recycling breaks it down; the branch is kept." } },
                    Mark::NoChanges { reason } => div.notice { p { "The agent says there was nothing to do: " (reason) } },
                    Mark::Ready | Mark::Plan => {},
                }
                @if let Some(question) = &provisional.question { div.notice { p { "It would still like to know: " (question) } } }
            },
            TaskState::Cancelled { by, reason } => div.notice { p { "Cancelled by " (by) @if let Some(reason) = reason { ": " (reason) } "." } },
            TaskState::Incoming
            | TaskState::Breakdown { .. }
            | TaskState::Claimed { .. }
            | TaskState::NeedsContinuation { .. }
            | TaskState::AwaitingResponse { .. }
            | TaskState::Blocked { .. }
            | TaskState::Recycled { .. }
            | TaskState::Done { .. } => {},
        }
    }
}

/// Reported beside verified: what the agent says, and what Baton saw.
fn claims(reported: Option<&Reported>, verified: Option<&Evidence>) -> Markup {
    html! {
        @if let (Some(reported), Some(verified)) = (reported, verified) {
            section {
                h2 { "The last attempt" }
                div.pair {
                    div { h3 { "Reported " span.muted { "by the agent" } } (said(reported)) }
                    div { h3 { "Verified " span.muted { "by Baton" } } (measured(verified)) }
                }
            }
        }
    }
}

fn said(reported: &Reported) -> Markup {
    let word = match &reported.result {
        AttemptResult::Complete => "complete".to_owned(),
        AttemptResult::Incomplete => "incomplete".to_owned(),
        AttemptResult::NoEvidence => "done, with nothing to show".to_owned(),
        AttemptResult::NoChanges { reason } => format!("nothing to change: {reason}"),
        AttemptResult::Asked { question } => format!("asked: {}", question.text),
        AttemptResult::Blocked { reason } => format!("blocked ({reason:?})"),
        AttemptResult::Error { message, .. } => format!("error: {message}"),
        AttemptResult::TurnLimit => "ended by Baton: the turns were used up".to_owned(),
    };
    html! {
        p { (word) }
        @if !reported.output.trim().is_empty() {
            details { summary { "Its last words" } div.prose { (markdown(&reported.output)) } }
        }
    }
}

fn measured(verified: &Evidence) -> Markup {
    let ms = i64::try_from(verified.duration_ms).unwrap_or(i64::MAX);
    html! {
        dl.facts-list {
            dt { "Commits" } dd { (verified.commits) @if verified.uncommitted_changes { " and uncommitted changes, which Baton committed" } }
            dt { "Changed" } dd { (counted(u64::from(verified.files_changed), "file")) " " span.plus { "+" (verified.insertions) } " " span.minus { "−" (verified.deletions) } }
            dt { "Turns" } dd { (verified.turns) " of " (verified.turns_max) }
            dt { "Time" } dd { (took(ms)) }
            @if verified.input_tokens + verified.output_tokens > 0 {
                dt { "Tokens" } dd { (verified.input_tokens) " in, " (verified.output_tokens) " out" }
            }
            @if verified.cost_micro_usd > 0 { dt { "Cost" } dd { (money(verified.cost_micro_usd)) } }
            @for check in &verified.checks {
                dt { "Check " (check.name) }
                dd {
                    @if check.exit_code == 0 { span.tone-done { "✓ passed" } } @else {
                        span.tone-failed { "✗ exit code " (check.exit_code) }
                        details { summary { "Its output" } pre { (check.output_tail) } }
                    }
                }
            }
        }
    }
}

async fn about<S: Store>(app: &App<S>, seen: &Seen, view: &TaskView) -> Result<Markup, PageError> {
    let spec = seen.task.spec();
    let mut dependents = Vec::new();
    for edge in app.desk().store.dependents(spec.id, None, DEPENDENTS_MAX).await? {
        dependents.push(app.desk().task(edge.task).await?.value);
    }
    let cost: u64 = view.attempts.iter().filter_map(ended).map(|verified| verified.cost_micro_usd).sum();
    let project = match spec.project_id {
        Some(id) => app.desk().store.project(id).await?.map(|stored| stored.value),
        None => None,
    };
    let mut waits_on = Vec::new();
    for on in &view.depends_on {
        let dead = view.dead_edges.iter().find(|edge| edge.on == *on).map(|edge| edge.reason.as_str());
        waits_on.push((app.desk().task(*on).await?.value, dead));
    }
    Ok(html! {
        section {
            h2 { "About" }
            dl.facts-list {
                dt { "Type" } dd { (spec.task_type) }
                dt { "Priority" } dd { (spec.priority) }
                dt { "Created" } dd { (age(spec.created_at, seen.frame.now)) }
                @if let Some(project) = project { dt { "Project" } dd { a href={ "/board?project=" (project.id) } { (project.title) } } }
                @if let Some(recipe) = &spec.recipe { dt { "Recipe" } dd { a href={ "/recipes#" (recipe) } { (recipe) } } }
                dt { "Branch" } dd { code { (baton_core::git_name::BranchName::of_task(spec.id)) } }
                dt { "Attempts" } dd { (view.attempts.len()) @if cost > 0 { ", " (money(cost)) " in all" } }
            }
        }
        @if !waits_on.is_empty() {
            section {
                h2 { "Waits on" }
                ul.plain {
                    @for (task, dead) in &waits_on {
                        li {
                            (of_state(task.state()).chip()) " " a href={ "/tasks/" (task.id()) } { (task.spec().title) }
                            @if let Some(reason) = dead { p.tone-failed { "✗ can never be met: " (reason) } }
                        }
                    }
                }
            }
        }
        @if !dependents.is_empty() {
            section {
                h2 { "Waited on by" }
                ul.plain {
                    @for task in &dependents {
                        li { (of_state(task.state()).chip()) " " a href={ "/tasks/" (task.id()) } { (task.spec().title) } }
                    }
                }
            }
        }
        (lineage(seen))
    })
}

fn ended(record: &baton_core::attempt_record::AttemptRecord) -> Option<&Evidence> {
    match &record.closing {
        Some(baton_core::attempt_record::Closing::Ended { end, .. }) => Some(&end.verified),
        _ => None,
    }
}

/// What it stands in for, and what stands in for it.
fn lineage(seen: &Seen) -> Markup {
    let replaces = match seen.task.spec().purpose {
        Purpose::Breakdown { replaces_task_id, .. } => replaces_task_id,
        Purpose::Work | Purpose::Run => None,
    };
    let link = |id: &TaskId| html! { a href={ "/tasks/" (id) } { (id) } };
    let replaced_by = match seen.task.state() {
        TaskState::Recycled { replaced_by } => Some(replaced_by),
        _ => None,
    };
    html! {
        @if replaces.is_some() || replaced_by.is_some() {
            section {
                h2 { "Lineage" }
                ul.plain {
                    @if let Some(id) = replaces { li { "recycled from " (link(&id)) } }
                    @match replaced_by {
                        Some(ReplacedBy::Planning(id)) => li { "being broken down in " a href={ "/breakdowns/" (id) } { (id) } },
                        Some(ReplacedBy::Tasks(ids)) => { @for id in ids { li { "replaced by " (link(id)) } } },
                        None => {},
                    }
                }
            }
        }
    }
}

/// What the next attempt is told.
fn notes(seen: &Seen) -> Markup {
    let notes = &seen.task.ledger().notes;
    html! {
        @if !notes.is_empty() {
            section {
                h2 { "Told to the next attempt" }
                ul.plain {
                    @for note in notes {
                        li {
                            @match note {
                                Note::Rejected { at, reason } => { span.muted { "Rejected " (age(*at, seen.frame.now)) } div.prose { (markdown(reason.as_str())) } },
                                Note::Requeued { at, reason } => { span.muted { "Sent back " (age(*at, seen.frame.now)) } p { (requeued(reason)) } },
                                Note::Conflict { at, detail } => { span.muted { "Conflict " (age(*at, seen.frame.now)) } div.prose { (markdown(detail.as_str())) } },
                            }
                        }
                    }
                }
            }
        }
    }
}

pub fn requeued(reason: &baton_core::guard::RequeueReason) -> String {
    use baton_core::guard::RequeueReason as Why;
    match reason {
        Why::NoCommits => "it committed nothing".to_owned(),
        Why::NoPlan => "it handed in no plan".to_owned(),
        Why::CheckFailed { check, .. } => format!("the check {check} failed"),
        Why::Systemic { message } => format!("not its fault: {message}"),
        Why::LeaseExpired => "not its fault: the agent was lost".to_owned(),
    }
}
