//! A fence and what serves it while something runs inside: an agent, or a check that runs what an agent wrote (I21).

use std::fs::{self, DirBuilder};
use std::net::SocketAddr;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use baton_agents::fence::abilities::HostAbilities;
use baton_agents::fence::proxy::{NetworkRefusal, Proxy, RefusalSink};
use baton_agents::fence::relay::Relay;
use baton_agents::fence::{Fence, FenceRequest, ForwardedPort, helper};
use baton_agents::process::environment::AgentEnvironment;
use baton_core::base::id::AttemptId;
use baton_core::task::fence::{FenceMode, NetworkMode};

use crate::base::error::{EngineError, FolderError};
use crate::base::ids::Ids;
use crate::git::Worktrees;
use crate::projects::Projects;
use crate::projects::error::ProjectError;

/// The port of the proxy on the fence's own loopback.
const PROXY_PORT: u16 = 3128;
/// A fence and what serves it. Dropping it closes its sockets.
pub(crate) struct RunFence {
    pub(crate) fence: Fence,
    _proxy: Option<Proxy>,
    _relay: Option<Relay>,
    _sockets: Option<SocketFolder>,
}

impl RunFence {
    /// `tools` is the server whose tools an attempt may use.
    pub(crate) fn build(
        mut request: FenceRequest,
        tools: Option<(SocketAddr, AttemptId)>,
        sink: impl FnOnce() -> RefusalSink,
    ) -> Result<Self, EngineError> {
        let wants_sockets =
            request.policy.mode != FenceMode::Off && request.policy.network != NetworkMode::Open;
        let (mut proxy, mut relay, mut sockets) = (None, None, None);
        if wants_sockets {
            let folder = SocketFolder::create()?;
            let failed =
                |error: std::io::Error| FolderError { path: folder.0.clone(), detail: error.to_string() };
            if request.policy.network == NetworkMode::Allow {
                let socket = folder.0.join("proxy");
                proxy = Some(Proxy::open(&socket, request.policy.allow.clone(), sink()).map_err(failed)?);
                request.forward.push(ForwardedPort { port: PROXY_PORT, socket });
                request.proxy_port = Some(PROXY_PORT);
            }
            if let Some((server, attempt)) = tools {
                let socket = folder.0.join("tools");
                relay = Some(Relay::open(&socket, server, attempt).map_err(failed)?);
                request.forward.push(ForwardedPort { port: server.port(), socket });
            }
            sockets = Some(folder);
        }
        let fence = Fence::build(&request, HostAbilities::current(), helper())
            .map_err(|error| ProjectError::NoFence { detail: error.to_string() })?;
        Ok(Self { fence, _proxy: proxy, _relay: relay, _sockets: sockets })
    }
}

impl Projects {
    /// For checks, which run what an agent wrote. They reach no tools.
    pub(crate) fn check_fence(&self, worktrees: &Worktrees, folder: &Path) -> Result<RunFence, EngineError> {
        let environment = AgentEnvironment::allowed(std::env::vars_os(), &[]);
        let home = PathBuf::from(environment.get("HOME").unwrap_or_default());
        let search_path = std::env::split_paths(environment.get("PATH").unwrap_or_default()).collect();
        let request = FenceRequest {
            policy: self.settings.check_fence(&home),
            clone: folder.to_owned(),
            objects: object_folders(worktrees.repository().git_dir()),
            home,
            hide: vec![self.place.root.clone(), self.place.state_dir.clone()],
            search_path,
            ..FenceRequest::default()
        };
        RunFence::build(request, None, || {
            Arc::new(|refusal: NetworkRefusal| {
                tracing::info!(host = %refusal.host, reason = %refusal.reason, "a check may not reach this host");
            })
        })
    }
}

/// The repository's objects, and those that it borrows itself.
pub(crate) fn object_folders(git_dir: &Path) -> Vec<PathBuf> {
    let objects = git_dir.join("objects");
    let borrowed = fs::read_to_string(objects.join("info/alternates")).unwrap_or_default();
    let borrowed = borrowed.lines().map(|line| objects.join(line)).filter(|path| path.is_dir());
    std::iter::once(objects.clone())
        .chain(borrowed.collect::<Vec<_>>())
        .filter(|path| path.is_dir())
        .collect()
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
