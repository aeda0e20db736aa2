//! `/`: everything that waits for the person, as one list. Questions answered elsewhere while the page is open stay, closed.

pub(super) mod review;
mod standing;

use std::collections::BTreeMap;
use std::sync::PoisonError;

use axum::extract::State;
use baton_core::ask::question::QuestionKind;
use baton_core::ask::question_record::QuestionRecord;
use baton_core::base::id::{QuestionId, TaskId};
use baton_core::base::priority::Priority;
use baton_core::base::time::Timestamp;
use baton_core::limits::hold::Hold;
use baton_core::task::Task;
use baton_core::task::state::QueueName;
use baton_engine::limits::holds::Holds;
use baton_engine::query::TaskFilter;
use baton_engine::reports::standstill::{Standstill, StandstillReason, load_standstills};
use baton_engine::runs::loops::Loops;
use maud::{Markup, html};

use crate::http::input::Query;
use crate::pages::frame::layout::{Frame, empty, heading};
use crate::pages::frame::navigation::Tab;
use crate::pages::frame::request::PageRequest;
use crate::pages::frame::response::{PageError, PageResult, redirect};
use crate::pages::question::{self, load_tasks};
use crate::state::App;
use crate::state::waiting_count::{CountedWaiting, WaitingCount};

/// Questions per page.
const SHOWN_MAX: u32 = 100;
/// Rows of what stands still.
const STANDING_MAX: usize = 100;
/// Tasks to review, on the page and for the next one to open.
const REVIEWS_MAX: u32 = 100;
/// A count is trusted this long.
const COUNT_MS_MAX: i64 = 10_000;

pub(super) async fn show(State(app): State<App>, request: PageRequest) -> PageResult {
    let mut frame = Frame::load(&app, request).await?;
    let waiting = Waiting::load(&app).await?;
    // The navigation says the same as the page, also if something happened in between.
    frame.waiting = waiting.count();
    let questions = with_closed(&app, &frame, &waiting.questions).await?;
    let tasks = load_tasks(&app, &questions).await?;
    let answered = answered_of(&app, &waiting.reviews).await?;
    let (now, count) = (frame.now, frame.waiting);
    let stands = standing::rows(&waiting.standing, now);
    let body = html! {
        (heading("For you", &html! {
            @if count.total > 0 { span.muted #waits { (count) @if count.total == 1 { " thing waits for you" } @else { " things wait for you" } } }
            a.button href="/tasks/new" data-sheet { "New task" }
        }))
        @if count.total == 0 && questions.is_empty() { (render_empty(&app).await?) }
        div.waiting #questions data-filter {
            @for record in sorted(&questions, &tasks) {
                (question::card(record, record.task_id.and_then(|id| tasks.get(&id)), now, "/"))
            }
            @for task in &waiting.reviews { @if let Some(work) = review::to_review(task) { (review::row(task, work, &answered, now)) } }
            @for row in stands.iter().take(STANDING_MAX) { (row) }
            @for hold in &waiting.holds { (standing::hold_row(hold, now)) }
        }
        @if count.is_more { p.muted { "Only the oldest " (SHOWN_MAX) " of each kind are shown." } }
        @if stands.len() > STANDING_MAX { p.muted { (stands.len() - STANDING_MAX) " more wait for you: " code { "baton questions" } } }
    };
    Ok(frame.page(Tab::ForYou, "For you", &[], &body))
}

/// Everything that waits for a person.
struct Waiting {
    questions: Vec<QuestionRecord>,
    reviews: Vec<Task>,
    standing: Vec<Standstill>,
    holds: Vec<Hold>,
}

impl Waiting {
    async fn load(app: &App) -> Result<Self, PageError> {
        let mut standing = load_standstills(&app.workspace.projects, &app.workspace.landing).await?;
        // Each has a row among the reviews.
        standing.retain(|one| one.reason != StandstillReason::NoProgress);
        Ok(Self {
            questions: app.tasks().pending_questions(SHOWN_MAX).await?,
            reviews: load_reviews(app).await?,
            standing,
            holds: Holds::new(app.tasks()).active().await?,
        })
    }

    fn count(&self) -> WaitingCount {
        let rows =
            [self.questions.len(), self.reviews.len(), standing::count(&self.standing), self.holds.len()];
        let is_more =
            self.questions.len() >= SHOWN_MAX as usize || self.reviews.len() >= REVIEWS_MAX as usize;
        WaitingCount { total: rows.iter().sum::<usize>() as u64, is_more }
    }
}

/// The count at an event. It is counted once for all pages that include the same events, and again after a while: a hold
/// ends without an event.
pub(crate) async fn count_waiting(app: &App, seq: u64, now: Timestamp) -> Result<WaitingCount, PageError> {
    let known = app.waiting.lock().unwrap_or_else(PoisonError::into_inner).to_owned();
    if let Some(known) = known.filter(|known| known.seq == seq && now.ms_since(known.at) < COUNT_MS_MAX) {
        return Ok(known.count);
    }
    let count = Waiting::load(app).await?.count();
    *app.waiting.lock().unwrap_or_else(PoisonError::into_inner) =
        Some(CountedWaiting { seq, at: now, count });
    Ok(count)
}

/// The questions of tasks to review that are settled.
async fn answered_of(app: &App, reviews: &[Task]) -> Result<Vec<QuestionRecord>, PageError> {
    let ids: Vec<TaskId> = reviews.iter().map(Task::id).collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let found = app.tasks().store.questions_of_many(&ids, Some(false)).await?;
    Ok(found.into_iter().map(|stored| stored.value).collect())
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
async fn with_closed(
    app: &App,
    frame: &Frame,
    pending: &[QuestionRecord],
) -> Result<Vec<QuestionRecord>, PageError> {
    let mut questions = pending.to_vec();
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
