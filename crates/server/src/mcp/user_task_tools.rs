//! `list_user_tasks`, `run_user_task`.

use baton_engine::asking::Leave;
use baton_engine::user_tasks::{Site, TASKFILE, UserTaskError};

use crate::mcp::arguments::ToolArguments;
use crate::mcp::{Caller, ToolAnswer, Toolbox, attempt_tools, toolbox};

pub fn list(toolbox: &Toolbox, caller: &Caller) -> ToolAnswer {
    let listed = site(toolbox, caller).and_then(|site| toolbox.user_tasks.list(&site).map_err(error_text));
    match listed {
        Ok(list) => ToolAnswer::json(&list),
        Err(mistake) => ToolAnswer::error(mistake),
    }
}

/// A task that ran and failed is an answer like any other: its text says so, and what it printed.
pub async fn run(
    toolbox: &Toolbox,
    caller: &Caller,
    arguments: &ToolArguments,
) -> Result<ToolAnswer, String> {
    let site = site(toolbox, caller)?;
    let name = arguments.text("task_name")?.unwrap_or_default();
    let args = arguments.text("args")?.unwrap_or_default();
    let ran = match toolbox.user_tasks.run(&site, name, args).await {
        Err(UserTaskError::Untrusted) => match wait_for_permission(toolbox, caller, &site).await? {
            None => toolbox.user_tasks.run(&site, name, args).await,
            Some(instead) => return Ok(instead),
        },
        ran => ran,
    };
    Ok(ToolAnswer::ok(toolbox.user_tasks.told(&ran.map_err(error_text)?)))
}

/// Has a person asked whether the project's commands may run, on behalf of an attempt. None once they may.
async fn wait_for_permission(
    toolbox: &Toolbox,
    caller: &Caller,
    site: &Site,
) -> Result<Option<ToolAnswer>, String> {
    let Caller::Attempt { secret, task, .. } = caller else {
        return Err(error_text(UserTaskError::Untrusted));
    };
    let look = || Leave::look(&toolbox.desk, &toolbox.user_tasks, site, *task);
    let said = match look().await.map_err(toolbox::error_text)? {
        Leave::Unasked(question) => {
            let told = attempt_tools::ask_for(toolbox, secret, question).await?;
            match look().await.map_err(toolbox::error_text)? {
                // Nobody said anything yet; the agent is told what to do.
                Leave::Unasked(_) => return Ok(Some(told)),
                said => said,
            }
        }
        said => said,
    };
    Ok(match said {
        Leave::Given => None,
        Leave::Refused | Leave::Unasked(_) => Some(ToolAnswer::error(format!(
            "the human does not let the commands of {TASKFILE} run as they are; go on without them"
        ))),
    })
}

fn site(toolbox: &Toolbox, caller: &Caller) -> Result<Site, String> {
    toolbox.site_of(caller).ok_or_else(|| "this attempt is not at work in this server".to_owned())
}

#[expect(clippy::needless_pass_by_value, reason = "as map_err hands it over")]
fn error_text(error: UserTaskError) -> String {
    match &error {
        // The names are in the message; a model has no use for a command of the human's.
        UserTaskError::Unknown { .. } => error.to_string(),
        _ => format!("{error}\n{}", error.hint()),
    }
}
