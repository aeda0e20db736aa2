//! `list_user_tasks`, `run_user_task`.

use baton_engine::Store;
use baton_engine::user_tasks::{Site, UserTaskError};

use super::arguments::Arguments;
use super::{Caller, ToolAnswer, Toolbox};

pub fn list<S: Store>(toolbox: &Toolbox<S>, caller: &Caller) -> ToolAnswer {
    let listed = site(toolbox, caller).and_then(|site| toolbox.user_tasks.list(&site).map_err(refused));
    match listed {
        Ok(list) => ToolAnswer::json(&list),
        Err(mistake) => ToolAnswer::bad(mistake),
    }
}

/// A task that ran and failed is an answer like any other: its text says so, and what it printed.
pub async fn run<S: Store>(
    toolbox: &Toolbox<S>,
    caller: &Caller,
    arguments: &Arguments,
) -> Result<ToolAnswer, String> {
    let site = site(toolbox, caller)?;
    let name = arguments.text("task_name")?.unwrap_or_default();
    let args = arguments.text("args")?.unwrap_or_default();
    let ran = toolbox.user_tasks.run(&site, name, args).await.map_err(refused)?;
    Ok(ToolAnswer::good(toolbox.user_tasks.told(&ran)))
}

fn site<S: Store>(toolbox: &Toolbox<S>, caller: &Caller) -> Result<Site, String> {
    toolbox.site_of(caller).ok_or_else(|| "this attempt is not at work in this server".to_owned())
}

#[expect(clippy::needless_pass_by_value, reason = "as map_err hands it over")]
fn refused(error: UserTaskError) -> String {
    match &error {
        // The names are in the message; a model has no use for a command of the human's.
        UserTaskError::Unknown { .. } => error.to_string(),
        _ => format!("{error}\n{}", error.hint()),
    }
}
