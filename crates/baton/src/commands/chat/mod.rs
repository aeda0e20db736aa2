//! `baton chat`: sends a message and follows the work until it ends.
//!
//! The message and all work are in the store, so ending this command loses nothing. If no server runs here, this
//! command runs the agents itself, for as long as it follows.

mod attachments;
mod project;
mod reporter;

use std::fs::File;
use std::time::Duration;

use baton_core::ask::question_record::QuestionRecord;
use baton_core::base::id::{QuestionId, RunId, SessionId, TaskId};
use baton_core::base::text::{NonBlank, RecipeId};
use baton_engine::services::engine::Engine;
use baton_server::client::EventStream;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::sleep;

use crate::cli::chat::ChatArgs;
use crate::commands::chat::reporter::{ChatReporter, ChatUpdate};
use crate::commands::question::{render_question, send_answer};
use crate::commands::task::recipe_id;
use crate::commands::up::lock_engine;
use crate::context::CliContext;
use crate::context::agent_endpoint::AgentEndpoint;
use crate::context::api::Api;
use crate::error::{CliError, REFUSED, UNANSWERED, USAGE};
use crate::output;
use crate::terminal::input::TerminalInput;
use crate::terminal::signals;

/// The exit code of a process ended by SIGINT, as shells report it.
const INTERRUPTED: u8 = 130;
/// Queued answers and policies answer within this time; a person does not.
const AUTOMATION_GRACE: Duration = Duration::from_secs(2);

/// The API's answer.
#[derive(Serialize, Deserialize)]
struct ChatResponse {
    /// The new task, or the one whose agent got the message; none where a run without a task got it.
    task_id: Option<TaskId>,
    session_id: SessionId,
    task_type: String,
    status: String,
    delivered_to: Option<ChatReceiver>,
}

/// Who got the message: a run, or the agent of a task.
#[derive(Serialize, Deserialize)]
#[expect(clippy::struct_field_names, reason = "as the API names them")]
struct ChatReceiver {
    run_id: Option<RunId>,
    recipe_id: Option<RecipeId>,
    question_id: Option<QuestionId>,
}

pub(crate) async fn run(api: &Api, chat: ChatArgs) -> Result<String, CliError> {
    let content = CliContext::non_blank(&chat.text, "the message")?;
    let session = chat.session.as_deref().map(CliContext::parse_session_id).transpose()?;
    let recipe = chat.recipe.as_deref().map(recipe_id).transpose()?;
    let attachments = attachments::read(&chat.attach)?;
    let project = project::find_or_create(api).await?;
    let health: Value = api.get("/api/health").await?;
    let message = json!({
        "content": content, "session_id": session, "task_type": chat.task_type, "recipe": recipe,
        "attachments": attachments,
    });
    let sent: ChatResponse = api.post(&format!("/api/projects/{project}/chat"), &message).await?;
    let reporter = ChatReporter { is_json: api.is_json };
    reporter.sent(&sent)?;
    // A run has its own end, and its own command to follow it.
    let is_to_run = sent.delivered_to.as_ref().is_some_and(|to| to.run_id.is_some());
    let Some(task) = sent.task_id.filter(|_| !is_to_run) else { return Ok(String::new()) };
    if health["agents"].as_array().is_none_or(Vec::is_empty) {
        return Err(CliError::refused(
            format!("{task} is queued, but no agent is configured"),
            "install one (baton doctor lists them), or configure any program in .agent/baton.toml; then run baton up",
        ));
    }
    let seen = health["last_seq"].as_u64().unwrap_or_default();
    let follower = ChatFollower {
        api,
        task,
        is_new: sent.delivered_to.is_none(),
        session: &sent.session_id,
        reporter,
        terminal: TerminalInput::open(),
    };
    with_agents(api, Box::pin(follower.follow(seen))).await
}

/// Runs agents while following, if nobody else does.
async fn with_agents(
    api: &Api,
    following: impl Future<Output = Result<String, CliError>>,
) -> Result<String, CliError> {
    let Some((_lock, engine, endpoint)) = own_engine(api).await? else { return following.await };
    output::talk("No server is running; this command runs the agents until the work is done.");
    let (stop, shutdown) = watch::channel(false);
    let mut working = Box::pin(engine.run(shutdown));
    let followed = tokio::select! {
        followed = following => followed,
        worked = &mut working => {
            worked?;
            return Err(CliError::failed("the engine stopped before the work was done", "continue it: baton up"));
        }
    };
    // Stop the agents first.
    let _ = stop.send(true);
    working.await?;
    if let Some(endpoint) = endpoint {
        endpoint.close().await;
    }
    followed
}

/// None if a server answers, or another Baton runs on this store.
async fn own_engine(api: &Api) -> Result<Option<(File, Engine, Option<AgentEndpoint>)>, CliError> {
    if api.is_served() {
        return Ok(None);
    }
    let context = api.context().await?;
    match lock_engine(&context).await {
        Ok(lock) => {
            let mut engine = context.engine(None).await?;
            let endpoint = AgentEndpoint::open(&context, &mut engine).await?;
            Ok(Some((lock, engine, endpoint)))
        }
        Err(error) if error.code == REFUSED => Ok(None),
        Err(error) => Err(error),
    }
}

struct ChatFollower<'a> {
    api: &'a Api,
    task: TaskId,
    /// Whether the message started it.
    is_new: bool,
    session: &'a SessionId,
    reporter: ChatReporter,
    terminal: TerminalInput,
}

impl ChatFollower<'_> {
    async fn follow(mut self, seen: u64) -> Result<String, CliError> {
        let mut interrupt = signals::interrupt()?;
        let mut events = self.api.events(seen).await?;
        let mut asked = self.asked_before().await?;
        let mut given: Option<String> = None;
        loop {
            let event = tokio::select! {
                event = next(&mut events) => event?,
                _ = interrupt.recv() => return Err(self.interrupted()),
                line = answer_to(&mut self.terminal, asked.as_ref()) => {
                    // Not inside select!, which could drop a line that was read.
                    if let Some(record) = asked.take() {
                        asked = self.answer(record, line).await?;
                    }
                    continue;
                }
            };
            let Some(update) = ChatUpdate::new(&event, self.task, self.session) else {
                continue;
            };
            self.reporter.update(&update)?;
            match update {
                ChatUpdate::Asked { question } if is_about(asked.as_ref(), question) => {}
                ChatUpdate::Asked { question } => asked = Some(self.show(question).await?),
                ChatUpdate::Answered { .. } => asked = None,
                ChatUpdate::Given { agent } => given = Some(agent),
                ChatUpdate::Started => {
                    let agent = given.take().unwrap_or_else(|| "The agent".to_owned());
                    self.reporter.update(&ChatUpdate::Progress(format!("{agent} started.")))?;
                }
                ChatUpdate::Over(end) => {
                    let view = self.api.task(self.task).await?;
                    return self.reporter.end(&view, end);
                }
                ChatUpdate::Progress(_) => {}
            }
        }
    }

    /// The question that the task, or the one it starts after, already waited with when the message reached it; no event tells
    /// of it.
    async fn asked_before(&self) -> Result<Option<QuestionRecord>, CliError> {
        let own = self.api.task(self.task).await?.summary;
        let asking = match own.waits_behind {
            Some(earlier) => {
                output::talk(&format!("{} starts after {earlier}, the message before it.", self.task));
                self.api.task(earlier).await?.summary.question
            }
            None if self.is_new => None,
            None => own.question,
        };
        match asking {
            Some(question) => self.show(question.id).await.map(Some),
            None => Ok(None),
        }
    }

    async fn show(&self, question: QuestionId) -> Result<QuestionRecord, CliError> {
        let record: QuestionRecord = self.api.get(&format!("/api/questions/{question}")).await?;
        self.reporter.question(&record)?;
        Ok(record)
    }

    /// The first answer wins. After a refused one, returns the question to ask again.
    async fn answer(
        &self,
        record: QuestionRecord,
        line: Option<String>,
    ) -> Result<Option<QuestionRecord>, CliError> {
        let id = record.question.id;
        let Some(line) = line else {
            return Err(CliError {
                message: format!("{id} waits for an answer, and there is no terminal to give one"),
                hint: format!(
                    "answer it: baton answer {id} TEXT; the work continues while a server runs (baton up)"
                ),
                code: UNANSWERED,
                reason: None,
            });
        };
        let answer: NonBlank = CliContext::non_blank(&line, "the answer")?;
        match send_answer(self.api, id, &answer).await {
            Ok(_) => Ok(None),
            Err(error) if error.code == REFUSED || error.code == USAGE => {
                output::talk(&format!(
                    "{}\n{}\n{}",
                    error.message,
                    error.hint,
                    render_question(&record).trim_end()
                ));
                Ok(Some(record))
            }
            Err(error) => Err(error),
        }
    }

    fn interrupted(&self) -> CliError {
        let task = self.task;
        CliError {
            message: format!("{task} is not done yet; no work is lost"),
            hint: format!("show it: baton task show {task}; cancel it: baton task cancel {task}"),
            code: INTERRUPTED,
            reason: None,
        }
    }
}

/// The next event; an error if the stream ends, because the work has not.
async fn next(events: &mut EventStream) -> Result<baton_engine::StoredEvent, CliError> {
    events.next().await?.ok_or_else(|| {
        CliError::unreachable(
            "the server stopped before the work was done",
            "the message is stored; start the server again: baton up",
        )
    })
}

fn is_about(asked: Option<&QuestionRecord>, question: QuestionId) -> bool {
    asked.is_some_and(|record| record.question.id == question)
}

/// Never returns without a question.
async fn answer_to(terminal: &mut TerminalInput, asked: Option<&QuestionRecord>) -> Option<String> {
    match asked {
        Some(_) if terminal.is_there() => terminal.line().await,
        Some(_) => {
            sleep(AUTOMATION_GRACE).await;
            None
        }
        None => std::future::pending().await,
    }
}
