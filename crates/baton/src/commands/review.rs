//! `baton review`: the changes of a task, and the decision about them, in the terminal.

use baton_core::task::state::TaskState;
use baton_engine::reports::view::TaskView;
use serde_json::json;

use crate::cli::status::ReviewArgs;
use crate::cli::verdicts::AcceptArgs;
use crate::commands::task::{fetch_all, show};
use crate::commands::{accept, verdict};
use crate::context::api::Api;
use crate::error::CliError;
use crate::output::{self, Look};
use crate::terminal::input::TerminalInput;

const QUESTION: &str = "[a]ccept, [r]equest changes, or anything else to leave it:";

pub(crate) async fn run(api: &Api, arguments: ReviewArgs) -> Result<String, CliError> {
    let id = api.task_id(&arguments.task).await?;
    let view = api.task(id).await?;
    let is_decided = arguments.accept || arguments.request_changes.is_some();
    if !matches!(view.state, TaskState::Provisional(_)) && !is_decided {
        let state = view.state.name().described();
        return Err(CliError::refused(
            format!("{id} is {state}: there is no finished work to review"),
            format!("see where it stands: baton task show {id}"),
        ));
    }
    if arguments.accept {
        return accept(api, &view, arguments.force).await;
    }
    if let Some(text) = &arguments.request_changes {
        return verdict::reject(api, &id.to_string(), text).await;
    }
    let (diff, _) = fetch_all(api, &format!("/api/tasks/{id}/diff")).await?;
    if api.is_json {
        return output::json(&json!({ "task": view, "diff": diff }));
    }
    let mut terminal = TerminalInput::open();
    let text = format!("{}\n{diff}", show::render(&view));
    if !terminal.is_there() {
        return Ok(text);
    }
    output::line_as(text.trim_end(), Look::Diff);
    output::talk(QUESTION);
    match terminal.line().await.as_deref().map(str::trim) {
        Some("a" | "accept") => {
            let needs_force = !view.summary.needs_review.is_empty();
            accept(api, &view, needs_force).await
        }
        Some("r" | "request changes") => {
            output::talk("What should change? The next attempt gets this text.");
            match terminal.line().await {
                Some(reason) => verdict::reject(api, &id.to_string(), &reason).await,
                None => Ok("Nothing was decided.\n".to_owned()),
            }
        }
        Some(_) | None => Ok("Nothing was decided.\n".to_owned()),
    }
}

async fn accept(api: &Api, view: &TaskView, force: bool) -> Result<String, CliError> {
    let tasks = vec![view.summary.task_id.to_string()];
    accept::run(api, AcceptArgs { tasks, force, ..AcceptArgs::default() }).await
}
