//! `/api/questions`: the inbox.

use axum::Json;
use axum::extract::State;
use baton_core::ask::question_record::{QuestionRecord, QuestionState};
use baton_core::ask::refusal::AnswerRefusal;
use baton_core::base::id::{QuestionId, TaskId};
use baton_core::base::text::NonBlank;
use baton_core::phase::refusal::LoopRefusal;
use baton_core::task::Task;
use baton_core::task::state::{QueueName, TaskStatus};
use baton_core::transition::refusal::CommandRefusal;
use baton_engine::base::error::{Entity, NotFound};
use baton_engine::query::QuestionFilter;
use baton_engine::tasks::error::TaskError;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::Answer;
use crate::input::{Body, Key, Query, said};
use crate::route::Route;
use crate::state::App;
use crate::views::page::page;
use crate::visitor::Visited;

pub fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/questions", "list_questions", list)
            .query("state", "QuestionState", "pending or closed; without it both")
            .query("session_id", "SessionId", "Only questions of this session")
            .query("task_id", "TaskId", "Only questions of this task")
            .paged("QuestionCursor")
            .gives("Questions, oldest first", "QuestionPage"),
        Route::get("/api/questions/{id}", "get_question", show)
            .gives("One question, and what became of it", "QuestionRecord"),
        Route::post("/api/questions/{id}/answer", "answer_question", answer)
            .takes("NewAnswer")
            .gives("Answers a question, once", "AnswerGiven")
            .may_conflict(),
    ]
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Wanted {
    Pending,
    Closed,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewAnswer {
    answer: String,
}

#[derive(Serialize)]
struct AnswerGiven {
    question_id: QuestionId,
    /// None where the loop asked, and not a task.
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<TaskId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    new_status: Option<TaskStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    queue: Option<QueueName>,
}

async fn list(State(app): State<App>, mut query: Query) -> Answer<Json<Map<String, Value>>> {
    let filter = QuestionFilter {
        is_pending: query.word("state")?.map(|state| matches!(state, Wanted::Pending)),
        task: query.take("task_id")?,
        session: query.take("session_id")?,
        newest_first: false,
    };
    let paging = query.page()?;
    query.done()?;
    let questions = app.tasks().store.questions(&filter, paging.cursor, paging.limit).await?;
    page("questions", &questions, |stored| stored.value.clone()).map(Json)
}

async fn show(
    State(app): State<App>,
    Key(id): Key<QuestionId>,
    query: Query,
) -> Answer<Json<QuestionRecord>> {
    query.done()?;
    let missing = || NotFound::new(Entity::Question, id);
    Ok(Json(app.tasks().question(id).await?.ok_or_else(missing)?))
}

async fn answer(
    app: Visited,
    Key(id): Key<QuestionId>,
    query: Query,
    Body(body): Body<NewAnswer>,
) -> Answer<Json<AnswerGiven>> {
    query.done()?;
    let text = said(&body.answer, "answer")?;
    let task = give(&app, id, text).await?;
    let task = task.as_ref();
    Ok(Json(AnswerGiven {
        question_id: id,
        task_id: task.map(Task::id),
        new_status: task.map(|task| task.state().status()),
        queue: task.map(|task| task.state().queue()),
    }))
}

/// The first answer wins; whoever comes later is told who was first, also when both came at once.
pub async fn give(app: &Visited, id: QuestionId, text: NonBlank) -> Answer<Option<Task>> {
    let given = app.tasks().answer(id, text, app.answered_by(), app.actor()).await;
    if let Err(error) = &given
        && (error.is::<CommandRefusal>() || error.is::<AnswerRefusal>() || error.is::<LoopRefusal>())
        && let Some(record) = app.tasks().store.question(id).await?
        && let QuestionState::Answered { answered_by, .. } = record.value.state
    {
        return Err(TaskError::AlreadyAnswered { by: answered_by.to_string() }.into());
    }
    Ok(given?)
}
