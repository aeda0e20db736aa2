//! `baton take` and `baton give`: a person works on a task in the place of its agent.

use std::env;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use baton_core::base::id::TaskId;
use baton_engine::attempt::takeover::TakeoverView;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::cli::steering::{GiveArgs, TakeArgs};
use crate::context::CliContext;
use crate::context::api::Api;
use crate::error::CliError;
use crate::output;

/// Between two looks whether the agent has ended.
const LOOK_EVERY: Duration = Duration::from_millis(200);

pub(crate) async fn take(api: &Api, arguments: &TakeArgs) -> Result<String, CliError> {
    let id = api.task_id(&arguments.task).await?;
    let path = format!("/api/tasks/{id}/takeover");
    let mut taken: TakeoverView = api.post(&path, &json!({ "now": arguments.now })).await?;
    if !taken.is_free {
        let what = if arguments.now { "is ended" } else { "has ended its turn" };
        output::talk(&format!("Waiting until the agent {what}. Ctrl-C stops waiting; the task stays yours."));
    }
    while !taken.is_free {
        sleep(LOOK_EVERY).await;
        taken = api.get(&path).await?;
    }
    if api.is_json {
        return output::json(&taken);
    }
    let Some(folder) = &taken.worktree else {
        return Err(CliError::refused(
            format!("{id} is yours now, but there is no folder of an agent here to work in"),
            format!("hand it back: baton give {id}"),
        ));
    };
    let back = format!("Hand it back: baton give {id}, or baton give {id} --done if it is finished.\n");
    if arguments.print || !output::is_terminal() {
        return Ok(format!("{}\n", folder.display()));
    }
    let command = if arguments.agent { agent_command(id, &taken)? } else { vec![shell()] };
    output::talk(&format!("{id} is yours, in {}.", folder.display()));
    work(folder, &command)?;
    Ok(back)
}

fn shell() -> String {
    env::var("SHELL").ok().filter(|shell| !shell.is_empty()).unwrap_or_else(|| "sh".to_owned())
}

fn agent_command(id: TaskId, taken: &TakeoverView) -> Result<Vec<String>, CliError> {
    taken.agent_command.clone().ok_or_else(|| {
        let agent = taken.agent.as_ref().map_or_else(|| "the agent".to_owned(), ToString::to_string);
        CliError::refused(
            format!("Baton does not know how to continue a session of {agent} in a terminal"),
            format!("open a shell instead: baton take {id}"),
        )
    })
}

/// Runs it in the folder until the person leaves it. The agent could write the configuration of this clone, so git runs no
/// hook of it.
fn work(folder: &Path, command: &[String]) -> Result<(), CliError> {
    let [program, arguments @ ..] = command else { return Ok(()) };
    let started = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_COUNT", "2")
        .env("GIT_CONFIG_KEY_0", "core.hooksPath")
        .env("GIT_CONFIG_VALUE_0", "/dev/null")
        .env("GIT_CONFIG_KEY_1", "core.fsmonitor")
        .env("GIT_CONFIG_VALUE_1", "false")
        .status();
    // However it ends, the person has worked.
    started.map(drop).map_err(|error| {
        CliError::failed(
            format!("cannot start {program}: {error}"),
            "the folder is printed with: baton take TASK --print",
        )
    })
}

pub(crate) async fn give(api: &Api, arguments: &GiveArgs) -> Result<String, CliError> {
    let id = api.task_id(&arguments.task).await?;
    let message = arguments.message.as_deref();
    let message = message.map(|text| CliContext::non_blank(text, "the message")).transpose()?;
    let body = json!({ "done": arguments.done, "message": message });
    let _: Value = api.post(&format!("/api/tasks/{id}/handback"), &body).await?;
    let then = if arguments.done {
        format!("Handed in {id}; it is checked and then waits for review.\n")
    } else {
        format!("Handed back {id}; its agent goes on where you stopped.\n")
    };
    api.confirm(id, &then).await
}
