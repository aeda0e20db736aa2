//! `baton stop`: ends the agents at work on tasks, and holds the tasks (I22).

use baton_core::base::id::TaskId;
use baton_core::task::state::TaskState;
use baton_engine::reports::view::TaskSummary;
use serde_json::{Value, json};

use crate::cli::status::StopArgs;
use crate::context::api::{Api, ListRequest};
use crate::error::{CliError, REFUSED};
use crate::output;

/// Why the task is held.
const REASON: &str = "stopped by you";
/// Tasks at work that are stopped at once.
const STOPPED_MAX: u32 = 5_000;

pub(crate) async fn run(api: &Api, arguments: &StopArgs) -> Result<String, CliError> {
    let tasks = if arguments.all { at_work(api).await? } else { named(api, &arguments.tasks).await? };
    let mut stopped = Vec::new();
    for id in &tasks {
        let held: Result<Value, CliError> =
            api.post(&format!("/api/tasks/{id}/hold"), &json!({ "reason": REASON })).await;
        match held {
            Ok(_) => stopped.push(*id),
            // It ended meanwhile; with --all nobody named it.
            Err(error) if arguments.all && error.code == REFUSED => {}
            Err(error) => return Err(error),
        }
    }
    if api.is_json {
        return output::json(&json!({ "stopped": stopped }));
    }
    if stopped.is_empty() {
        return Ok("No agent is at work.\n".to_owned());
    }
    let lines =
        stopped.iter().map(|id| format!("Stopped {id}; its work is kept. Go on: baton task release {id}\n"));
    Ok(lines.collect())
}

async fn named(api: &Api, tasks: &[String]) -> Result<Vec<TaskId>, CliError> {
    let mut ids = Vec::new();
    for task in tasks {
        ids.push(api.task_id(task).await?);
    }
    Ok(ids)
}

async fn at_work(api: &Api) -> Result<Vec<TaskId>, CliError> {
    let claimed = ListRequest { path: "/api/tasks", name: "tasks", query: &[("queue", "claimed")] };
    let (tasks, _): (Vec<TaskSummary>, _) = api.list(&claimed, STOPPED_MAX, None).await?;
    let mut ids = Vec::new();
    for task in tasks {
        // A task that waits for an answer is in the same queue, and nobody works on it.
        if matches!(api.task(task.task_id).await?.state, TaskState::Claimed { .. }) {
            ids.push(task.task_id);
        }
    }
    Ok(ids)
}
