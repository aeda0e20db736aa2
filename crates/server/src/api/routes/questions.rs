//! `/api/questions`: what agents ask people.

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
use baton_engine::asking::Answers;
use baton_engine::base::error::{Entity, NotFound};
use baton_engine::query::QuestionFilter;
use baton_engine::tasks::error::TaskError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::api::route::Route;
use crate::api::views::page::page_view;
use crate::http::error::Result;
use crate::http::input::{JsonBody, NoQuery, PathParam, Query, non_blank};
use crate::schema::words;
use crate::state::App;
use crate::state::principal::AuthedApp;

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/questions", "list_questions", list)
            .query("state", "QuestionState", "pending, or closed (also: answered); by default both")
            .query("session_id", "SessionId", "Only questions of this session")
            .query("task_id", "TaskId", "Only questions of this task")
            .paged("QuestionCursor")
            .returns_named("Questions, oldest first", "QuestionPage"),
        Route::get("/api/questions/{id}", "get_question", show)
            .returns_named("One question and its outcome", "QuestionRecord"),
        Route::post("/api/questions/{id}/answer", "answer_question", answer)
            .takes::<NewAnswer>()
            .returns::<AnswerGiven>("Answers a pending question")
            .may_conflict(),
    ]
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum QuestionStateFilter {
    Pending,
    /// Answered or withdrawn.
    #[serde(alias = "answered")]
    Closed,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewAnswer {
    #[schemars(with = "words::NonBlank")]
    answer: String,
}

#[derive(Serialize, JsonSchema)]
struct AnswerGiven {
    #[schemars(with = "words::QuestionId")]
    question_id: QuestionId,
    /// None if a loop asked, not a task.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<words::TaskId>")]
    task_id: Option<TaskId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<words::Status>")]
    new_status: Option<TaskStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<words::Queue>")]
    queue: Option<QueueName>,
}

async fn list(State(app): State<App>, mut query: Query) -> Result<Json<Map<String, Value>>> {
    let filter = QuestionFilter {
        is_pending: query.word("state")?.map(|state| matches!(state, QuestionStateFilter::Pending)),
        task: query.take("task_id")?,
        session: query.take("session_id")?,
        newest_first: false,
    };
    let paging = query.page()?;
    query.done()?;
    let questions = app.tasks().store.questions(&filter, paging.cursor, paging.limit).await?;
    page_view("questions", &questions, |stored| stored.value.clone()).map(Json)
}

async fn show(
    State(app): State<App>,
    PathParam(id): PathParam<QuestionId>,
    _: NoQuery,
) -> Result<Json<QuestionRecord>> {
    let missing = || NotFound::new(Entity::Question, id);
    Ok(Json(app.tasks().question(id).await?.ok_or_else(missing)?))
}

async fn answer(
    app: AuthedApp,
    PathParam(id): PathParam<QuestionId>,
    _: NoQuery,
    JsonBody(body): JsonBody<NewAnswer>,
) -> Result<Json<AnswerGiven>> {
    let text = non_blank(&body.answer, "answer")?;
    let task = answer_question(&app, id, text).await?;
    let task = task.as_ref();
    Ok(Json(AnswerGiven {
        question_id: id,
        task_id: task.map(Task::id),
        new_status: task.map(|task| task.state().status()),
        queue: task.map(|task| task.state().queue()),
    }))
}

/// The first answer wins; later ones get `ALREADY_ANSWERED` with the name of who was first, even in a race.
pub(crate) async fn answer_question(app: &AuthedApp, id: QuestionId, text: NonBlank) -> Result<Option<Task>> {
    let given = Answers::new(app.tasks()).answer(id, text, app.answered_by(), app.actor()).await;
    if let Err(error) = &given
        && (error.is::<CommandRefusal>() || error.is::<AnswerRefusal>() || error.is::<LoopRefusal>())
        && let Some(record) = app.tasks().store.question(id).await?
        && let QuestionState::Answered { answered_by, .. } = record.value.state
    {
        return Err(TaskError::AlreadyAnswered { by: answered_by.to_string() }.into());
    }
    Ok(given?)
}
