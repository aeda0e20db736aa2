//! The fence of an agent's run: built before it starts, recorded as an event, and taken down with it (I21).

use std::collections::BTreeSet;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use baton_agents::driver::run_result::{EndReason, RunResult};
use baton_agents::fence::FenceRequest;
use baton_agents::fence::host_pattern::HostPattern;
use baton_agents::fence::proxy::{NetworkRefusal, RefusalSink};
use baton_agents::process::environment::AgentEnvironment;
use baton_core::base::id::{AttemptId, TaskId};
use baton_core::base::text::NonBlank;
use baton_core::people::actor::Actor;
use baton_core::records::change::Change;
use baton_core::records::event::{Event, EventBody};
use baton_core::task::attempt::{AttemptResult, ErrorCause};
use baton_core::task::fence::FenceMode;
use tokio::sync::mpsc;

use crate::asking::HostLeave;
use crate::attempt::agent_run::AgentRun;
use crate::base::error::EngineError;
use crate::base::run_fence::RunFence;
use crate::projects::fence::object_folders;
use crate::settings::AgentSettings;
use crate::settings::accounts::HOME_VARIABLES;
use crate::tasks::service::TaskService;

/// Different hosts whose refusal is told, for one run. An agent that tries them all fills no history.
const REFUSED_HOSTS_MAX: usize = 50;

impl AgentRun<'_> {
    /// Builds the fence, and records what it is. Hosts that it refuses are kept where a person is asked about them.
    pub(crate) async fn build_fence(
        &self,
        agent: &AgentSettings,
        environment: &AgentEnvironment,
        command: &[String],
    ) -> Result<(RunFence, RefusedHosts), EngineError> {
        let mut request = self.fence_request(agent, environment, command);
        let refused = RefusedHosts::default();
        let is_asked = request.policy.network_ask;
        if is_asked {
            let leave = HostLeave::look(&self.context.tasks, self.task.id()).await?;
            request.policy.allow.extend(leave.patterns());
        }
        let tools = self.context.agents.mcp_url.as_deref().and_then(server_address);
        let kept = is_asked.then(|| refused.clone());
        let sink = || refusal_sink(&self.context.tasks, self.task.id(), self.attempt, kept);
        let built = RunFence::build(request, tools.map(|server| (server, self.attempt)), sink)?;
        let body = EventBody::AttemptFenced {
            task: self.task.id(),
            attempt: self.attempt,
            fence: built.fence.report().clone(),
        };
        record(&self.context.tasks, body).await?;
        Ok((built, refused))
    }

    /// Hosts that nobody has decided about become a question, unless the run ended in another way than by itself.
    pub(crate) async fn ask_about_hosts(
        &self,
        refused: &RefusedHosts,
        ended: &mut RunResult,
    ) -> Result<(), EngineError> {
        let hosts = refused.take();
        let goes_on = match &ended.reported.result {
            AttemptResult::Asked { .. } | AttemptResult::Stopped { .. } => false,
            AttemptResult::Error { cause, .. } => *cause == ErrorCause::Own,
            AttemptResult::Complete
            | AttemptResult::Incomplete
            | AttemptResult::NoEvidence
            | AttemptResult::NoChanges { .. }
            | AttemptResult::TurnLimit
            | AttemptResult::Blocked { .. } => true,
        };
        if hosts.is_empty() || !goes_on || ended.reason == EndReason::Cancelled {
            return Ok(());
        }
        let leave = HostLeave::look(&self.context.tasks, self.task.id()).await?;
        if let Some(question) = leave.question(&hosts)? {
            ended.reported.result = AttemptResult::Asked { question };
        }
        Ok(())
    }

    fn fence_request(
        &self,
        agent: &AgentSettings,
        environment: &AgentEnvironment,
        command: &[String],
    ) -> FenceRequest {
        let home = PathBuf::from(environment.get("HOME").unwrap_or_default());
        let search_path: Vec<PathBuf> =
            std::env::split_paths(environment.get("PATH").unwrap_or_default()).collect();
        let policy = self.context.settings.fence_policy(self.role, agent, &home);
        let mut agent_write: Vec<PathBuf> =
            agent.preset().home.iter().map(|name| home_path(environment, &home, name)).collect();
        // Its sessions are kept in folders that outlive the fence; a file is made by the agent itself.
        for folder in
            agent_write.iter().filter(|path| path.extension().is_none() && policy.mode != FenceMode::Off)
        {
            let _ = fs::create_dir_all(folder);
        }
        let moved = HOME_VARIABLES.iter().filter_map(|variable| environment.get(variable));
        agent_write.extend(moved.map(PathBuf::from).filter(|path| path.is_dir()));
        let is_outside = |path: &PathBuf| !path.starts_with(&self.checkout.folder);
        agent_write.extend(self.worktrees.git_folders(self.checkout).into_iter().filter(is_outside));
        let program = command.first().and_then(|word| resolve(word, &search_path));
        // A script that the command names is part of the agent.
        let scripts =
            command.iter().skip(1).map(PathBuf::from).filter(|path| path.is_absolute() && path.is_file());
        // A linked worktree writes into the repository's own objects; a clone only reads them.
        let mut objects = object_folders(self.worktrees.repository().git_dir());
        objects.retain(|path| !agent_write.iter().any(|above| path.starts_with(above)));
        FenceRequest {
            policy,
            clone: self.checkout.folder.clone(),
            objects,
            home,
            agent_write,
            agent_read: scripts.collect(),
            hide: vec![self.context.place.root.clone(), self.context.place.state_dir.clone()],
            tmp: None,
            search_path,
            program,
            forward: Vec::new(),
            proxy_port: None,
        }
    }
}

/// `.config/x` and its like follow the XDG variables.
fn home_path(environment: &AgentEnvironment, home: &Path, name: &str) -> PathBuf {
    let places = [
        (".config/", "XDG_CONFIG_HOME"),
        (".local/share/", "XDG_DATA_HOME"),
        (".local/state/", "XDG_STATE_HOME"),
        (".cache/", "XDG_CACHE_HOME"),
    ];
    let moved = places.iter().find_map(|(prefix, variable)| {
        Some(Path::new(environment.get(variable)?).join(name.strip_prefix(prefix)?))
    });
    moved.unwrap_or_else(|| home.join(name))
}

fn resolve(program: &str, search_path: &[PathBuf]) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(|path| path.is_absolute());
    }
    search_path.iter().map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// `http://127.0.0.1:5678/mcp` → `127.0.0.1:5678`.
fn server_address(url: &str) -> Option<SocketAddr> {
    url.strip_prefix("http://")?.split('/').next()?.parse().ok()
}

/// The hosts that a fence has refused so far. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct RefusedHosts(Arc<Mutex<BTreeSet<String>>>);

impl RefusedHosts {
    /// Only what names one place: nobody is asked about a pattern.
    fn add(&self, host: &str) {
        let mut hosts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_one = !host.contains('*') && host.parse::<HostPattern>().is_ok();
        if is_one && hosts.len() < REFUSED_HOSTS_MAX {
            hosts.insert(host.to_owned());
        }
    }

    fn take(&self) -> BTreeSet<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Each refused host is told once.
fn refusal_sink(
    tasks: &TaskService,
    task: TaskId,
    attempt: AttemptId,
    kept: Option<RefusedHosts>,
) -> RefusalSink {
    let (sender, mut refusals) = mpsc::channel::<NetworkRefusal>(REFUSED_HOSTS_MAX);
    let tasks = tasks.clone();
    tokio::spawn(async move {
        let mut told = BTreeSet::new();
        while let Some(NetworkRefusal { host, reason }) = refusals.recv().await {
            if told.len() >= REFUSED_HOSTS_MAX || !told.insert(host.clone()) {
                continue;
            }
            let (Ok(host), Ok(reason)) = (NonBlank::new(host), NonBlank::new(reason)) else { continue };
            let body = EventBody::NetworkRefused { task, attempt, host, reason };
            if let Err(error) = record(&tasks, body).await {
                tracing::warn!(%error, %attempt, "cannot record a refused connection");
            }
        }
    });
    Arc::new(move |refusal| {
        if let Some(kept) = &kept {
            kept.add(&refusal.host);
        }
        // Full: the same few hosts are tried over and over.
        let _ = sender.try_send(refusal);
    })
}

async fn record(tasks: &TaskService, body: EventBody) -> Result<(), EngineError> {
    let mut change = Change::new();
    change.events.push(Event { at: tasks.store.now().await?, by: Actor::Baton, body });
    tasks.store.commit(change).await?;
    Ok(())
}
