//! `/`: everything that waits for the person, as one list. Questions answered elsewhere while the page is open stay, closed.

pub(super) mod review;
mod standing;

use std::collections::BTreeMap;

use axum::extract::State;
use baton_core::ask::question::QuestionKind;
use baton_core::ask::question_record::{QuestionRecord, QuestionState};
use baton_core::base::id::{QuestionId, TaskId};
use baton_core::base::priority::Priority;
use baton_core::base::time::Timestamp;
use baton_core::task::Task;
use baton_core::task::state::QueueName;
use baton_engine::limits::holds::Holds;
use baton_engine::query::TaskFilter;
use baton_engine::reports::standstill::load_standstills;
use baton_engine::runs::loops::Loops;
use maud::{Markup, html};

use crate::http::input::Query;
use crate::pages::frame::layout::{Frame, empty, heading};
use crate::pages::frame::navigation::Tab;
use crate::pages::frame::request::PageRequest;
use crate::pages::frame::response::{PageError, PageResult, redirect};
use crate::pages::question::{self, load_tasks};
use crate::state::App;

/// Questions per page.
const SHOWN_MAX: u32 = 100;
/// Rows of what stands still.
const STANDING_MAX: usize = 100;
/// Tasks to review, on the page and for the next one to open.
const REVIEWS_MAX: u32 = 100;

pub(super) async fn show(State(app): State<App>, request: PageRequest) -> PageResult {
    let frame = Frame::load(&app, request).await?;
    let questions = load_questions(&app, &frame).await?;
    let tasks = load_tasks(&app, &questions).await?;
    let reviews = load_reviews(&app).await?;
    let standing = load_standstills(&app.workspace.projects, &app.workspace.landing).await?;
    let holds = Holds::new(app.tasks()).active().await?;
    let now = frame.now;
    let pending = questions.iter().filter(|record| record.state == QuestionState::Pending).count();
    let stands = standing::rows(&standing, now);
    let count = pending + reviews.len() + stands.len() + holds.len();
    let body = html! {
        (heading("For you", &html! {
            @if count > 0 { span.muted { (count) @if count == 1 { " thing waits for you" } @else { " things wait for you" } } }
            a.button href="/tasks/new" data-sheet { "New task" }
        }))
        @if count == 0 && questions.is_empty() { (render_empty(&app).await?) }
        div.waiting #questions data-filter {
            @for record in sorted(&questions, &tasks) {
                (question::card(record, record.task_id.and_then(|id| tasks.get(&id)), now, "/"))
            }
            @for task in &reviews { @if let Some(work) = review::to_review(task) { (review::row(task, work, now)) } }
            @for row in stands.iter().take(STANDING_MAX) { (row) }
            @for hold in &holds { (standing::hold_row(hold, now)) }
        }
        @if pending >= SHOWN_MAX as usize { p.muted { "Only the oldest " (SHOWN_MAX) " questions are shown." } }
        @if stands.len() > STANDING_MAX { p.muted { (stands.len() - STANDING_MAX) " more stand still: " code { "baton questions" } } }
    };
    Ok(frame.page(Tab::ForYou, "For you", &[], &body))
}

/// Danger and escalations first, then by the task's priority, then the oldest. What is closed keeps its place.
fn sorted<'r>(records: &'r [QuestionRecord], tasks: &BTreeMap<TaskId, Task>) -> Vec<&'r QuestionRecord> {
    let order = |record: &QuestionRecord| -> (bool, Priority, Timestamp, QuestionId) {
        let is_grave = matches!(record.question.kind(), QuestionKind::Danger | QuestionKind::Escalation);
        let task = record.task_id.and_then(|id| tasks.get(&id));
        let priority = task.map_or_else(Priority::default, |task| task.spec().priority);
        (!is_grave, priority, record.asked_at, record.question.id)
    };
    let mut sorted: Vec<&QuestionRecord> = records.iter().collect();
    sorted.sort_by_key(|record| order(record));
    sorted
}

/// Work to review, most urgent first. A loop's question decides about its own subtask.
async fn load_reviews(app: &App) -> Result<Vec<Task>, PageError> {
    let filter = TaskFilter { queue: Some(QueueName::Provisional), ..TaskFilter::default() };
    let page = app.tasks().store.tasks(&filter, None, REVIEWS_MAX).await?;
    let mut reviews = Vec::new();
    for stored in page.items {
        let is_review = review::to_review(&stored.value).is_some();
        if is_review && !Loops::new(app.tasks()).asks_about(&stored.value).await? {
            reviews.push(stored.value);
        }
    }
    reviews.sort_by_key(|task| (task.spec().priority, task.updated_at(), task.id()));
    Ok(reviews)
}

/// `/next`: the changes of the next task to review, or the list. `skip` names tasks that were decided just now.
pub(super) async fn next(State(app): State<App>, mut query: Query) -> PageResult {
    let skip: String = query.take("skip")?.unwrap_or_default();
    query.done()?;
    let skipped: Vec<&str> = skip.split(',').collect();
    let reviews = load_reviews(&app).await?;
    let next = reviews.iter().find(|task| !skipped.contains(&task.id().to_string().as_str()));
    Ok(redirect(&next.map_or_else(|| "/".to_owned(), |task| format!("/tasks/{}/diff", task.id()))))
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

/// The empty list, or the welcome page of an empty store.
async fn render_empty(app: &App) -> Result<Markup, PageError> {
    let any = app.tasks().store.tasks(&TaskFilter::default(), None, 1).await?;
    if !any.items.is_empty() {
        return Ok(empty(
            "Nothing waits for you",
            "Questions, finished work, plans and failures appear here.",
            &[("baton questions --follow", "questions in a terminal")],
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
                li { strong { "Decide." } " Questions and finished work appear here." }
            }
            p.muted { "Just exploring? " code { "baton demo" } " shows everything on a scratch repository." }
        }
    })
}
