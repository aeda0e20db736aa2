//! A shift: one agent put to work once, in a worktree that stands already.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use baton_agents::command::CommandAgent;
use baton_agents::driver::{Driver, EVENTS_MAX, Event, Launch, Limits, SessionSetup};
use baton_agents::ended::{Ended, How};
use baton_agents::environment::Environment;
use baton_agents::identity::ProcessIdentity;
use baton_core::ask_cycle::AskCycle;
use baton_core::attempt::{AttemptResult, ErrorCause};
use baton_core::id::AttemptId;
use baton_core::question::Draft;
use baton_core::refusal::Refusal;
use baton_core::task::Task;
use baton_core::text::{OutcomeName, Role};
use baton_store::Store;
use tokio::sync::{mpsc, watch};

use crate::asking::{Door, Secret};
use crate::error::EngineError;
use crate::mailbox::{Bench, Letters};
use crate::redaction::{self, redacted};
use crate::settings::{AgentKind, AgentSettings};
use crate::workshop::Workshop;

/// Where the identity of an attempt's process is written, in the attempt's folder.
pub const PROCESS_FILE: &str = "process.json";
/// The attempt's log, in the attempt's folder.
pub const LOG_FILE: &str = "agent.log";
/// What the agent was told, one file for each time, in the attempt's folder.
pub const PROMPTS_FOLDER: &str = "prompts";

pub struct Shift<'a, S> {
    pub shop: &'a Workshop<S>,
    pub task: &'a Task,
    pub attempt: AttemptId,
    pub worktree: &'a Path,
    pub role: &'a Role,
    /// What this is a shift at, for the name of its prompt's file.
    pub name: String,
    pub prompt: String,
    /// How its step may end, in the step's own words; none where it has no step.
    pub outcomes: Vec<OutcomeName>,
    /// What the agent finds in its environment beside what every agent does.
    pub variables: Vec<(&'static str, String)>,
}

/// How it went, and how many turns it might have taken.
pub struct Worked {
    pub ended: Ended,
    pub turns_max: u32,
}

impl<S: Store> Shift<'_, S> {
    pub async fn work(self, stop: watch::Receiver<bool>) -> Result<Worked, EngineError> {
        let settings = &self.shop.settings;
        let no_agent = || EngineError::NoAgent { role: self.role.clone() };
        let (_, agent) = settings.agent_for(self.role).ok_or_else(no_agent)?;
        let turns_max = settings.turns_max(self.role, agent);
        let folder = self.shop.attempt_folder(self.attempt);
        self.record_prompt(&folder.join(PROMPTS_FOLDER))?;
        let door = self.shop.door();
        let secret = door.admit(self.task.id(), self.attempt).await?;
        let bench = self.bench(agent).await?;
        let launch = Launch {
            attempt: self.attempt,
            command: self.command(agent),
            worktree: self.worktree.to_owned(),
            environment: self.environment(agent, &secret),
            prompt: self.prompt.clone(),
            limits: Limits {
                turns_max,
                timeout: Some(Duration::from_secs(agent.timeout)),
                idle_timeout: Some(Duration::from_secs(agent.idle_timeout)),
                ..Limits::default()
            },
            session: SessionSetup::default(),
            log_path: folder.join(LOG_FILE),
        };
        self.shop.mailbox.open(self.attempt, bench);
        let mut ended = drive::<S>(launch, folder.join(PROCESS_FILE), stop).await;
        let left_at = take_letters(self.shop.mailbox.close(self.attempt), &mut ended);
        let mut ended = redacted(ended);
        if !is_for_another_time(&ended) {
            self.put_questions(&door, &secret, left_at, &mut ended).await?;
        }
        self.shop.desk.hear_phase(self.task, &ended).await?;
        Ok(Worked { ended, turns_max })
    }

    fn record_prompt(&self, folder: &Path) -> Result<(), EngineError> {
        let failed = |error: std::io::Error| EngineError::Folder {
            path: folder.to_owned(),
            detail: error.to_string(),
        };
        fs::create_dir_all(folder).map_err(failed)?;
        let number = fs::read_dir(folder).map_err(failed)?.count() + 1;
        fs::write(folder.join(format!("{number:03}-{}.md", self.name)), &self.prompt).map_err(failed)
    }

    fn command(&self, agent: &AgentSettings) -> Vec<String> {
        match agent.kind {
            AgentKind::Command => agent.command.clone(),
            AgentKind::Scripted => {
                let program = self.shop.program.to_string_lossy().into_owned();
                [program, "scripted-agent".to_owned()].into_iter().chain(agent.command.clone()).collect()
            }
        }
    }

    /// What the agent's tools need to know of where it works.
    async fn bench(&self, agent: &AgentSettings) -> Result<Bench, EngineError> {
        let root = self.shop.repository_path(self.task).await?;
        let site = self.shop.site(&root, self.worktree, self.attempt, &agent.env);
        Ok(Bench { site, outcomes: self.outcomes.clone(), prompt: self.prompt.clone() })
    }

    /// What the agent asked is in the inbox, once, before anything else is done. An attempt that leaves a question
    /// there has not finished, however it ended.
    async fn put_questions(
        &self,
        door: &Door<S>,
        secret: &Secret,
        left_at: Option<Draft>,
        ended: &mut Ended,
    ) -> Result<(), EngineError> {
        let unfinished = match self.pending(secret).await? {
            // Whatever it says at its end beside it, that is the question it waits on.
            Some(pending) => Some(pending),
            // It has been answered meanwhile, and the next attempt goes on with the answer.
            None => left_at.filter(|left| match &ended.reported.result {
                AttemptResult::Asked { question } => question.text == left.text,
                _ => true,
            }),
        };
        match unfinished {
            Some(question) => {
                if let AttemptResult::Error { message, .. } = &ended.reported.result {
                    ended.problems.push(message.clone());
                }
                ended.reported.result = AttemptResult::Asked { question };
                Ok(())
            }
            None => put_question(door, secret, ended).await,
        }
    }

    /// What it asked by some other way than its last words, and is not answered yet.
    async fn pending(&self, secret: &Secret) -> Result<Option<Draft>, EngineError> {
        let task = self.shop.desk.task(self.task.id()).await?.value;
        let cycle = task.ledger().asking.as_ref().filter(|cycle| *cycle.owner() == secret.owner());
        Ok(cycle.and_then(AskCycle::pending).map(|question| question.draft.clone()))
    }

    fn environment(&self, agent: &AgentSettings, secret: &Secret) -> Environment {
        let mut environment = Environment::allowed(std::env::vars_os(), &agent.env);
        if let Some(url) = &self.shop.mcp_url {
            environment.set("BATON_MCP_URL", url);
        }
        for (name, value) in self.shop.place.variables() {
            environment.set(name, value);
        }
        environment.set("BATON_TASK_ID", self.task.id().to_string());
        environment.set("BATON_TOKEN", secret.reveal());
        environment.set("BATON_BIN", self.shop.program.as_os_str());
        let live = self.task.state().live_attempt();
        environment.set("BATON_ATTEMPT_NUMBER", live.map_or(1, |live| live.number).to_string());
        for (name, value) in &self.variables {
            environment.set(name, value);
        }
        environment
    }
}

/// What was handed in by tool counts over what was printed. Gives the question the agent was sent home over.
fn take_letters(letters: Letters, ended: &mut Ended) -> Option<Draft> {
    let Letters { outcome, plan, left_at } = letters;
    ended.outcome = outcome.or(ended.outcome.take());
    if plan.is_some() {
        ended.plan = plan;
        ended.reported.plan_submitted = true;
    }
    left_at.map(redaction::question)
}

/// Somebody stopped it, or it never got to its work: it goes on later, and a question it left waits until then.
fn is_for_another_time(ended: &Ended) -> bool {
    ended.how == How::Cancelled
        || matches!(ended.reported.result, AttemptResult::Error { cause: ErrorCause::Systemic, .. })
}

/// What the agent asked goes into the inbox by the same door as every question, before anything else is done.
async fn put_question<S: Store>(
    door: &Door<S>,
    secret: &Secret,
    ended: &mut Ended,
) -> Result<(), EngineError> {
    let AttemptResult::Asked { question } = &ended.reported.result else { return Ok(()) };
    match door.ask_anew(secret, question.clone()).await {
        Ok(_) => Ok(()),
        // It may not ask any more, but it has stopped: a human sees what it got to.
        Err(EngineError::Refused(Refusal::MayNotAsk { refusal, .. })) => {
            ended.reported.result = AttemptResult::Incomplete;
            ended.reported.output =
                format!("{}\n\nIt asked, and was refused: {refusal}.", ended.reported.output);
            Ok(())
        }
        Err(error) => Err(error),
    }
}

/// Runs the agent, writing down who its process is before anything else happens.
async fn drive<S: Store>(launch: Launch, process_file: PathBuf, stop: watch::Receiver<bool>) -> Ended {
    let driver = CommandAgent::new(Workshop::<S>::clock());
    let (sender, mut events) = mpsc::channel(EVENTS_MAX);
    let listening = async {
        while let Some(event) = events.recv().await {
            if let Event::Started(identity) = event {
                record_process(&process_file, &identity);
            }
        }
    };
    let (ended, ()) = tokio::join!(driver.run(launch, sender, stop), listening);
    // Nothing of it runs any more, so nobody has to look for it after a crash.
    let _ = fs::remove_file(&process_file);
    ended
}

/// Best effort: without it an orphan is still found by the attempt's id in its environment.
fn record_process(path: &Path, identity: &ProcessIdentity) {
    if let Ok(text) = serde_json::to_string(identity) {
        let _ = fs::write(path, text);
    }
}
