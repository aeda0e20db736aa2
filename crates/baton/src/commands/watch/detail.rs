//! The right half: everything about the selected row.

use std::fmt::Write;

use baton_core::ask::question_record::QuestionRecord;
use baton_core::base::id::TaskId;
use serde_json::Value;

use crate::commands::task::show::render;
use crate::commands::watch::rows::{RowKind, WatchRow};
use crate::commands::watch::state::Pane;
use crate::context::api::Api;
use crate::error::CliError;

/// The text for a row. A task that is gone or a log that cannot be read is told there, and ends nothing.
pub(crate) async fn load(api: &Api, row: Option<&WatchRow>, pane: Pane) -> String {
    let Some(row) = row else {
        return "Nothing waits, and nothing runs.\n\nAdd a task: baton task add TITLE".to_owned();
    };
    match try_load(api, row, pane).await {
        Ok(text) => text,
        Err(error) => format!("{}\n{}", error.message, error.hint),
    }
}

async fn try_load(api: &Api, row: &WatchRow, pane: Pane) -> Result<String, CliError> {
    let Some(task) = row.task else { return Ok(about(row)) };
    match pane {
        Pane::Details => Ok(format!("{}{}", about(row), render(&api.task(task).await?))),
        Pane::Log => log(api, task).await,
        Pane::Changes => {
            let diff: Value = api.get(&format!("/api/tasks/{task}/diff")).await?;
            let text = diff["text"].as_str().unwrap_or_default();
            let is_empty = text.trim().is_empty();
            Ok(if is_empty { "It has changed nothing so far.".to_owned() } else { text.to_owned() })
        }
    }
}

/// Its last megabyte.
async fn log(api: &Api, task: TaskId) -> Result<String, CliError> {
    let page: Value = api.get(&format!("/api/tasks/{task}/log")).await?;
    if page["attempt_id"].is_null() {
        return Ok("There is no log here.".to_owned());
    }
    Ok(page["text"].as_str().unwrap_or_default().to_owned())
}

/// What the row itself says.
fn about(row: &WatchRow) -> String {
    match &row.kind {
        RowKind::Question(record) => asked(record),
        RowKind::Standstill(_) => format!("{}\n\n", row.note),
        RowKind::Review
        | RowKind::Plan
        | RowKind::Failed
        | RowKind::Running
        | RowKind::Landing
        | RowKind::Ready => String::new(),
    }
}

fn asked(record: &QuestionRecord) -> String {
    let mut text = format!("{}\n", record.question.text().as_str().trim_end());
    for (number, option) in (1..).zip(&record.question.draft.options) {
        let _ = write!(text, "\n  {number}  {option}");
    }
    text.push_str("\n\n");
    text
}
