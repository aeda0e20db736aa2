//! User tasks of an agent that its server runs: where the agent's fence hides the Taskfile, or a person has to allow it first.
//!
//! The server has the person's definitions, runs the task in the attempt's worktree and fence, and asks the person on behalf of
//! the attempt, as it does for the tool `run_user_task`.

use std::time::Duration;

use baton_engine::settings::location::StateLocation;
use baton_engine::user_tasks::{UserTaskError, UserTaskList};
use baton_server::client::{ApiClient, ClientError};
use baton_server::mcp::{ToolAnswer, UserTaskResult};
use serde::Deserialize;
use serde_json::json;
use tokio::time::timeout;

use crate::commands::calling_attempt::CallingAttempt;
use crate::context::server_file;
use crate::error::{CliError, UNANSWERED};
use crate::output;

/// The server of the attempt that this process belongs to.
pub(super) struct AttemptServer {
    client: ApiClient,
}

/// The server's answer, as far as it matters.
#[derive(Deserialize)]
struct OfferedTools {
    tools: Vec<OfferedTool>,
}

#[derive(Deserialize)]
struct OfferedTool {
    name: String,
}

impl AttemptServer {
    /// None where no server runs, and where it offers the attempt no user tasks: there are none (I12).
    pub(super) async fn find(
        place: &StateLocation,
        attempt: &CallingAttempt,
    ) -> Result<Option<Self>, CliError> {
        let Some(token) = attempt.token.clone() else { return Ok(None) };
        let Some(address) = server_file::running(place, Some(token)).await else { return Ok(None) };
        // A task may take as long as its commands, and the person who is asked.
        let client = ApiClient::for_server(address.without_timeout());
        let offered: OfferedTools = client.get("/api/tools").await?;
        let has_tasks = offered.tools.iter().any(|tool| tool.name == "run_user_task");
        Ok(has_tasks.then_some(Self { client }))
    }

    /// What is offered to the attempt.
    pub(super) async fn list(&self) -> Result<UserTaskList, CliError> {
        let answer = self.call("list_user_tasks", &json!({})).await?;
        if answer.is_error {
            return Err(refusal(&answer.text));
        }
        serde_json::from_str(&answer.text)
            .map_err(|error| CliError::bug(format!("the list of user tasks is not JSON: {error}")))
    }

    /// Runs a task to its end; prints what it printed, and returns its exit code.
    pub(super) async fn run(
        &self,
        name: &str,
        args: &[String],
        limit: Option<Duration>,
        is_json: bool,
    ) -> Result<i32, CliError> {
        let names: Vec<String> = self.list().await?.tasks.into_iter().map(|task| task.name).collect();
        if !names.iter().any(|known| known == name.trim()) {
            return Err(UserTaskError::Unknown { name: name.trim().to_owned(), names }.into());
        }
        if args.iter().any(|word| word.contains('\0')) {
            return Err(UserTaskError::NulInArgs.into());
        }
        let words: Vec<String> = args.iter().map(|word| quote(word)).collect();
        let arguments = json!({ "task_name": name.trim(), "args": words.join(" ") });
        let call = self.call("run_user_task", &arguments);
        // A caller that stops waiting ends the task.
        let answer = match limit {
            None => call.await?,
            Some(limit) => timeout(limit, call).await.map_err(|_| {
                let limit = limit.as_secs();
                CliError::failed(format!("{name} did not end within {limit} seconds"), "set --timeout higher")
            })??,
        };
        match answer.ran {
            Some(ran) => print(&ran, is_json),
            None if answer.is_error => Err(refusal(&answer.text)),
            // A person has been asked and has not answered yet.
            None => {
                let hint = "the answer reaches you when the task goes on";
                Err(CliError { code: UNANSWERED, ..CliError::failed(answer.text, hint) })
            }
        }
    }

    async fn call(&self, tool: &str, arguments: &serde_json::Value) -> Result<ToolAnswer, ClientError> {
        self.client.post(&format!("/api/tools/{tool}"), arguments).await
    }
}

fn print(ran: &UserTaskResult, is_json: bool) -> Result<i32, CliError> {
    if is_json {
        output::line(output::json(ran)?.trim_end());
        return Ok(ran.exit_code);
    }
    if !ran.stdout.is_empty() {
        output::line(&ran.stdout);
    }
    for text in [Some(&ran.stderr), ran.error.as_ref()].into_iter().flatten().filter(|text| !text.is_empty())
    {
        output::talk(text);
    }
    Ok(ran.exit_code)
}

/// The first line is what went wrong, the rest what to do.
fn refusal(text: &str) -> CliError {
    let (message, hint) = text.split_once('\n').unwrap_or((text, "list the tasks: baton tasks"));
    CliError::refused(message, hint)
}

/// A word as the server reads it back, whatever is in it.
fn quote(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_word_is_one_word_again() {
        assert_eq!(quote("a b"), "'a b'");
        assert_eq!(quote("it's"), r"'it'\''s'");
        assert_eq!(quote(""), "''");
    }
}
