//! A fence and what serves it while something runs inside: an agent, a check or a user task (I21).

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder};
use std::net::SocketAddr;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use baton_agents::fence::abilities::HostAbilities;
use baton_agents::fence::proxy::{NetworkRefusal, Proxy, RefusalSink};
use baton_agents::fence::relay::Relay;
use baton_agents::fence::{Fence, FenceRequest, ForwardedPort, helper};
use baton_core::base::explanation::Explanation;
use baton_core::base::id::AttemptId;
use baton_core::task::fence::{FenceMode, NetworkMode};

use crate::base::error::{EngineError, ErrorKind, FolderError};
use crate::base::ids::Ids;
use crate::base::refusals::failure;

/// The port of the proxy on the fence's own loopback.
const PROXY_PORT: u16 = 3128;

/// A fence that the settings ask for and that cannot be built here.
#[derive(Debug, thiserror::Error)]
#[error("{detail}")]
pub struct NoFence {
    pub detail: String,
}

impl NoFence {
    pub const EXPLAINED: Explanation = Explanation {
        code: "no_fence",
        means: "The settings ask for a fence that this machine cannot build, so neither an agent nor a check was started (I21).",
        cause: "`fence = \"strict\"` is all or nothing. bubblewrap is missing, or the system forbids user namespaces, or \
                a folder in `fence_read` or `fence_write` leads elsewhere; the message says which.",
        next: "`baton doctor` shows what is missing. Install bubblewrap, or set `fence = \"auto\"` to do with what there is.",
    };
}

failure! {
    NoFence { |it|
        kind: ErrorKind::Internal,
        hint: "baton doctor says what is missing; fence = \"auto\" does with what there is",
        explained: &Self::EXPLAINED,
    }
}

/// Different hosts that are named to whoever reads the output of a command.
const NAMED_HOSTS_MAX: usize = 20;

/// The hosts that commands were refused, with the reason.
type RefusedToCommands = Arc<Mutex<BTreeMap<String, String>>>;

/// A fence and what serves it. Dropping it closes its sockets.
pub(crate) struct RunFence {
    pub(crate) fence: Fence,
    refused: RefusedToCommands,
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
            .map_err(|error| NoFence { detail: error.to_string() })?;
        Ok(Self { fence, refused: Arc::default(), _proxy: proxy, _relay: relay, _sockets: sockets })
    }

    /// For commands of people that run what an agent wrote. They reach no tools.
    pub(crate) fn for_commands(request: FenceRequest) -> Result<Self, EngineError> {
        let refused = RefusedToCommands::default();
        let kept = Arc::clone(&refused);
        let built = Self::build(request, None, || {
            Arc::new(move |refusal: NetworkRefusal| {
                tracing::info!(host = %refusal.host, reason = %refusal.reason, "a command may not reach this host");
                let mut hosts = kept.lock().unwrap_or_else(PoisonError::into_inner);
                if hosts.len() < NAMED_HOSTS_MAX {
                    hosts.insert(refusal.host, refusal.reason);
                }
            })
        })?;
        Ok(Self { refused, ..built })
    }

    /// What commands were refused so far, a line for each host: tools often say no more than that they failed.
    pub(crate) fn refusals_to_commands(&self) -> String {
        let hosts = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        let line = |(host, reason): (&String, &String)| {
            format!("baton: the fence refused {}: {reason}\n", host.escape_debug())
        };
        hosts.iter().map(line).collect()
    }
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
