//! `baton stop`: ends the agents at work on tasks, and holds the tasks (I22).

use std::time::Duration;

use baton_core::base::id::TaskId;
use baton_core::base::text::Role;
use baton_core::task::state::TaskState;
use baton_engine::reports::view::{TaskSummary, TaskView};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::cli::status::StopArgs;
use crate::context::api::{Api, ListRequest};
use crate::error::{CliError, REFUSED};
use crate::output;

/// Why the task is held.
const REASON: &str = "stopped by you";
/// Tasks at work that are stopped at once.
const STOPPED_MAX: u32 = 5_000;
/// An agent that does not end by then is killed, and its task is settled afterwards.
const SETTLED_AFTER_MAX: Duration = Duration::from_secs(20);
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(100);

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
    let mut text = String::new();
    for id in stopped {
        text.push_str(&describe(id, &settled(api, id).await?));
    }
    Ok(text)
}

/// The task once its agent is gone. The agent of a recipe is given the time to end.
async fn settled(api: &Api, task: TaskId) -> Result<TaskView, CliError> {
    let until = Instant::now() + SETTLED_AFTER_MAX;
    loop {
        let view = api.task(task).await?;
        if !matches!(view.state, TaskState::Claimed { .. }) || Instant::now() >= until {
            return Ok(view);
        }
        tokio::time::sleep(LOOK_AGAIN_AFTER).await;
    }
}

/// What can be done with a stopped task depends on whether there is work to look at.
fn describe(id: TaskId, view: &TaskView) -> String {
    let [plan, _, review] = Role::loop_phases();
    if view.role.as_ref().is_some_and(|role| *role == plan || *role == review) {
        let session = &view.summary.session_id;
        return format!(
            "Stopped {id}, and its loop with it. Start the loop again: baton loop --session {session}\n"
        );
    }
    match view.state {
        _ if view.summary.held_because.is_some() => {
            format!("Stopped {id}; its work is kept. Go on: baton task release {id}\n")
        }
        TaskState::Provisional(_) => format!(
            "Stopped {id}; its work is kept and not finished. Look at it: baton task diff {id}. Take it as it is: baton accept \
             --force {id}. Have it finished: baton reject {id} --reason TEXT\n"
        ),
        TaskState::Claimed { .. } => {
            format!("{id} is stopping; its work is kept. See what became of it: baton task show {id}\n")
        }
        _ => format!("Stopped {id}. See where it is now: baton task show {id}\n"),
    }
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
