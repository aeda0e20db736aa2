//! `baton task log -f`: prints what the agent writes, as it writes it.

use std::time::Duration;

use baton_core::base::id::{AttemptId, TaskId};
use baton_core::task::state::TaskState;
use baton_server::client::with_query;
use serde::Deserialize;
use serde_json::json;

use crate::context::api::Api;
use crate::error::CliError;
use crate::output;

/// Between two looks at the log.
const LOOK_EVERY: Duration = Duration::from_millis(300);

#[derive(Deserialize)]
struct FollowedLog {
    attempt_id: Option<AttemptId>,
    text: String,
    end_offset: u64,
}

/// Ends when no agent works on the task, and none is about to. An attempt that begins meanwhile is followed too.
pub(super) async fn run(api: &Api, id: TaskId) -> Result<String, CliError> {
    let mut followed: Option<(AttemptId, u64)> = None;
    loop {
        // Looked at before the log: what was written until then is printed.
        let is_at_work = goes_on(&api.task(id).await?.state);
        let from = followed.map_or(0, |(_, end)| end);
        let mut piece = read(api, id, from).await?;
        if let (Some(attempt), Some((before, _))) = (piece.attempt_id, followed)
            && attempt != before
        {
            output::talk(&format!("— {attempt} —"));
            piece = read(api, id, 0).await?;
        }
        let is_empty = piece.text.is_empty();
        if !is_empty && !print(api, &piece)? {
            return Ok(String::new());
        }
        followed = piece.attempt_id.map(|attempt| (attempt, piece.end_offset)).or(followed);
        if is_empty && !is_at_work {
            return Ok(String::new());
        }
        if is_empty {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
}

/// Whether an agent works on it, or will without a person's word.
const fn goes_on(state: &TaskState) -> bool {
    matches!(
        state,
        TaskState::Incoming
            | TaskState::Claimed { .. }
            | TaskState::NeedsContinuation { .. }
            | TaskState::Breakdown { released: true }
    )
}

/// False once nobody reads it.
fn print(api: &Api, piece: &FollowedLog) -> Result<bool, CliError> {
    if api.is_json {
        let line = json!({ "attempt_id": piece.attempt_id, "text": piece.text });
        return Ok(output::more(&output::json_line(&line)?));
    }
    Ok(output::more(&piece.text))
}

async fn read(api: &Api, id: TaskId, from: u64) -> Result<FollowedLog, CliError> {
    api.get(&with_query(&format!("/api/tasks/{id}/log"), &[("offset", &from.to_string())])).await
}
