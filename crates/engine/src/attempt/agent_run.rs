//! A shift: one agent put to work once, in a worktree that stands already.

use crate::base::error::FolderError;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use baton_agents::driver::run_result::{EndReason, RunResult};
use baton_agents::driver::setup::AgentSetup;
use baton_agents::driver::{Driver, Launch, MessageFeed};
use baton_agents::failure::FailureKind;
use baton_agents::output::log::PrintedBytes;
use baton_agents::protocols;
use baton_core::ask::cycle::AskCycle;
use baton_core::ask::question::QuestionDraft;
use baton_core::base::id::AttemptId;
use baton_core::base::text::{AgentName, OutcomeName, Role};
use baton_core::base::time::Timestamp;
use baton_core::records::session::Message;
use baton_core::task::Task;
use baton_core::task::attempt::{AttemptResult, ErrorCause, SessionUse};
use tokio::sync::watch;

use crate::asking::AgentGateway;
use crate::attempt::agent_trace::AgentTrace;
use crate::attempt::context::AttemptContext;
use crate::attempt::drive::Watched;
use crate::attempt::mailbox::Letters;
use crate::attempt::memory_quota;
use crate::attempt::question_relay::QuestionRelay;
use crate::attempt::steering::Steering;
use crate::attempt::turns::TurnAllowance;
use crate::attempt::without_tools::{NO_TOOLS, without_tools};
use crate::base::attempt_secret::AttemptSecret;
use crate::base::error::EngineError;
use crate::base::redaction::{self, redact_result};
use crate::cluster::attempt_log::LOG_FILE;
use crate::git::{Checkout, Worktrees};
use crate::runs::loops::Loops;
use crate::settings::{AgentSettings, TurnLimit};

/// Where the identity of an attempt's process is written, in the attempt's folder.
pub const PROCESS_FILE: &str = "process.json";
/// What the agent was told, one file for each time, in the attempt's folder.
pub const PROMPTS_FOLDER: &str = "prompts";

pub struct AgentRun<'a> {
    pub context: &'a AttemptContext,
    pub task: &'a Task,
    pub attempt: AttemptId,
    pub worktrees: &'a Worktrees,
    pub checkout: &'a Checkout,
    pub role: &'a Role,
    /// What this is a shift at, for the name of its prompt's file.
    pub name: String,
    /// Everything an agent has to know that knows nothing yet.
    pub prompt: String,
    /// What is new to an agent that goes on in its earlier session.
    pub going_on: String,
    /// An earlier session counts only if it began since.
    pub session_since: Option<Timestamp>,
    /// The model of the step, over the agent's own.
    pub model: Option<String>,
    /// How its step may end, in the step's own words; none where it has no step.
    pub outcomes: Vec<OutcomeName>,
    /// What the agent finds in its environment beside what every agent does.
    pub variables: Vec<(&'static str, String)>,
    /// What people said that is new in the prompt.
    pub messages: &'a [Message],
    pub turns: TurnAllowance,
}

/// How it went, and what its turns count against.
pub struct Worked {
    pub ended: RunResult,
    pub limit: TurnLimit,
    /// What people said to the agent while it worked.
    pub steered: Vec<Message>,
    /// The account the agent ran on, where some are set up.
    pub account: Option<AgentName>,
}

impl AgentRun<'_> {
    pub async fn work(self, stop: watch::Receiver<bool>) -> Result<Worked, EngineError> {
        let who = self.assign().await?;
        let (name, agent) = (who.name, who.agent);
        let turns_max = self.turns.left;
        let folder = self.context.place.attempt_folder(self.attempt);
        let gateway = self.context.agents.gateway();
        let secret = gateway.admit(self.task.id(), self.attempt).await?;
        let bench = self.bench(agent);
        let session = self.session(&who, &secret).await?;
        let prompt = if session.resume.is_some() { &self.going_on } else { &self.prompt };
        self.record_prompt(&folder.join(PROMPTS_FOLDER), prompt)?;
        let room = self.context.limits.room(self.task, self.attempt, name).await?;
        let memory_max = memory_quota::allowed(self.context, self.task.id()).await?;
        let has_tools = session.tools.is_some() && self.context.agents.mcp_url.is_some();
        let (command, environment) = (self.command(agent), self.environment(&who, &secret)?);
        let (fenced, refused) = self.build_fence(agent, &environment, &command).await?;
        let launch = Launch {
            attempt: self.attempt,
            command,
            worktree: self.checkout.folder.clone(),
            environment,
            fence: Some(fenced.fence.clone()),
            prompt: prompt.clone(),
            limits: self.limits(agent, turns_max, &room, memory_max),
            session,
            log_path: folder.join(LOG_FILE),
            printed: PrintedBytes::default(),
        };
        self.context.agents.mailbox.open(self.attempt, bench);
        self.context.running.begin_shift(self.attempt, self.task.id(), self.turns.attempt_max);
        let AttemptContext { tasks, running, .. } = self.context;
        let steering = Steering::new(tasks, running, self.task.id(), self.attempt, self.messages);
        let driver = self.driver(agent, &gateway, &secret, steering.messages());
        let mut trace = AgentTrace::start(name, agent.kind, launch.session.model.as_deref());
        let watched = Watched { room: &room, steering: &steering, trace: &mut trace };
        // On the heap: it holds the state of everything that is watched while the agent runs.
        let mut ended = Box::pin(self.drive(driver.as_ref(), launch, &who, watched, stop)).await?;
        let steered = steering.delivered(ended.messages_delivered);
        steering.end()?;
        trace.end(&ended);
        if let Some(failure) = &ended.failure {
            self.context.limits.note_failure(self.task, name, who.account.as_ref(), failure).await?;
            if matches!(failure.kind, FailureKind::ContextOverflow | FailureKind::BrokenSession) {
                // Nothing more can be said in it; the next attempt begins a new one, with all that is known.
                let id = ended.agent_session.as_deref().unwrap_or_default();
                self.note_session(&who, id, true, SessionUse::default()).await?;
            }
        }
        let letters = self.context.agents.mailbox.close(self.attempt);
        if has_tools && !letters.has_looked {
            self.judge_without_tools(&mut ended).await?;
        }
        let left_at = take_letters(letters, &mut ended);
        if left_at.is_none() {
            self.ask_about_hosts(&refused, &mut ended).await?;
        }
        let mut ended = redact_result(ended);
        if !is_for_another_time(&ended) {
            self.put_questions(&gateway, &secret, left_at, &mut ended).await?;
        }
        Loops::new(&self.context.tasks).hear_phase(self.task, &mut ended).await?;
        let account = who.account;
        Ok(Worked { ended, limit: self.turns.limit, steered, account })
    }

    /// An agent that never looked at its tools could neither ask nor report. Work that it left is judged like any other;
    /// without, whatever it says of its end, it worked blind, and the task is not to blame.
    async fn judge_without_tools(&self, ended: &mut RunResult) -> Result<(), EngineError> {
        let left = self.worktrees.measure(self.checkout).await?;
        if left.files_changed > 0 || left.uncommitted > 0 {
            // Whoever looks at the work knows how it was made.
            ended.reported.output = format!("{}\n\nBaton: {NO_TOOLS}", ended.reported.output);
        } else {
            without_tools(ended);
        }
        Ok(())
    }

    fn record_prompt(&self, folder: &Path, prompt: &str) -> Result<(), EngineError> {
        let failed =
            |error: std::io::Error| FolderError { path: folder.to_owned(), detail: error.to_string() };
        fs::create_dir_all(folder).map_err(failed)?;
        let number = fs::read_dir(folder).map_err(failed)?.count() + 1;
        Ok(fs::write(folder.join(format!("{number:03}-{}.md", self.name)), prompt).map_err(failed)?)
    }

    fn driver(
        &self,
        agent: &AgentSettings,
        gateway: &AgentGateway,
        secret: &AttemptSecret,
        messages: MessageFeed,
    ) -> Box<dyn Driver> {
        let policy = self.context.settings.permissions(self.role, agent);
        let inquiry =
            QuestionRelay::new(gateway.clone(), self.context.agents.mailbox.clone(), secret.clone());
        let setup = AgentSetup::new(crate::base::clock::system(), agent.preset())
            .messages(messages)
            .pauses(self.context.running.pauses(self.attempt));
        protocols::for_kind(agent.kind, setup.permissions(Arc::new(policy)).asker(Arc::new(inquiry)))
    }

    /// What the agent asked is in the inbox, once, before anything else is done. An attempt that leaves a question
    /// there has not finished, however it ended.
    async fn put_questions(
        &self,
        gateway: &AgentGateway,
        secret: &AttemptSecret,
        left_at: Option<QuestionDraft>,
        ended: &mut RunResult,
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
            None => put_question(gateway, secret, ended).await,
        }
    }

    /// What it asked by some other way than its last words, and is not answered yet.
    async fn pending(&self, secret: &AttemptSecret) -> Result<Option<QuestionDraft>, EngineError> {
        let task = self.context.tasks.task(self.task.id()).await?.value;
        let cycle = task.ledger().asking.cycle().filter(|cycle| *cycle.owner() == secret.owner());
        Ok(cycle.and_then(AskCycle::pending).map(|question| question.draft.clone()))
    }
}

/// What was handed in by tool counts over what was printed. Gives the question the agent was sent home over.
fn take_letters(letters: Letters, ended: &mut RunResult) -> Option<QuestionDraft> {
    let Letters { outcome, plan, left_at, .. } = letters;
    ended.outcome = outcome.or(ended.outcome.take());
    if plan.is_some() {
        ended.plan = plan;
        ended.reported.plan_submitted = true;
    }
    left_at.map(redaction::redact_question)
}

/// Somebody stopped it, or it never got to its work: it goes on later, and a question it left waits until then.
fn is_for_another_time(ended: &RunResult) -> bool {
    ended.reason == EndReason::Cancelled
        || matches!(ended.reported.result, AttemptResult::Error { cause: ErrorCause::Systemic, .. })
}

/// What the agent asked goes into the inbox by the same door as every question, before anything else is done.
async fn put_question(
    gateway: &AgentGateway,
    secret: &AttemptSecret,
    ended: &mut RunResult,
) -> Result<(), EngineError> {
    let AttemptResult::Asked { question } = &ended.reported.result else { return Ok(()) };
    match gateway.ask_anew(secret, question.clone()).await {
        Ok(_) => Ok(()),
        // It may not ask any more, but it has stopped: a human sees what it got to.
        Err(error) => {
            let Some(refusal) = error.ask_refusal() else { return Err(error) };
            ended.reported.result = AttemptResult::Incomplete;
            ended.reported.output =
                format!("{}\n\nIt asked, and was refused: {refusal}.", ended.reported.output);
            Ok(())
        }
    }
}
