//! The questions of a task.

use baton_core::ask::question_record::QuestionRecord;
use baton_core::base::id::TaskId;
use baton_engine::query::QuestionFilter;

use crate::pages::frame::response::PageError;
use crate::state::App;

/// Questions shown per task.
const QUESTIONS_MAX: u32 = 100;

pub(crate) async fn load_questions(app: &App, id: TaskId) -> Result<Vec<QuestionRecord>, PageError> {
    let filter = QuestionFilter { task: Some(id), ..QuestionFilter::default() };
    let questions = app.tasks().store.questions(&filter, None, QUESTIONS_MAX).await?.items;
    Ok(questions.into_iter().map(|stored| stored.value).collect())
}
