//! `baton open`: the page of Baton or of a task.

use serde_json::json;

use crate::cli::status::OpenArgs;
use crate::context::api::Api;
use crate::context::server_file;
use crate::error::CliError;
use crate::output;
use crate::terminal::browser;

pub(crate) async fn run(api: &Api, arguments: &OpenArgs) -> Result<String, CliError> {
    let Some(address) = server_file::recorded_url(&api.place).filter(|_| api.is_served()) else {
        return Err(CliError::unreachable("no server is running here", "start it: baton up"));
    };
    let url = match &arguments.task {
        Some(task) => {
            let id = api.task_id(task).await?;
            // A wrong id is an error here, not a page that says so.
            api.task(id).await?;
            format!("{address}/tasks/{id}")
        }
        None => format!("{address}/"),
    };
    let is_opened = !arguments.print && !api.is_json && output::is_terminal() && browser::open(&url);
    if api.is_json {
        return output::json(&json!({ "url": url }));
    }
    if is_opened {
        output::talk("Opened in your browser.");
    }
    Ok(format!("{url}\n"))
}
