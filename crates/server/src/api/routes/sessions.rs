//! `/api/sessions`: messages and queued answers for a session.

use axum::Json;
use axum::http::StatusCode;
use baton_core::ask::queued_answer::QueuedAnswer;
use baton_core::base::id::{SessionId, TaskId};
use baton_core::records::session::Message;
use baton_engine::asking::AutoResponder;
use baton_engine::runs::SessionRuns;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::route::{Recall, Route};
use crate::http::error::Result;
use crate::http::input::{JsonBody, NoQuery, PathParam, non_blank};
use crate::schema::words;
use crate::state::App;
use crate::state::principal::AuthedApp;

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::post("/api/sessions/{id}/messages", "say", say)
            .once(Recall::SessionMessage)
            .takes::<SessionMessageBody>()
            .created()
            .returns_named("Sends a message to the session's running recipe", "Message")
            .may_conflict(),
        Route::post("/api/sessions/{id}/answers", "queue_answer", queue)
            .once(Recall::QueuedAnswers)
            .takes::<NewQueuedAnswer>()
            .created()
            .returns::<QueuedAnswers>("Queues an answer for a future question")
            .may_conflict(),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "NewSaying")]
#[serde(deny_unknown_fields)]
struct SessionMessageBody {
    #[schemars(with = "words::NonBlank")]
    text: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewQueuedAnswer {
    #[schemars(with = "words::NonBlank")]
    answer: String,
    #[schemars(with = "Option<words::TaskId>")]
    task_id: Option<TaskId>,
}

/// The answers still queued. Empty if the new one was used at once.
#[derive(Serialize, JsonSchema)]
pub(crate) struct QueuedAnswers {
    #[schemars(with = "words::SessionId")]
    session_id: SessionId,
    #[schemars(with = "Vec<words::QueuedAnswer>")]
    queued: Vec<QueuedAnswer>,
}

async fn say(
    app: AuthedApp,
    PathParam(session): PathParam<SessionId>,
    _: NoQuery,
    JsonBody(new): JsonBody<SessionMessageBody>,
) -> Result<(StatusCode, Json<Message>)> {
    let text = non_blank(&new.text, "text")?;
    let message = SessionRuns::new(app.tasks()).say(&session, text, app.actor()).await?;
    Ok((StatusCode::CREATED, Json(message)))
}

async fn queue(
    app: AuthedApp,
    PathParam(session): PathParam<SessionId>,
    _: NoQuery,
    JsonBody(new): JsonBody<NewQueuedAnswer>,
) -> Result<(StatusCode, Json<QueuedAnswers>)> {
    let text = non_blank(&new.answer, "answer")?;
    if let Some(task) = new.task_id {
        app.tasks().task(task).await?;
    }
    let responder = AutoResponder::by_settings(&app.workspace.projects, &app.workspace.settings);
    let answer = QueuedAnswer { text, task: new.task_id };
    responder.queue(&session, answer, app.actor()).await?;
    Ok((StatusCode::CREATED, Json(queued_answers(&app, session).await?)))
}

/// The answers that are queued now.
pub(crate) async fn queued_answers(app: &App, session_id: SessionId) -> Result<QueuedAnswers> {
    let queued = app.tasks().queued_answers(&session_id).await?;
    Ok(QueuedAnswers { session_id, queued })
}
