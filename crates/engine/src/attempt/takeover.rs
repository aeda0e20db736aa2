//! A person works on a task in the place of its agent: in the folder of its last attempt, with the agent's own session at
//! hand.

use std::path::PathBuf;

use baton_agents::presets::terminal::terminal_command;
use baton_core::base::id::{AttemptId, TaskId};
use baton_core::base::text::{AgentName, NonBlank};
use baton_core::base::time::Timestamp;
use baton_core::people::actor::Actor;
use baton_core::task::Task;
use baton_core::transition::command::Command;
use serde::{Deserialize, Serialize};

use crate::attempt::context::AttemptContext;
use crate::base::error::Result;
use crate::git::{Checkout, Worktrees};

/// What an agent reads that goes on after a person.
const HANDED_BACK: &str = "I took over for a while and worked in your folder myself. Look at what changed (git log, git status, \
                           git diff) before you go on.";

/// A task that a person has taken over.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TakeoverView {
    pub task_id: TaskId,
    /// Who has it; none if nobody took it over.
    pub taken_by: Option<String>,
    pub since: Option<Timestamp>,
    /// The attempt whose folder it is.
    pub attempt_id: Option<AttemptId>,
    /// Whether the agent has ended, so that the person has the folder alone.
    pub is_free: bool,
    /// The folder; none where no attempt got that far, or it is on another machine.
    pub worktree: Option<PathBuf>,
    pub agent: Option<AgentName>,
    /// The agent's own session.
    pub agent_session: Option<String>,
    /// What continues that session in a terminal, where Baton knows it.
    pub agent_command: Option<Vec<String>>,
}

/// Takes tasks over and hands them back.
pub struct Takeovers {
    context: AttemptContext,
}

impl Takeovers {
    pub fn new(context: AttemptContext) -> Self {
        Self { context }
    }

    pub async fn take(&self, task: TaskId, at_once: bool, actor: Actor) -> Result<TakeoverView> {
        self.context.tasks.apply(task, Command::TakeOver { at_once }, actor).await?;
        self.view(task).await
    }

    /// The person's commits are on the task's branch before anything else happens.
    pub async fn give(
        &self,
        task: TaskId,
        is_done: bool,
        message: Option<NonBlank>,
        actor: Actor,
    ) -> Result<Task> {
        let tasks = &self.context.tasks;
        let taken = tasks.task(task).await?.value;
        if let Some((worktrees, checkout)) = self.checkout(&taken).await? {
            worktrees.bring(&checkout).await?;
        }
        let given = tasks.apply(task, Command::HandBack { is_done }, actor.clone()).await?;
        if !is_done {
            let text = message.map_or_else(|| NonBlank::new(HANDED_BACK), Ok)?;
            tasks.say(task, &text, &actor).await?;
        }
        Ok(given)
    }

    pub async fn view(&self, id: TaskId) -> Result<TakeoverView> {
        let task = self.context.tasks.task(id).await?.value;
        let taken = task.taken();
        let attempt_id = task.ledger().resumes.filter(|_| taken.is_some());
        let attempt = match attempt_id {
            Some(attempt) => self.context.tasks.store.attempt(attempt).await?,
            None => None,
        };
        let session = attempt.as_ref().and_then(|record| record.attempt.agent_session.clone());
        let agent = attempt.map(|record| record.attempt.agent);
        let settings = agent.as_ref().and_then(|name| self.context.settings.agents.get(name));
        let agent_command = match (&session, settings) {
            (Some(session), Some(agent)) => terminal_command(&agent.command, &session.id),
            _ => None,
        };
        let found = if taken.is_some() { self.checkout(&task).await? } else { None };
        let worktree = found.map(|(_, checkout)| checkout.folder).filter(|folder| folder.is_dir());
        let running = self.context.running.ids();
        Ok(TakeoverView {
            task_id: id,
            taken_by: taken.map(|taken| taken.by.to_string()),
            since: taken.map(|taken| taken.since),
            attempt_id,
            is_free: attempt_id.is_none_or(|attempt| !running.contains(&attempt)),
            worktree,
            agent,
            agent_session: session.map(|session| session.id),
            agent_command,
        })
    }

    /// The folder of the attempt that the next one continues.
    async fn checkout(&self, task: &Task) -> Result<Option<(Worktrees, Checkout)>> {
        let mut attempt = task.ledger().resumes;
        let projects = &self.context.projects;
        let (worktrees, from) = projects.repository(task).await?;
        while let Some(id) = attempt {
            let place = projects.stand(task, &worktrees, from.clone()).await?;
            if let Some(checkout) = worktrees.open(id, place).await? {
                return Ok(Some((worktrees, checkout)));
            }
            let earlier = self.context.tasks.store.attempt(id).await?;
            attempt = earlier.and_then(|record| record.attempt.resumes);
        }
        Ok(None)
    }
}
