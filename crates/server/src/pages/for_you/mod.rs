//! `/`: pending questions, oldest first. Questions answered elsewhere while the page is open stay, closed.

use axum::extract::State;
use baton_core::ask::question_record::{QuestionRecord, QuestionState};
use baton_core::base::id::{QuestionId, TaskId};
use baton_core::task::state::QueueName;
use baton_engine::query::TaskFilter;
use baton_engine::reports::standstill::{Standstill, StandstillReason, load_standstills};
use baton_engine::runs::loops::Loops;
use maud::{Markup, html};

use crate::pages::frame::layout::{Frame, empty, heading};
use crate::pages::frame::navigation::Tab;
use crate::pages::frame::request::PageRequest;
use crate::pages::frame::response::{PageError, PageResult};
use crate::pages::question::{self, load_tasks};
use crate::pages::widgets::card;
use crate::state::App;

/// Questions per page.
const SHOWN_MAX: u32 = 100;
/// Standstills listed.
const STANDING_MAX: usize = 50;
/// Tasks to accept listed below the questions.
const UNACCEPTED_MAX: u32 = 8;

pub(super) async fn show(State(app): State<App>, request: PageRequest) -> PageResult {
    let frame = Frame::load(&app, request).await?;
    let questions = load_questions(&app, &frame).await?;
    let tasks = load_tasks(&app, &questions).await?;
    let standing = load_standstills(&app.workspace.projects).await?;
    let pending = questions.iter().filter(|record| record.state == QuestionState::Pending).count();
    let body = html! {
        (heading("Inbox", &html! {
            @if pending >= SHOWN_MAX as usize { span.muted { "the oldest " (SHOWN_MAX) " pending questions" } }
            @else if pending > 0 { span.muted { (pending) @if pending == 1 { " pending question" } @else { " pending questions" } } }
        }))
        @if questions.is_empty() { (render_empty(&app, !standing.is_empty()).await?) }
        div.questions #questions data-filter {
            @for record in &questions {
                (question::card(record, record.task_id.and_then(|id| tasks.get(&id)), frame.now, "/"))
            }
        }
        (render_standing(&standing))
        (render_unaccepted(&app, &frame).await?)
    };
    Ok(frame.page(Tab::Inbox, "Inbox", &[], &body))
}

/// The pending questions, and those the page shows that are closed by now.
async fn load_questions(app: &App, frame: &Frame) -> Result<Vec<QuestionRecord>, PageError> {
    let mut questions = app.tasks().pending_questions(SHOWN_MAX).await?;
    let is_listed = |id: &QuestionId| questions.iter().any(|record| record.question.id == *id);
    let closed: Vec<QuestionId> = frame.request().shown.iter().copied().filter(|id| !is_listed(id)).collect();
    if !closed.is_empty() {
        let found = app.tasks().store.questions_by_ids(&closed).await?;
        questions.extend(found.into_iter().map(|stored| stored.value));
    }
    questions.sort_by_key(|record| (record.asked_at, record.question.id));
    Ok(questions)
}

/// The empty inbox, or the welcome page of an empty store.
async fn render_empty(app: &App, has_standing: bool) -> Result<Markup, PageError> {
    let any = app.tasks().store.tasks(&TaskFilter::default(), None, 1).await?;
    if has_standing {
        return Ok(html! { p.muted { "No pending questions, but some work stands still:" } });
    }
    if !any.items.is_empty() {
        return Ok(empty(
            "No pending questions",
            "Questions from agents appear here; the tab shows how many are pending.",
            &[("baton questions --follow", "the same in a terminal")],
        ));
    }
    let has_agent = !app.workspace.settings.agents.is_empty();
    Ok(html! {
        div.empty.welcome {
            h2 { "Welcome to Baton" }
            p { "Agents work on tasks, each in its own worktree. You answer questions and accept the results. Three steps:" }
            ol {
                li.is-done[has_agent] {
                    strong { "Set up an agent." } " "
                    @if has_agent { "Done. " } @else { "Add one to " code { ".agent/baton.toml" } ". " }
                    code { "baton doctor" } " shows which agents work here."
                }
                li {
                    strong { "Add a task." } " Use the " a href="/tasks/new" { "form" } " or the " a href="/chat" { "chat" } ", or run "
                    code { "baton task add \"Fix the typo in the README\"" } "."
                }
                li { strong { "Decide." } " Questions appear here; finished work waits on the " a href="/board" { "board" } " to be accepted." }
            }
            p.muted { "Just exploring? " code { "baton demo" } " shows everything on a scratch repository." }
        }
    })
}

/// What stands still until the person acts.
fn render_standing(standing: &[Standstill]) -> Markup {
    html! {
        @if !standing.is_empty() {
            section.also aria-labelledby="standing" {
                h2 #standing { "Stands still until you act" }
                ul.plain {
                    @for one in &standing[..standing.len().min(STANDING_MAX)] {
                        li {
                            strong { (one.title) } " " span.muted { (one.message) }
                            p.verbs { (standstill_actions(one)) }
                        }
                    }
                }
                @if standing.len() > STANDING_MAX { p { (standing.len() - STANDING_MAX) " more: " code { "baton questions" } } }
            }
        }
    }
}

fn standstill_actions(one: &Standstill) -> Markup {
    let sheet = |task: Option<TaskId>, verb: &str, word: &str| {
        html! { @if let Some(task) = task { a.button href={ "/tasks/" (task) "/do/" (verb) } data-sheet { (word) } } }
    };
    html! {
        @match one.reason {
            StandstillReason::PlanWanted => {
                @if let Some(task) = one.task_id { a.button.primary href={ "/breakdowns/" (task) } { "Plan" } }
            },
            StandstillReason::BreakdownCancelled => { (sheet(one.on, "retry", "Plan it after all")) (sheet(one.task_id, "cancel", "Cancel")) },
            StandstillReason::DeadDependency => {
                @if let (Some(task), Some(on)) = (one.task_id, one.on) {
                    form.inline method="post" action={ "/tasks/" (task) "/not-after" } {
                        input type="hidden" name="on" value=(on);
                        input type="hidden" name="next" value="/";
                        button.primary type="submit" { "Remove the dependency" }
                    }
                }
                (sheet(one.task_id, "cancel", "Cancel"))
            },
            StandstillReason::Failed => { (sheet(one.task_id, "retry", "Retry")) (sheet(one.task_id, "cancel", "Cancel")) },
            StandstillReason::ProjectUnavailable => {},
        }
        @if let Some(task) = one.task_id { a.button.quiet href={ "/tasks/" (task) } { "Open" } }
    }
}

/// Tasks that wait to be accepted.
async fn render_unaccepted(app: &App, frame: &Frame) -> Result<Markup, PageError> {
    let filter = TaskFilter { queue: Some(QueueName::Provisional), ..TaskFilter::default() };
    let page = app.tasks().store.tasks(&filter, None, UNACCEPTED_MAX).await?;
    let mut waiting = Vec::new();
    for stored in page.items {
        // A loop's question above decides about its subtask.
        if !Loops::new(app.tasks()).asks_about(&stored.value).await? {
            waiting.push(stored.value);
        }
    }
    Ok(html! {
        @if !waiting.is_empty() {
            section.also aria-labelledby="also" {
                h2 #also { "To accept" }
                div.cards {
                    @for task in &waiting { (card::card(task, None, &app.workspace.running, frame.now, None)) }
                }
                @if page.next.is_some() { p { a href="/board" { "Show all on the board" } } }
            }
        }
    })
}
