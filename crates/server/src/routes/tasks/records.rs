//! What is kept of a task: its events, its agent's log, its changes.

use std::path::{Path, PathBuf};

use axum::Json;
use axum::extract::State;
use baton_core::id::{AttemptId, TaskId};
use baton_core::redact::redact;
use baton_engine::Store;
use baton_engine::runner::LOG_FILE;
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::io::{AsyncReadExt, AsyncSeekExt};

use crate::error::Answer;
use crate::input::{Key, Query};
use crate::route::Route;
use crate::state::App;
use crate::views::page::listed;

/// As much of a log as one answer holds; its end is where the trouble is.
const LOG_BYTES_MAX: u64 = 1024 * 1024;
/// As much of a diff as one answer holds.
const DIFF_BYTES_MAX: usize = 1024 * 1024;

pub fn routes<S: Store>() -> Vec<Route<S>> {
    vec![
        Route::get("/api/tasks/{id}/events", "list_task_events", events::<S>)
            .query("limit", "Limit", "How many at most")
            .query("cursor", "Seq", "The number of the last event seen")
            .gives("The history of one task", "EventPage"),
        Route::get("/api/tasks/{id}/log", "get_task_log", log::<S>)
            .gives("What the agent of the last attempt wrote", "TaskLog"),
        Route::get("/api/tasks/{id}/diff", "get_task_diff", diff::<S>)
            .gives("What the task changed, against the branch it goes into", "TaskDiff"),
    ]
}

#[derive(Serialize)]
struct TaskLog {
    task_id: TaskId,
    /// None when no attempt has left a log on this machine.
    attempt_id: Option<AttemptId>,
    text: String,
    is_cut: bool,
}

#[derive(Serialize)]
struct TaskDiff {
    task_id: TaskId,
    text: String,
    is_cut: bool,
}

async fn events<S: Store>(
    State(app): State<App<S>>,
    Key(id): Key<TaskId>,
    mut query: Query,
) -> Answer<Json<Map<String, Value>>> {
    let limit = query.limit()?;
    let after: u64 = query.take("cursor")?.unwrap_or_default();
    query.done()?;
    app.desk().task(id).await?;
    let events = app.desk().store.task_events(id, after, limit).await?;
    let is_full = events.len() == limit as usize;
    let next = events.last().filter(|_| is_full).map(|last| last.seq.to_string());
    listed("events", &events, next.as_deref()).map(Json)
}

async fn log<S: Store>(
    State(app): State<App<S>>,
    Key(id): Key<TaskId>,
    query: Query,
) -> Answer<Json<TaskLog>> {
    query.done()?;
    app.desk().task(id).await?;
    for record in app.desk().store.attempts(id).await?.iter().rev() {
        let attempt = record.attempt.id;
        // An attempt that ran elsewhere, or never got as far, has none.
        let Some(path) = logs(&app.shop.attempt_folder(attempt)).await.pop() else { continue };
        if let Ok((text, is_cut)) = end_of(&path).await {
            return Ok(Json(TaskLog { task_id: id, attempt_id: Some(attempt), text, is_cut }));
        }
    }
    Ok(Json(TaskLog { task_id: id, attempt_id: None, text: String::new(), is_cut: false }))
}

/// An attempt has a log for each time an agent was put to work in it: `agent.log`, `agent.2.log` and so on.
pub async fn logs(folder: &Path) -> Vec<PathBuf> {
    let Some((stem, extension)) = LOG_FILE.split_once('.') else { return Vec::new() };
    let Ok(mut entries) = tokio::fs::read_dir(folder).await else { return Vec::new() };
    let mut names = Vec::new();
    while let Ok(Some(entry)) = entries.next_entry().await {
        let Ok(name) = entry.file_name().into_string() else { continue };
        if name.starts_with(stem) && name.ends_with(extension) {
            names.push(name);
        }
    }
    // The first has no number, and the tenth comes after the ninth.
    names.sort_by_key(|name| (name.len(), name.clone()));
    names.into_iter().map(|name| folder.join(name)).collect()
}

/// The end of a file, from the beginning of a line on.
async fn end_of(path: &Path) -> std::io::Result<(String, bool)> {
    let mut file = tokio::fs::File::open(path).await?;
    let len = file.metadata().await?.len();
    let skipped = len.saturating_sub(LOG_BYTES_MAX);
    file.seek(std::io::SeekFrom::Start(skipped)).await?;
    let mut bytes = Vec::new();
    file.take(LOG_BYTES_MAX).read_to_end(&mut bytes).await?;
    let text = String::from_utf8_lossy(&bytes);
    let whole_lines = if skipped == 0 { &*text } else { text.split_once('\n').map_or("", |(_, rest)| rest) };
    Ok((whole_lines.to_owned(), skipped > 0))
}

async fn diff<S: Store>(
    State(app): State<App<S>>,
    Key(id): Key<TaskId>,
    query: Query,
) -> Answer<Json<TaskDiff>> {
    query.done()?;
    let task = app.desk().task(id).await?.value;
    let mut text = redact(&app.shop.diff(&task).await?).into_owned();
    let is_cut = text.len() > DIFF_BYTES_MAX;
    if is_cut {
        let end = (0..=DIFF_BYTES_MAX).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
    }
    Ok(Json(TaskDiff { task_id: id, text, is_cut }))
}
