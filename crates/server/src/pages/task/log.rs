//! The log of an attempt: its tail in the page; the script loads all of it and follows it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use baton_core::base::id::{AttemptId, TaskId};
use baton_core::task::attempt_record::AttemptRecord;
use baton_engine::cluster::attempt_log::AttemptLog;
use baton_engine::cluster::log_relay::{PATIENCE, look_elsewhere};
use baton_engine::services::workspace::Workspace;
use maud::{Markup, html};
use tokio::fs::File;
use tokio::io::{AsyncReadExt, AsyncSeekExt};
use tokio::time::{Instant, sleep};

use crate::http::error::{ApiError, Result};
use crate::http::input::Query;
use crate::pages::frame::key::PageParam;
use crate::pages::frame::layout::empty;
use crate::pages::frame::request::PageRequest;
use crate::pages::frame::response::{PageError, PageResult};
use crate::pages::task::{TaskPage, TaskTab};
use crate::pages::widgets::ansi::strip_ansi;
use crate::state::App;

/// Bytes per response.
const PIECE_BYTES_MAX: u64 = 1024 * 1024;
/// Bytes of the tail in the page itself, for browsers without scripts.
const TAIL_BYTES_MAX: u64 = 64 * 1024;
/// How long a page that shows other things, too, waits for another machine to send a log.
const PATIENCE_FOR_PART: Duration = Duration::from_secs(1);
/// Long-poll timeout.
const WAIT_MAX: Duration = Duration::from_secs(20);
/// How often a followed file is polled.
const LOOK_EVERY: Duration = Duration::from_millis(200);

pub(crate) async fn show(
    State(app): State<App>,
    PageParam(id): PageParam<TaskId>,
    request: PageRequest,
    mut query: Query,
) -> PageResult {
    let wanted: Option<AttemptId> = query.take("attempt")?;
    query.done()?;
    let seen = TaskPage::load(&app, id, request).await?;
    let attempts = app.tasks().store.attempts(id).await?;
    let chosen = wanted.or_else(|| attempts.last().map(|record| record.attempt.id));
    let body = match chosen {
        None => empty(
            "No log yet",
            "The log appears when an agent starts.",
            &[(format!("baton task log {id}").as_str(), "the same in a terminal")],
        ),
        Some(attempt) => {
            let end = end_of(&app.workspace, attempt, PATIENCE).await?;
            html! {
                (choice(id, "log", &attempts, attempt))
                (viewer(id, attempt, is_live(&attempts, attempt), &end))
            }
        }
    };
    Ok(seen.page(TaskTab::Activity, &[], &body))
}

fn is_live(attempts: &[AttemptRecord], attempt: AttemptId) -> bool {
    attempts.iter().any(|record| record.attempt.id == attempt && record.closing.is_none())
}

/// The attempts of a task, each a link to the same page.
pub(crate) fn choice(task: TaskId, page: &str, attempts: &[AttemptRecord], chosen: AttemptId) -> Markup {
    html! {
        @if attempts.len() > 1 {
            p.attempts {
                "Attempt "
                @for record in attempts {
                    @let attempt = record.attempt.id;
                    a href={ "/tasks/" (task) "/" (page) "?attempt=" (attempt) } aria-current=[(attempt == chosen).then_some("true")] { (record.attempt.number) } " "
                }
            }
        }
    }
}

/// The tail of a log, from the local file or from the machine that has it.
async fn end_of(workspace: &Workspace, attempt: AttemptId, patience: Duration) -> Result<String, PageError> {
    if let Some(path) = AttemptLog::files(&workspace.place.attempt_folder(attempt)).await.pop() {
        return Ok(tail(&path, TAIL_BYTES_MAX).await);
    }
    let seen = look_elsewhere(&workspace.tasks.store, attempt, None, patience, false).await?;
    let bytes = seen.map(|seen| seen.bytes).unwrap_or_default();
    let from = bytes.len().saturating_sub(usize::try_from(TAIL_BYTES_MAX).unwrap_or(usize::MAX));
    Ok(String::from_utf8_lossy(&bytes[from..]).into_owned())
}

/// The log as far as a transcript needs it: all files of the attempt, the newest part of each.
pub(crate) async fn transcript_text(workspace: &Workspace, attempt: AttemptId) -> Result<String, PageError> {
    let files = AttemptLog::files(&workspace.place.attempt_folder(attempt)).await;
    if files.is_empty() {
        return end_of(workspace, attempt, PATIENCE_FOR_PART).await;
    }
    let mut text = String::new();
    for path in files {
        text.push_str(&tail(&path, PIECE_BYTES_MAX).await);
    }
    Ok(text)
}

/// The last lines that say something to a person.
pub(crate) async fn last_lines(
    workspace: &Workspace,
    attempt: AttemptId,
    count: usize,
) -> Result<Vec<String>, PageError> {
    let text = strip_ansi(&end_of(workspace, attempt, PATIENCE_FOR_PART).await?);
    // Reports and activities are for programs; a tool call has a line of its own.
    let is_said = |line: &&str| {
        let text = line.split_once(' ').map_or(*line, |(_, rest)| rest);
        !text.trim().is_empty() && !text.starts_with("act ") && !text.contains("{\"baton\"")
    };
    let mut lines: Vec<String> = text.lines().rev().filter(is_said).take(count).map(str::to_owned).collect();
    lines.reverse();
    Ok(lines)
}

fn viewer(task: TaskId, attempt: AttemptId, is_live: bool, tail: &str) -> Markup {
    let source = format!("/tasks/{task}/log.txt?attempt={attempt}");
    html! {
        div.log-tools.js {
            label.unseen for="log-search" { "Search the log" }
            input #log-search type="search" placeholder="Search the log" autocomplete="off";
            button type="button" data-do="log-previous" aria-label="Previous match" { "↑" }
            button type="button" data-do="log-next" aria-label="Next match" { "↓" }
            span #log-matches role="status" { }
            label { input #log-follow type="checkbox" checked; " Follow" }
            span #log-size.muted { }
            a href=(source) { "Raw" }
        }
        div.log #log data-keep={ "log-" (attempt) } data-source=(source) data-live[is_live] tabindex="0" role="log" aria-live="off" aria-label="Log" {
            pre { @if tail.is_empty() { "No output yet." } @else { (strip_ansi(tail)) } }
        }
    }
}

async fn tail(path: &Path, bytes_max: u64) -> String {
    let Ok(metadata) = tokio::fs::metadata(path).await else { return String::new() };
    let from = metadata.len().saturating_sub(bytes_max);
    let bytes = read_from(path, from).await.unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    if from == 0 { text } else { text.split_once('\n').map_or(String::new(), |(_, rest)| rest.to_owned()) }
}

/// The raw log from an offset. With `wait`, long-polls for more.
pub(crate) async fn raw(
    State(app): State<App>,
    PageParam(id): PageParam<TaskId>,
    mut query: Query,
) -> Result<Response> {
    let attempt: Option<AttemptId> = query.take("attempt")?;
    let from: u64 = query.take("from")?.unwrap_or_default();
    let wait: Option<u32> = query.take("wait")?;
    query.done()?;
    let attempts = app.tasks().store.attempts(id).await?;
    let attempt = attempt.or_else(|| attempts.last().map(|record| record.attempt.id));
    let belongs = |attempt: &AttemptId| attempts.iter().any(|record| record.attempt.id == *attempt);
    let Some(attempt) = attempt.filter(belongs) else {
        return Err(ApiError::not_found("no such attempt of this task", "the timeline lists its attempts"));
    };
    let folder = app.workspace.place.attempt_folder(attempt);
    let patience = if wait.is_some() && is_live(&attempts, attempt) { WAIT_MAX } else { Duration::ZERO };
    let bytes = if AttemptLog::files(&folder).await.is_empty() && app.tasks().store.log_channel().is_some() {
        let patience = patience.max(PATIENCE);
        let seen =
            look_elsewhere(&app.workspace.tasks.store, attempt, Some(from), patience, wait.is_some()).await?;
        seen.map(|seen| seen.bytes).unwrap_or_default()
    } else {
        wait_for_growth(&folder, from, patience, &app.ending).await
    };
    let next = from + bytes.len() as u64;
    let live = is_live(&app.tasks().store.attempts(id).await?, attempt);
    let headers = [
        (CONTENT_TYPE, "text/plain; charset=utf-8".to_owned()),
        (CACHE_CONTROL, "no-store".to_owned()),
        ("x-baton-next".parse().unwrap_or(CONTENT_TYPE), next.to_string()),
        ("x-baton-live".parse().unwrap_or(CONTENT_TYPE), live.to_string()),
    ];
    Ok((headers, bytes).into_response())
}

/// The bytes after `from`, waiting up to `patience` for some. An attempt has one log file per agent run; they are read as
/// one text, because a file that has a successor no longer grows.
async fn wait_for_growth(
    folder: &Path,
    from: u64,
    patience: Duration,
    ending: &tokio::sync::watch::Receiver<bool>,
) -> Vec<u8> {
    let until = Instant::now() + patience;
    loop {
        if let Some((path, at)) = find_file(&AttemptLog::files(folder).await, from).await
            && let Ok(bytes) = read_from(&path, at).await
            && !bytes.is_empty()
        {
            return bytes;
        }
        if Instant::now() >= until || *ending.borrow() {
            return Vec::new();
        }
        sleep(LOOK_EVERY).await;
    }
}

/// The file and position of an offset into all of them.
async fn find_file(logs: &[PathBuf], from: u64) -> Option<(PathBuf, u64)> {
    let mut at = from;
    for path in logs {
        let size = tokio::fs::metadata(path).await.ok()?.len();
        if at < size {
            return Some((path.clone(), at));
        }
        at -= size;
    }
    None
}

async fn read_from(path: &Path, from: u64) -> std::io::Result<Vec<u8>> {
    let mut file = File::open(path).await?;
    file.seek(std::io::SeekFrom::Start(from)).await?;
    let mut bytes = Vec::new();
    file.take(PIECE_BYTES_MAX).read_to_end(&mut bytes).await?;
    Ok(bytes)
}
