//! `baton chat`: a message, and then the work it causes, until that is done, asks or fails.
//!
//! The message and everything after it are in the store. Ending this command ends nothing but the telling, unless
//! no server runs here: then it runs the agents itself, for as long as it follows.

mod project;
mod telling;

use std::fs::File;
use std::time::Duration;

use baton_core::id::{SessionId, TaskId};
use baton_core::question_record::QuestionRecord;
use baton_core::text::NonBlank;
use baton_engine::engine::Engine;
use baton_server::client::EventStream;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::time::sleep;

use self::telling::{News, Telling};
use super::question::{give, shown};
use super::task::recipe_id;
use super::up::only_one;
use crate::agents_door::AgentsDoor;
use crate::api::Api;
use crate::cli::chat::Chat;
use crate::fault::{FAILED, Fault, REFUSED, UNANSWERED, UNREACHABLE, USAGE};
use crate::office::Office;
use crate::output;
use crate::terminal::Terminal;

/// Interrupted by a person, as shells count it.
const INTERRUPTED: u8 = 130;
/// An answer that was laid down ahead, or that a policy gives, comes within this; a person's does not.
const AUTOMATION_GRACE: Duration = Duration::from_secs(2);

/// What the API says of a message it took.
#[derive(Serialize, Deserialize)]
struct Sent {
    task_id: TaskId,
    session_id: SessionId,
    task_type: String,
    status: String,
}

pub async fn run(api: &Api, chat: Chat) -> Result<String, Fault> {
    let content = Office::said(&chat.text, "the message")?;
    let session = chat.session.as_deref().map(Office::session).transpose()?;
    let recipe = chat.recipe.as_deref().map(recipe_id).transpose()?;
    let project = project::of_place(api).await?;
    let health: Value = api.get("/api/health").await?;
    let message = json!({
        "content": content, "session_id": session, "task_type": chat.task_type, "recipe": recipe,
    });
    let sent: Sent = api.post(&format!("/api/projects/{project}/chat"), &message).await?;
    let telling = Telling { is_json: api.is_json };
    telling.sent(&sent)?;
    if health["agents"].as_array().is_none_or(Vec::is_empty) {
        return Err(Fault {
            message: format!("{} is in the queue, but no agent is set up to do it", sent.task_id),
            hint: "install one (baton doctor names them), or write any program into .agent/baton.toml; then: baton up"
                .to_owned(),
            code: REFUSED,
        });
    }
    let seen = health["last_seq"].as_u64().unwrap_or_default();
    let follower = Follower { api, sent: &sent, telling, terminal: Terminal::open() };
    with_agents(api, Box::pin(follower.follow(seen))).await
}

/// Runs agents beside the following, where nobody else does.
async fn with_agents(
    api: &Api,
    following: impl Future<Output = Result<String, Fault>>,
) -> Result<String, Fault> {
    let Some((_alone, engine, door)) = own_engine(api).await? else { return following.await };
    output::talk("No server runs here, so this command runs the agents until the work is done.");
    let (stop, shutdown) = watch::channel(false);
    let mut working = Box::pin(engine.run(shutdown));
    let followed = tokio::select! {
        followed = following => followed,
        worked = &mut working => {
            worked?;
            return Err(Fault {
                message: "the agents were ended before the work was".to_owned(),
                hint: "go on with it: baton up".to_owned(),
                code: FAILED,
            });
        }
    };
    // Agents are ended before the command is.
    let _ = stop.send(true);
    working.await?;
    if let Some(door) = door {
        door.close().await;
    }
    followed
}

/// None where a server answers, or another Baton works on this store.
async fn own_engine(api: &Api) -> Result<Option<(File, Engine, Option<AgentsDoor>)>, Fault> {
    if api.is_served() {
        return Ok(None);
    }
    let office = api.office().await?;
    match only_one(&office) {
        Ok(alone) => {
            let mut engine = office.engine(None).await?;
            let door = AgentsDoor::open(&office, &mut engine).await?;
            Ok(Some((alone, engine, door)))
        }
        Err(fault) if fault.code == REFUSED => Ok(None),
        Err(fault) => Err(fault),
    }
}

struct Follower<'a> {
    api: &'a Api,
    sent: &'a Sent,
    telling: Telling,
    terminal: Terminal,
}

impl Follower<'_> {
    async fn follow(mut self, seen: u64) -> Result<String, Fault> {
        let failed = |error: std::io::Error| Fault {
            message: format!("signals cannot be heard: {error}"),
            hint: "check the limits of this session".to_owned(),
            code: FAILED,
        };
        let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
        let mut events = self.api.events(seen).await?;
        let mut asked: Option<QuestionRecord> = None;
        loop {
            let news = tokio::select! {
                news = next(&mut events) => news?,
                _ = interrupt.recv() => return Err(self.interrupted()),
                line = answer_to(&mut self.terminal, asked.as_ref()) => {
                    // Outside of the wait, so that a line that was taken is never dropped on the way.
                    if let Some(record) = asked.take() {
                        asked = self.answer(record, line).await?;
                    }
                    continue;
                }
            };
            let Some(news) = News::of(&news, self.sent.task_id, &self.sent.session_id) else { continue };
            self.telling.news(&news)?;
            match news {
                News::Asked { question } => {
                    let record: QuestionRecord = self.api.get(&format!("/api/questions/{question}")).await?;
                    self.telling.question(&record)?;
                    asked = Some(record);
                }
                News::Answered { .. } => asked = None,
                News::Over(end) => {
                    let view = self.api.task(self.sent.task_id).await?;
                    return self.telling.end(&view, end);
                }
                News::Progress(_) => {}
            }
        }
    }

    /// The first answer wins; a word that was not offered is said, and the question comes back to be asked again.
    async fn answer(
        &self,
        record: QuestionRecord,
        line: Option<String>,
    ) -> Result<Option<QuestionRecord>, Fault> {
        let id = record.question.id;
        let Some(line) = line else {
            return Err(Fault {
                message: format!("{id} waits for an answer, and nobody is there to give one"),
                hint: format!("answer it: baton answer {id} TEXT; the work goes on with baton up"),
                code: UNANSWERED,
            });
        };
        let answer: NonBlank = Office::said(&line, "the answer")?;
        match give(self.api, id, &answer).await {
            Ok(_) => Ok(None),
            Err(fault) if fault.code == REFUSED || fault.code == USAGE => {
                output::talk(&format!("{}\n{}\n{}", fault.message, fault.hint, shown(&record).trim_end()));
                Ok(Some(record))
            }
            Err(fault) => Err(fault),
        }
    }

    fn interrupted(&self) -> Fault {
        let task = self.sent.task_id;
        Fault {
            message: format!("{task} is not done yet; nothing is lost"),
            hint: format!(
                "see where it stands: baton task show {task}; give it up: baton task cancel {task}"
            ),
            code: INTERRUPTED,
        }
    }
}

/// The next event, which has to come: the work is not over.
async fn next(events: &mut EventStream) -> Result<baton_engine::StoredEvent, Fault> {
    events.next().await?.ok_or_else(|| Fault {
        message: "the server ended before the work was done".to_owned(),
        hint: "the message is kept; start the server again: baton up".to_owned(),
        code: UNREACHABLE,
    })
}

/// Without a question there is nothing to wait for here.
async fn answer_to(terminal: &mut Terminal, asked: Option<&QuestionRecord>) -> Option<String> {
    match asked {
        Some(_) if terminal.is_there() => terminal.line().await,
        Some(_) => {
            sleep(AUTOMATION_GRACE).await;
            None
        }
        None => std::future::pending().await,
    }
}
