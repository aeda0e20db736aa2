//! What is kept of a task: its events, its agent's log, its changes.

use axum::Json;
use axum::extract::State;
use baton_core::id::{AttemptId, TaskId};
use baton_core::redact::redact;
use baton_engine::attempt_log::{AttemptLog, Piece};
use baton_engine::log_relay::{PATIENCE, look_elsewhere};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::api::route::Route;
use crate::api::views::page::list_view;
use crate::http::error::Result;
use crate::http::input::{PathParam, Query};
use crate::state::App;

pub fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/tasks/{id}/events", "list_task_events", events)
            .query("limit", "Limit", "How many at most")
            .query("cursor", "Seq", "The number of the last event seen")
            .returns("The history of one task", "EventPage"),
        Route::get("/api/tasks/{id}/log", "get_task_log", log)
            .query("offset", "Seq", "Read on from here; without it the end of the log")
            .returns("What the agent of the last attempt wrote", "TaskLog"),
        Route::get("/api/tasks/{id}/diff", "get_task_diff", diff)
            .query("offset", "Seq", "Read on from here; without it from the beginning")
            .returns("What the task changed, against the branch it goes into", "TaskDiff"),
    ]
}

#[derive(Serialize)]
struct TaskLog {
    task_id: TaskId,
    /// None when no attempt has left a log that can be had now.
    attempt_id: Option<AttemptId>,
    /// Which machine has it, where it is not this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    machine: Option<String>,
    #[serde(flatten)]
    piece: Piece,
}

#[derive(Serialize)]
struct TaskDiff {
    task_id: TaskId,
    #[serde(flatten)]
    piece: Piece,
}

async fn events(
    State(app): State<App>,
    PathParam(id): PathParam<TaskId>,
    mut query: Query,
) -> Result<Json<Map<String, Value>>> {
    let limit = query.limit()?;
    let after: u64 = query.take("cursor")?.unwrap_or_default();
    query.done()?;
    app.desk().task(id).await?;
    let events = app.desk().store.task_events(id, after, limit).await?;
    let is_full = events.len() == limit as usize;
    let next = events.last().filter(|_| is_full).map(|last| last.seq.to_string());
    list_view("events", &events, next.as_deref()).map(Json)
}

async fn log(
    State(app): State<App>,
    PathParam(id): PathParam<TaskId>,
    mut query: Query,
) -> Result<Json<TaskLog>> {
    let offset = query.take("offset")?;
    query.done()?;
    app.desk().task(id).await?;
    for (age, record) in app.desk().store.attempts(id).await?.iter().rev().enumerate() {
        let attempt = record.attempt.id;
        // An attempt that ran elsewhere, or never got as far, has none here.
        let found = AttemptLog::find(&app.shop.attempt_folder(attempt)).await;
        if let Ok(Some(log)) = found
            && let Ok(piece) = log.piece(offset).await
        {
            return Ok(Json(TaskLog { task_id: id, attempt_id: Some(attempt), machine: None, piece }));
        }
        // Of the last one only: it is the one that is asked for, and others are not to be kept waiting.
        if age == 0
            && let Some(seen) = look_elsewhere(&app.shop, attempt, offset, PATIENCE, false).await?
        {
            let piece = Piece::of_log(seen.bytes, seen.from, seen.log_len, offset.is_none());
            let machine = Some(seen.machine);
            return Ok(Json(TaskLog { task_id: id, attempt_id: Some(attempt), machine, piece }));
        }
    }
    Ok(Json(TaskLog { task_id: id, attempt_id: None, machine: None, piece: Piece::default() }))
}

async fn diff(
    State(app): State<App>,
    PathParam(id): PathParam<TaskId>,
    mut query: Query,
) -> Result<Json<TaskDiff>> {
    let offset: u64 = query.take("offset")?.unwrap_or_default();
    query.done()?;
    let task = app.desk().task(id).await?.value;
    let text = redact(&app.shop.diff(&task).await?).into_owned();
    Ok(Json(TaskDiff { task_id: id, piece: Piece::of_text(&text, offset) }))
}
