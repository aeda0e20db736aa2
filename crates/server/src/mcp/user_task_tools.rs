//! `list_user_tasks`, `run_user_task`.

use baton_engine::asking::Leave;
use baton_engine::user_tasks::{Site, TASKFILE, UserTaskError, UserTasks};

use crate::mcp::answer::UserTaskResult;
use crate::mcp::inputs::RunUserTaskArguments;
use crate::mcp::{Caller, ToolAnswer, Toolbox, attempt_tools, toolbox};

pub(super) fn list(toolbox: &Toolbox, caller: &Caller) -> ToolAnswer {
    let listed = user_tasks(toolbox, caller).and_then(|(site, tasks)| tasks.list(&site).map_err(error_text));
    match listed {
        Ok(list) => ToolAnswer::json(&list),
        Err(mistake) => ToolAnswer::error(mistake),
    }
}

/// A failed command is a normal result; its text contains the output and the exit code.
pub(super) async fn run(
    toolbox: &Toolbox,
    caller: &Caller,
    arguments: &RunUserTaskArguments,
) -> Result<ToolAnswer, String> {
    let (site, tasks) = user_tasks(toolbox, caller)?;
    let RunUserTaskArguments { task_name: name, args } = arguments;
    toolbox.tasks.book_call().await.map_err(toolbox::error_text)?;
    let ran = match tasks.run(&site, name, args).await {
        Err(UserTaskError::Untrusted) => match wait_for_permission(toolbox, caller, &site, &tasks).await? {
            None => tasks.run(&site, name, args).await,
            Some(instead) => return Ok(instead),
        },
        ran => ran,
    };
    let ran = ran.map_err(error_text)?;
    Ok(ToolAnswer { ran: Some(UserTaskResult::new(&ran)), ..ToolAnswer::ok(tasks.told(&ran)) })
}

/// Asks a person, on behalf of an attempt, whether the project's commands may run. None once they may.
async fn wait_for_permission(
    toolbox: &Toolbox,
    caller: &Caller,
    site: &Site,
    tasks: &UserTasks,
) -> Result<Option<ToolAnswer>, String> {
    let Caller::Attempt { task, .. } = caller else {
        return Err(error_text(UserTaskError::Untrusted));
    };
    let look = || Leave::look(&toolbox.tasks, tasks, site, *task);
    let said = match look().await.map_err(toolbox::error_text)? {
        Leave::Unasked(question) => {
            let told = attempt_tools::ask_for(toolbox, caller, question).await?;
            match look().await.map_err(toolbox::error_text)? {
                // Not answered yet; return the instructions for the agent.
                Leave::Unasked(_) => return Ok(Some(told)),
                said => said,
            }
        }
        said => said,
    };
    Ok(match said {
        Leave::Given => None,
        Leave::Refused | Leave::Unasked(_) => Some(ToolAnswer::error(format!(
            "the human did not allow the commands of {TASKFILE}; continue without them"
        ))),
    })
}

fn user_tasks(toolbox: &Toolbox, caller: &Caller) -> Result<(Site, UserTasks), String> {
    toolbox.user_tasks_of(caller).ok_or_else(|| "this attempt does not run on this server".to_owned())
}

#[expect(clippy::needless_pass_by_value, reason = "as map_err hands it over")]
fn error_text(error: UserTaskError) -> String {
    match &error {
        // The message lists the names; the hint is a command for people.
        UserTaskError::Unknown { .. } => error.to_string(),
        _ => format!("{error}\n{}", error.hint()),
    }
}
