//! The fence of an agent's run: built before it starts, recorded as an event, and taken down with it (I21).

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder};
use std::net::SocketAddr;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use baton_agents::fence::abilities::HostAbilities;
use baton_agents::fence::proxy::{NetworkRefusal, Proxy};
use baton_agents::fence::relay::Relay;
use baton_agents::fence::{Fence, FenceRequest, ForwardedPort, helper};
use baton_agents::process::environment::AgentEnvironment;
use baton_core::base::id::{AttemptId, TaskId};
use baton_core::base::text::NonBlank;
use baton_core::people::actor::Actor;
use baton_core::records::change::Change;
use baton_core::records::event::{Event, EventBody};
use baton_core::task::fence::{FenceMode, NetworkMode};
use tokio::sync::mpsc;

use crate::attempt::agent_run::AgentRun;
use crate::attempt::error::AttemptError;
use crate::base::error::{EngineError, FolderError};
use crate::base::ids::Ids;
use crate::settings::AgentSettings;
use crate::tasks::service::TaskService;

/// The port of the proxy on the fence's own loopback.
const PROXY_PORT: u16 = 3128;
/// Different hosts whose refusal is told, for one run. An agent that tries them all fills no history.
const REFUSED_HOSTS_MAX: usize = 50;

/// A fence and what serves it. Dropping it closes its sockets.
pub(crate) struct RunFence {
    pub(crate) fence: Fence,
    _proxy: Option<Proxy>,
    _relay: Option<Relay>,
    _sockets: Option<SocketFolder>,
}

impl AgentRun<'_> {
    /// Builds the fence, and records what it is.
    pub(crate) async fn build_fence(
        &self,
        agent: &AgentSettings,
        environment: &AgentEnvironment,
        command: &[String],
    ) -> Result<RunFence, EngineError> {
        let mut request = self.fence_request(agent, environment, command);
        let wants_sockets =
            request.policy.mode != FenceMode::Off && request.policy.network != NetworkMode::Open;
        let (mut proxy, mut relay, mut sockets) = (None, None, None);
        if wants_sockets {
            let folder = SocketFolder::create()?;
            let failed =
                |error: std::io::Error| FolderError { path: folder.0.clone(), detail: error.to_string() };
            if request.policy.network == NetworkMode::Allow {
                let socket = folder.0.join("proxy");
                let sink = refusal_sink(&self.context.tasks, self.task.id(), self.attempt);
                proxy = Some(Proxy::open(&socket, request.policy.allow.clone(), sink).map_err(failed)?);
                request.forward.push(ForwardedPort { port: PROXY_PORT, socket });
                request.proxy_port = Some(PROXY_PORT);
            }
            if let Some(server) = self.context.agents.mcp_url.as_deref().and_then(server_address) {
                let socket = folder.0.join("tools");
                relay = Some(Relay::open(&socket, server, self.attempt).map_err(failed)?);
                request.forward.push(ForwardedPort { port: server.port(), socket });
            }
            sockets = Some(folder);
        }
        let fence = Fence::build(&request, HostAbilities::current(), helper())
            .map_err(|error| AttemptError::NoFence { detail: error.to_string() })?;
        let body = EventBody::AttemptFenced {
            task: self.task.id(),
            attempt: self.attempt,
            fence: fence.report().clone(),
        };
        record(&self.context.tasks, body).await?;
        Ok(RunFence { fence, _proxy: proxy, _relay: relay, _sockets: sockets })
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

/// The repository's objects, and those that it borrows itself.
fn object_folders(git_dir: &Path) -> Vec<PathBuf> {
    let objects = git_dir.join("objects");
    let borrowed = fs::read_to_string(objects.join("info/alternates")).unwrap_or_default();
    let borrowed = borrowed.lines().map(|line| objects.join(line)).filter(|path| path.is_dir());
    std::iter::once(objects.clone())
        .chain(borrowed.collect::<Vec<_>>())
        .filter(|path| path.is_dir())
        .collect()
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

/// Each refused host is told once.
fn refusal_sink(
    tasks: &TaskService,
    task: TaskId,
    attempt: AttemptId,
) -> Arc<dyn Fn(NetworkRefusal) + Send + Sync> {
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

/// A short path, because the address of a socket has room for a hundred bytes only.
struct SocketFolder(PathBuf);

impl SocketFolder {
    fn create() -> Result<Self, EngineError> {
        let name: String = Ids::secret().chars().take(16).collect();
        let path = std::env::temp_dir().join(format!("baton-{name}"));
        let failed = |error: std::io::Error| FolderError { path: path.clone(), detail: error.to_string() };
        DirBuilder::new().mode(0o700).create(&path).map_err(failed)?;
        Ok(Self(path))
    }
}

impl Drop for SocketFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
