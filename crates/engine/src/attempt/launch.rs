//! An outfit: what an agent is given for one shift, beside its prompt.
//!
//! Its command, its environment, its tools, its session. Everything is decided here from the settings and the
//! attempt; nothing is started.

use std::time::Duration;

use baton_agents::driver::tool_server::ToolServer;
use baton_agents::driver::{RunLimits, SessionResume, SessionSetup};
use baton_agents::process::environment::AgentEnvironment;
use baton_core::base::time::Timestamp;
use baton_core::task::attempt::AgentSession;

use crate::attempt::agent_run::AgentRun;
use crate::attempt::assignment::Assignment;
use crate::attempt::error::AttemptError;
use crate::attempt::mailbox::Bench;
use crate::base::attempt_secret::AttemptSecret;
use crate::base::error::EngineError;
use crate::limits::room::Room;
use crate::projects::Projects;
use crate::settings::location::WORKTREE_VARIABLE;
use crate::settings::permissions::SERVER_NAME;
use crate::settings::{AgentKind, AgentSettings};

impl AgentRun<'_> {
    pub(crate) fn command(&self, agent: &AgentSettings) -> Vec<String> {
        match agent.kind {
            AgentKind::Acp | AgentKind::Claude | AgentKind::Codex | AgentKind::Command => {
                agent.command.clone()
            }
            AgentKind::Scripted => {
                let program = self.program();
                [program, "scripted-agent".to_owned()].into_iter().chain(agent.command.clone()).collect()
            }
        }
    }

    fn program(&self) -> String {
        self.context.agents.program.to_string_lossy().into_owned()
    }

    /// The agent's own limits, or what is left of a budget where that is less.
    pub(crate) fn limits(
        &self,
        agent: &AgentSettings,
        turns_max: u32,
        room: &Room,
        memory_bytes_max: Option<u64>,
    ) -> RunLimits {
        let timeout = Duration::from_secs(agent.timeout);
        RunLimits {
            turns_max: room.turns.map_or(turns_max, |left| left.min(turns_max)),
            timeout: Some(room.time.map_or(timeout, |left| left.min(timeout))),
            idle_timeout: Some(Duration::from_secs(agent.idle_timeout)),
            answer_wait: self.context.settings.asking.patience(),
            log_bytes_max: u64::from(self.context.settings.retention.log_mb.max(1)) << 20,
            memory_bytes_max,
            ..RunLimits::default()
        }
    }

    /// What its program finds in its environment, without anything of Baton's.
    fn allowed(agent: &AgentSettings) -> AgentEnvironment {
        let known = agent.preset();
        let mut names = agent.env.clone();
        names.extend(known.env.iter().map(|&name| name.to_owned()));
        let mut environment = AgentEnvironment::allowed(std::env::vars_os(), &names);
        for (name, value) in &agent.set {
            environment.set(name, value);
        }
        environment
    }

    pub(crate) fn environment(
        &self,
        who: &Assignment<'_>,
        secret: &AttemptSecret,
    ) -> Result<AgentEnvironment, AttemptError> {
        let mut environment = Self::allowed(who.agent);
        if let (Some(name), Some(account)) = (&who.account, who.account_settings) {
            let unset = |variable| AttemptError::NoVariable { account: name.clone(), variable };
            account.apply(&who.agent.preset(), &mut environment).map_err(unset)?;
        }
        if let Some(url) = &self.context.agents.mcp_url {
            environment.set("BATON_MCP_URL", url);
        }
        for (name, value) in self.context.place.variables() {
            environment.set(name, value);
        }
        for (name, value) in &self.context.agents.values {
            environment.set(name, value);
        }
        environment.set(WORKTREE_VARIABLE, self.checkout.folder.as_os_str());
        environment.set("BATON_TASK_ID", self.task.id().to_string());
        environment.set("BATON_TOKEN", secret.reveal());
        environment.set("BATON_BIN", self.context.agents.program.as_os_str());
        let live = self.task.state().live_attempt();
        environment.set("BATON_ATTEMPT_NUMBER", live.map_or(1, |live| live.number).to_string());
        for (name, value) in &self.variables {
            environment.set(name, value);
        }
        Ok(environment)
    }

    /// What the agent's tools need to know of where it works.
    pub(crate) fn bench(&self, agent: &AgentSettings) -> Bench {
        let root = Projects::tasks_folder(self.worktrees);
        let mut site = self.context.agents.site(&root, &self.checkout.folder, self.attempt, &agent.env);
        let projects = &self.context.projects;
        site.fence = projects.agent_task_fence(self.role, agent, self.worktrees, &self.checkout.folder);
        let user_tasks = self.context.agents.user_tasks.clone();
        Bench { site, user_tasks, outcomes: self.outcomes.clone(), prompt: self.prompt.clone() }
    }

    /// Where it reaches the tools, the session it goes on in, and what else a session is opened with.
    pub(crate) async fn session(
        &self,
        who: &Assignment<'_>,
        secret: &AttemptSecret,
    ) -> Result<SessionSetup, EngineError> {
        if !who.agent.has_sessions() {
            return Ok(SessionSetup::default());
        }
        let earlier = self.earlier_session(who).await?;
        Ok(SessionSetup {
            tools: Some(ToolServer {
                name: SERVER_NAME.to_owned(),
                url: self.context.agents.mcp_url.clone(),
                token: secret.reveal().to_owned(),
                shim: vec![self.program(), "mcp".to_owned()],
            }),
            resume: earlier.map(|earlier| SessionResume {
                agent_session: earlier.id,
                prompt_without: self.prompt.clone(),
            }),
            git_folders: self.worktrees.git_folders(self.checkout),
            model: self.model(who),
            effort: who.agent.effort.clone(),
        })
    }

    /// A fallback's own model counts over everything else: it has the work because the other takes none.
    fn model(&self, who: &Assignment<'_>) -> Option<String> {
        let of_agent = who.agent.model.clone();
        if who.agent.model_of.is_some() {
            return of_agent;
        }
        let of_task = || self.task.spec().model.as_ref().map(ToString::to_string);
        self.model.clone().or_else(of_task).or(of_agent)
    }

    /// The session this agent had last, in this attempt or in one it goes on from. None when the step begins a new
    /// one, or when the last one was another agent's.
    pub(crate) async fn earlier_session(
        &self,
        who: &Assignment<'_>,
    ) -> Result<Option<AgentSession>, EngineError> {
        let task = self.context.tasks.task(self.task.id()).await?.value;
        let mut attempt = task.state().live_attempt().cloned();
        while let Some(current) = attempt {
            if let Some(session) = current.agent_session {
                let is_of_now = self.session_since.is_none_or(|since: Timestamp| session.since >= since);
                let is_usable = self.finds(who, &session) && is_of_now && !session.is_full;
                return Ok(is_usable.then_some(session));
            }
            attempt = match current.resumes {
                Some(earlier) => {
                    self.context.tasks.store.attempt(earlier).await?.map(|record| record.attempt)
                }
                None => None,
            };
        }
        Ok(None)
    }

    /// Whether the agent finds this session on the account it works on.
    fn finds(&self, who: &Assignment<'_>, session: &AgentSession) -> bool {
        let accounts = who.account.as_ref().zip(session.account.as_ref());
        let is_there = accounts.is_none_or(|(now, then)| self.context.settings.shares_sessions(now, then));
        let agents = &self.context.settings.agents;
        // With another model it is the same program, which knows its sessions.
        let program = |name| agents.get(name).and_then(|agent| agent.model_of.as_ref()).unwrap_or(name);
        program(&session.agent) == program(who.name) && is_there
    }
}
