//! The questions tab: all questions of the task.

use axum::extract::State;
use baton_core::ask::question_record::QuestionRecord;
use baton_core::base::id::TaskId;
use baton_engine::query::QuestionFilter;
use maud::html;

use crate::pages::frame::key::PageParam;
use crate::pages::frame::layout::empty;
use crate::pages::frame::request::PageRequest;
use crate::pages::frame::response::{PageError, PageResult};
use crate::pages::question;
use crate::pages::task::{TaskPage, TaskTab};
use crate::state::App;

/// Questions shown per task.
const QUESTIONS_MAX: u32 = 100;

pub(crate) async fn show(
    State(app): State<App>,
    PageParam(id): PageParam<TaskId>,
    request: PageRequest,
) -> PageResult {
    let seen = TaskPage::load(&app, id, request).await?;
    let (questions, next) = (load_questions(&app, id).await?, format!("/tasks/{id}/questions"));
    let body = html! {
        @if questions.is_empty() {
            (empty("No questions", "Questions about this task appear here with their answers.", &[]))
        }
        @for record in &questions { (question::card(record, Some(&seen.task), seen.frame.now, &next)) }
    };
    Ok(seen.page(TaskTab::Questions, &[], &body))
}

pub(crate) async fn load_questions(app: &App, id: TaskId) -> Result<Vec<QuestionRecord>, PageError> {
    let filter = QuestionFilter { task: Some(id), ..QuestionFilter::default() };
    let questions = app.tasks().store.questions(&filter, None, QUESTIONS_MAX).await?.items;
    Ok(questions.into_iter().map(|stored| stored.value).collect())
}
