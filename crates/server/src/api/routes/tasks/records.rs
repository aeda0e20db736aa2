//! A task's records: events, agent log, diff.

use axum::Json;
use axum::extract::State;
use baton_core::base::id::{AttemptId, TaskId};
use baton_core::base::redact::redact;
use baton_engine::cluster::attempt_log::{AttemptLog, Piece};
use baton_engine::cluster::log_relay::{PATIENCE, look_elsewhere};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::api::route::Route;
use crate::api::views::page::list_view;
use crate::http::error::Result;
use crate::http::input::{PathParam, Query};
use crate::state::App;

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/tasks/{id}/events", "list_task_events", events)
            .query("limit", "Limit", "Page size")
            .query("cursor", "Seq", "Sequence number of the last event seen")
            .returns_named("The events of a task", "EventPage"),
        Route::get("/api/tasks/{id}/log", "get_task_log", log)
            .query("offset", "Seq", "Byte offset; by default the end of the log")
            .returns_named("The log of the last attempt", "TaskLog"),
        Route::get("/api/tasks/{id}/diff", "get_task_diff", diff)
            .query("offset", "Seq", "Byte offset; by default 0")
            .returns_named("The task's changes against its target branch", "TaskDiff"),
    ]
}

#[derive(Serialize)]
struct TaskLog {
    task_id: TaskId,
    /// None if no attempt's log is available.
    attempt_id: Option<AttemptId>,
    /// The machine that has the log, if it is another one.
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
    app.tasks().task(id).await?;
    let events = app.tasks().store.task_events(id, after, limit).await?;
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
    app.tasks().task(id).await?;
    for (age, record) in app.tasks().store.attempts(id).await?.iter().rev().enumerate() {
        let attempt = record.attempt.id;
        // An attempt that ran elsewhere or failed early has no log here.
        let found = AttemptLog::find(&app.workspace.place.attempt_folder(attempt)).await;
        if let Ok(Some(log)) = found
            && let Ok(piece) = log.piece(offset).await
        {
            return Ok(Json(TaskLog { task_id: id, attempt_id: Some(attempt), machine: None, piece }));
        }
        // Ask other machines only for the last attempt's log, to bound the wait.
        if age == 0
            && let Some(seen) =
                look_elsewhere(&app.workspace.tasks.store, attempt, offset, PATIENCE, false).await?
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
    let task = app.tasks().task(id).await?.value;
    let text = redact(&app.workspace.projects.diff(&task).await?).into_owned();
    Ok(Json(TaskDiff { task_id: id, piece: Piece::of_text(&text, offset) }))
}
