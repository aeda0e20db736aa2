//! `/`: every pending question, oldest first. What was answered elsewhere while the page was open stays, closed.

use axum::extract::State;
use baton_core::ask::question_record::{QuestionRecord, QuestionState};
use baton_core::task::state::QueueName;
use baton_engine::query::TaskFilter;
use maud::{Markup, html};

use super::answer::{PageAnswer, PageError};
use super::card;
use super::layout::{Frame, Tab, empty, heading};
use super::question::{self, tasks_of};
use super::visit::Visit;
use crate::state::App;

/// Questions on one page. Whoever has more waiting answers these first.
const SHOWN_MAX: u32 = 100;
/// Finished work named under the questions.
const UNACCEPTED_MAX: u32 = 8;

pub async fn show(State(app): State<App>, visit: Visit) -> PageAnswer {
    let frame = Frame::load(&app, visit).await?;
    let questions = shown(&app, &frame).await?;
    let tasks = tasks_of(&app, &questions).await?;
    let pending = questions.iter().filter(|record| record.state == QuestionState::Pending).count();
    let body = html! {
        (heading("Inbox", &html! {
            @if pending >= SHOWN_MAX as usize { span.muted { "the oldest " (SHOWN_MAX) " of the questions that wait" } }
            @else if pending > 0 { span.muted { (pending) @if pending == 1 { " question waits" } @else { " questions wait" } } }
        }))
        @if questions.is_empty() { (nothing(&app).await?) }
        div.questions #questions data-filter {
            @for record in &questions {
                (question::card(record, record.task_id.and_then(|id| tasks.get(&id)), frame.now, "/"))
            }
        }
        (unaccepted(&app, &frame).await?)
    };
    Ok(frame.page(Tab::Inbox, "Inbox", &[], &body))
}

/// The pending ones, and those the page shows that are pending no more.
async fn shown(app: &App, frame: &Frame) -> Result<Vec<QuestionRecord>, PageError> {
    let mut questions = app.tasks().pending_questions(SHOWN_MAX).await?;
    for id in &frame.visit().shown {
        if questions.iter().all(|record| record.question.id != *id)
            && let Some(record) = app.tasks().question(*id).await?
        {
            questions.push(record);
        }
    }
    questions.sort_by_key(|record| (record.asked_at, record.question.id));
    Ok(questions)
}

/// Nothing waits, or nothing has begun yet.
async fn nothing(app: &App) -> Result<Markup, PageError> {
    let any = app.tasks().store.tasks(&TaskFilter::default(), None, 1).await?;
    if !any.items.is_empty() {
        return Ok(empty(
            "Nothing waits for you",
            "When an agent needs a decision, it is asked here, and the count in the tab says so.",
            &[("baton questions --follow", "the same in a terminal")],
        ));
    }
    let has_agent = !app.shop.settings.agents.is_empty();
    Ok(html! {
        div.empty.welcome {
            h2 { "Welcome to Baton" }
            p { "Agents work on tasks, each in a worktree of its own; you decide what only a person can. Three steps:" }
            ol {
                li.is-done[has_agent] {
                    strong { "An agent." } " "
                    @if has_agent { "You have one. " } @else { "Name one in " code { ".agent/baton.toml" } ". " }
                    code { "baton doctor" } " says which work here."
                }
                li {
                    strong { "A task." } " " a href="/tasks/new" { "Write one" } ", say it in the " a href="/chat" { "chat" } ", or type "
                    code { "baton task add \"Fix the typo in the README\"" } "."
                }
                li { strong { "Your word." } " Questions come here; finished work waits on the " a href="/board" { "board" } " to be accepted." }
            }
            p.muted { "Only looking? " code { "baton demo" } " shows everything on a scratch repository." }
        }
    })
}

/// Below the questions: work that waits for a yes.
async fn unaccepted(app: &App, frame: &Frame) -> Result<Markup, PageError> {
    let filter = TaskFilter { queue: Some(QueueName::Provisional), ..TaskFilter::default() };
    let waiting = app.tasks().store.tasks(&filter, None, UNACCEPTED_MAX).await?;
    Ok(html! {
        @if !waiting.items.is_empty() {
            section.also aria-labelledby="also" {
                h2 #also { "To accept" }
                div.cards {
                    @for task in &waiting.items { (card::card(&task.value, None, &app.shop.running, frame.now, None)) }
                }
                @if waiting.next.is_some() { p { a href="/board" { "All of them are on the board" } } }
            }
        }
    })
}
