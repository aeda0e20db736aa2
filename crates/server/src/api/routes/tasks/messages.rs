//! `/api/tasks/{id}/messages`: what people say to the agent of a task.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use baton_core::base::id::TaskId;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::api::route::{Recall, Route};
use crate::api::views::message::TaskMessageView;
use crate::api::views::page::list_view;
use crate::http::error::Result;
use crate::http::input::{JsonBody, NoQuery, PathParam, Query, non_blank};
use crate::schema::words;
use crate::state::App;
use crate::state::principal::AuthedApp;

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::post("/api/tasks/{id}/messages", "say_to_task", say)
            .takes::<TaskMessageBody>()
            .accepted()
            .once(Recall::TaskMessage)
            .returns::<TaskMessageView>(
                "Says something to the task's agent, which reads it at its next pause, or when the task is next attempted",
            ),
        Route::get("/api/tasks/{id}/messages", "list_task_messages", list)
            .query("limit", "Limit", "Page size")
            .query("cursor", "Seq", "Number of the last message seen")
            .returns_named("What people said to the task's agent, oldest first", "TaskMessagePage"),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "TaskMessage")]
#[serde(deny_unknown_fields)]
struct TaskMessageBody {
    #[schemars(with = "words::NonBlank")]
    content: String,
}

async fn say(
    app: AuthedApp,
    PathParam(id): PathParam<TaskId>,
    _: NoQuery,
    JsonBody(body): JsonBody<TaskMessageBody>,
) -> Result<(StatusCode, Json<TaskMessageView>)> {
    let text = non_blank(&body.content, "content")?;
    let message = app.tasks().say(id, &text, &app.actor()).await?;
    let task = app.tasks().task(id).await?.value;
    Ok((StatusCode::ACCEPTED, Json(TaskMessageView::new(&task, &message))))
}

async fn list(
    State(app): State<App>,
    PathParam(id): PathParam<TaskId>,
    mut query: Query,
) -> Result<Json<Map<String, Value>>> {
    let limit = query.limit()?;
    let after: u32 = query.take("cursor")?.unwrap_or_default();
    query.done()?;
    let task = app.tasks().task(id).await?.value;
    let mut messages = app.tasks().messages_to(&task).await?;
    messages.retain(|message| message.number > after);
    let has_more = messages.len() > limit as usize;
    messages.truncate(limit as usize);
    let next = messages.last().filter(|_| has_more).map(|last| last.number.to_string());
    let views: Vec<TaskMessageView> =
        messages.iter().map(|message| TaskMessageView::new(&task, message)).collect();
    list_view("messages", &views, next.as_deref()).map(Json)
}
