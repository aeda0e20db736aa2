//! A question: its card, its page, and the answer form.

use baton_engine::base::error::{Entity, NotFound};
use std::collections::BTreeMap;

use axum::extract::State;
use axum::http::StatusCode;
use baton_core::ask::question_record::{QuestionRecord, QuestionState};
use baton_core::base::id::{QuestionId, TaskId};
use baton_core::base::time::Timestamp;
use baton_core::task::Task;
use maud::{Markup, html};

use crate::api::routes::questions::answer_question;
use crate::http::error::{ApiError, Code};
use crate::pages::frame::form::PageForm;
use crate::pages::frame::key::PageParam;
use crate::pages::frame::layout::{Frame, heading};
use crate::pages::frame::navigation::Tab;
use crate::pages::frame::request::PageRequest;
use crate::pages::frame::response::{PageError, PageResult, redirect};
use crate::pages::tasks_by_id;
use crate::pages::widgets::markdown::markdown;
use crate::pages::widgets::words::{ago, question_badge, time_left};
use crate::state::App;
use crate::state::principal::AuthedApp;

/// Options with a keyboard shortcut.
const OPTION_KEYS_MAX: usize = 9;

/// The tasks of the questions.
pub(super) async fn load_tasks(
    app: &App,
    records: &[QuestionRecord],
) -> Result<BTreeMap<TaskId, Task>, PageError> {
    tasks_by_id::load_tasks(app, records.iter().filter_map(|record| record.task_id)).await
}

/// A question with the form to answer it, or with its outcome.
pub(super) fn card(record: &QuestionRecord, task: Option<&Task>, now: Timestamp, next: &str) -> Markup {
    card_with(record, task, now, next, "")
}

/// The same with a text that was written before.
fn card_with(
    record: &QuestionRecord,
    task: Option<&Task>,
    now: Timestamp,
    next: &str,
    written: &str,
) -> Markup {
    let id = record.question.id;
    let is_pending = record.state == QuestionState::Pending;
    html! {
        article.question.closed[!is_pending] #{ "q-" (id) } data-row data-question=(id) tabindex="-1" aria-labelledby={ "q-" (id) "-text" } {
            header {
                (question_badge(record.question.kind()).chip())
                @match task {
                    Some(task) => a.title href={ "/tasks/" (task.id()) } { (task.spec().title) },
                    None => a.title href={ "/chat/" (record.session_id) } { "Loop of " (record.session_id) },
                }
                span.meta {
                    a href={ "/questions/" (id) } { "asked " (ago(record.asked_at, now)) }
                }
            }
            div.prose.text #{ "q-" (id) "-text" } { (markdown(record.question.text().as_str())) }
            (context(record, task))
            @match &record.state {
                QuestionState::Pending => (form(record, now, next, written)),
                QuestionState::Answered { at, answer, answered_by } => {
                    div.outcome {
                        p { span.sign aria-hidden="true" { "✓" } " Answered by " strong { (answered_by) } " " (ago(*at, now)) }
                        blockquote.prose { (markdown(answer.as_str())) }
                    }
                },
                QuestionState::Withdrawn { at, reason } => {
                    div.outcome {
                        p { span.sign aria-hidden="true" { "⊘" } " Withdrawn " (ago(*at, now)) ": " (reason) }
                    }
                },
            }
        }
    }
}

/// The task and the agent's output, if they add to the question.
fn context(record: &QuestionRecord, task: Option<&Task>) -> Markup {
    let question = record.question.text().as_str().trim();
    let said = task.and_then(|task| task.ledger().output.as_deref()).map(str::trim);
    let said = said.filter(|said| !said.is_empty() && *said != question);
    let asked = task.map(|task| task.spec().description.trim()).filter(|text| !text.is_empty());
    html! {
        @if said.is_some() || asked.is_some() {
            details.context {
                summary { "Context" }
                @if let Some(asked) = asked { h3 { "Task" } div.prose { (markdown(asked)) } }
                @if let Some(said) = said { h3 { "Agent output" } div.prose { (markdown(said)) } }
            }
        }
    }
}

fn form(record: &QuestionRecord, now: Timestamp, next: &str, written: &str) -> Markup {
    let id = record.question.id;
    let draft = &record.question.draft;
    html! {
        form.answer method="post" action={ "/questions/" (id) "/answer" } {
            input type="hidden" name="next" value=(next);
            @if !draft.options.is_empty() {
                div.options role="group" aria-label="Options" {
                    @for (index, option) in draft.options.iter().enumerate() {
                        button.option type="submit" name="option" value=(option) data-option=[key_of(index)] formnovalidate {
                            @if let Some(key) = key_of(index) { kbd { (key) } }
                            (option)
                            @if draft.default.as_ref() == Some(option) { span.muted { " (default)" } }
                        }
                    }
                }
            }
            label.unseen for={ "q-" (id) "-answer" } { "Your answer" }
            textarea #{ "q-" (id) "-answer" } name="answer" rows="2" required data-draft=(id) placeholder=(placeholder(record)) { (written) }
            div.actions {
                button.primary type="submit" { "Answer " kbd { "Ctrl ⏎" } }
                button.js type="button" data-do="voice" hidden { "Dictate" }
                @if let Some(expires) = draft.expires_at { span.muted { "expires in " (time_left(expires, now)) } }
            }
        }
    }
}

fn key_of(index: usize) -> Option<usize> {
    (index < OPTION_KEYS_MAX).then_some(index + 1)
}

fn placeholder(record: &QuestionRecord) -> &'static str {
    if record.question.draft.options.is_empty() { "Your answer…" } else { "Or write your own answer…" }
}

pub(super) async fn show(
    State(app): State<App>,
    PageParam(id): PageParam<QuestionId>,
    request: PageRequest,
) -> PageResult {
    let frame = Frame::load(&app, request).await?;
    let record = find_record(&app, id).await?;
    render_page(&app, &frame, &record, None).await
}

async fn find_record(app: &App, id: QuestionId) -> Result<QuestionRecord, PageError> {
    let missing = || NotFound::new(Entity::Question, id);
    Ok(app.tasks().question(id).await?.ok_or_else(missing)?)
}

/// An answer that was not taken.
struct RefusedAnswer {
    text: String,
    next: String,
    error: ApiError,
}

/// What was written is never lost: in the form if the question is still open, else above it.
async fn render_page(
    app: &App,
    frame: &Frame,
    record: &QuestionRecord,
    refused: Option<&RefusedAnswer>,
) -> PageResult {
    let status = refused.map_or(StatusCode::OK, |refused| refused.error.error.status());
    let is_late = refused.is_some_and(|refused| refused.error.error == Code::AlreadyAnswered);
    let (written, next) = refused.map_or(("", "/"), |refused| (refused.text.as_str(), refused.next.as_str()));
    let tasks = load_tasks(app, std::slice::from_ref(record)).await?;
    let task = record.task_id.and_then(|id| tasks.get(&id));
    let body = html! {
        (heading("Question", &html! {}))
        @if is_late {
            div.alert role="alert" {
                p { "This question was already answered. Your answer was not used." }
                p.muted { "You wrote: " (written) }
            }
        } @else if let Some(refused) = refused {
            div.alert role="alert" {
                p { (refused.error.message) }
                p.muted { (refused.error.hint) }
            }
        }
        (card_with(record, task, frame.now, next, written))
        p { a href="/" { "← For you" } }
    };
    let about = [record.question.id.to_string()];
    Ok(frame.page_with(status, Tab::ForYou, "Question", &about, &body))
}

/// The clicked option, or the text.
pub(super) async fn answer(
    app: AuthedApp,
    PageParam(id): PageParam<QuestionId>,
    request: PageRequest,
    form: PageForm,
) -> PageResult {
    let field = if form.has("option") { "option" } else { "answer" };
    let given = match form.non_blank(field) {
        Ok(text) => answer_question(&app, id, text).await.map(|_| ()),
        Err(error) => Err(error),
    };
    match given {
        Ok(()) => Ok(redirect(&form.next("/"))),
        Err(error) if error.error.status().is_client_error() => {
            let frame = Frame::load(&app, request).await?;
            let record = find_record(&app, id).await?;
            let refused = RefusedAnswer { text: form.text(field).to_owned(), next: form.next("/"), error };
            render_page(&app, &frame, &record, Some(&refused)).await
        }
        Err(error) => Err(error.into()),
    }
}
