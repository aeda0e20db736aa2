//! `/api/questions`: the inbox.

use axum::Json;
use axum::extract::State;
use baton_core::ask::question_record::{QuestionRecord, QuestionState};
use baton_core::base::id::{QuestionId, TaskId};
use baton_core::base::text::NonBlank;
use baton_core::task::Task;
use baton_core::task::state::{QueueName, TaskStatus};
use baton_engine::Store;
use baton_engine::error::EngineError;
use baton_engine::query::QuestionFilter;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::Answer;
use crate::input::{Body, Key, Query, said};
use crate::route::Route;
use crate::state::App;
use crate::views::page::page;
use crate::visitor::Visited;

pub fn routes<S: Store>() -> Vec<Route<S>> {
    vec![
        Route::get("/api/questions", "list_questions", list::<S>)
            .query("state", "QuestionState", "pending or closed; without it both")
            .query("session_id", "SessionId", "Only questions of this session")
            .query("task_id", "TaskId", "Only questions of this task")
            .paged("QuestionCursor")
            .gives("Questions, oldest first", "QuestionPage"),
        Route::get("/api/questions/{id}", "get_question", show::<S>)
            .gives("One question, and what became of it", "QuestionRecord"),
        Route::post("/api/questions/{id}/answer", "answer_question", answer::<S>)
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

async fn list<S: Store>(State(app): State<App<S>>, mut query: Query) -> Answer<Json<Map<String, Value>>> {
    let filter = QuestionFilter {
        is_pending: query.word("state")?.map(|state| matches!(state, Wanted::Pending)),
        task: query.take("task_id")?,
        session: query.take("session_id")?,
    };
    let paging = query.page()?;
    query.done()?;
    let questions = app.desk().store.questions(&filter, paging.cursor, paging.limit).await?;
    page("questions", &questions, |stored| stored.value.clone()).map(Json)
}

async fn show<S: Store>(
    State(app): State<App<S>>,
    Key(id): Key<QuestionId>,
    query: Query,
) -> Answer<Json<QuestionRecord>> {
    query.done()?;
    let missing = || EngineError::NotFound { kind: "question", key: id.to_string() };
    Ok(Json(app.desk().question(id).await?.ok_or_else(missing)?))
}

async fn answer<S: Store>(
    app: Visited<S>,
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
pub async fn give<S: Store>(app: &Visited<S>, id: QuestionId, text: NonBlank) -> Answer<Option<Task>> {
    let given = app.desk().answer(id, text, app.answered_by(), app.actor()).await;
    if let Err(EngineError::Refused(_) | EngineError::Answer(_) | EngineError::Loop(_)) = &given
        && let Some(record) = app.desk().store.question(id).await?
        && let QuestionState::Answered { answered_by, .. } = record.value.state
    {
        return Err(EngineError::AlreadyAnswered { by: answered_by.to_string() }.into());
    }
    Ok(given?)
}
