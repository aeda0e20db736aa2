//! What an attempt needs from its fence, as plain data.

use std::path::PathBuf;

use baton_core::task::fence::{FenceMode, NetworkMode};

use crate::fence::host_pattern::HostPattern;

/// What the settings say about the fence of an agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FencePolicy {
    pub mode: FenceMode,
    pub network: NetworkMode,
    /// Hosts that `allow` lets through.
    pub allow: Vec<HostPattern>,
    /// A refused host becomes a question to the person.
    pub network_ask: bool,
    /// More folders that the agent may read.
    pub read: Vec<PathBuf>,
    /// More folders that the agent may change.
    pub write: Vec<PathBuf>,
}

/// Everything a fence is built from. Paths are absolute.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FenceRequest {
    pub policy: FencePolicy,
    /// The attempt's own repository: writable.
    pub clone: PathBuf,
    /// Object folders that the clone borrows from: readable.
    pub objects: Vec<PathBuf>,
    /// The person's home. It looks empty, apart from what is listed here.
    pub home: PathBuf,
    /// The agent's own folders and files, by its preset: writable.
    pub agent_write: Vec<PathBuf>,
    /// The same, only to read.
    pub agent_read: Vec<PathBuf>,
    /// Never visible, even below a visible folder: the state folder, the settings, the person's checkout.
    pub hide: Vec<PathBuf>,
    /// The folder that is `/tmp` inside; without one it is in memory.
    pub tmp: Option<PathBuf>,
    /// The directories of `PATH`, and others that name tools.
    pub search_path: Vec<PathBuf>,
    /// The agent's program, resolved as far as it was found.
    pub program: Option<PathBuf>,
    /// Ports inside the fence that lead to a socket outside, where the network is the fence's own.
    pub forward: Vec<ForwardedPort>,
    /// The port of [`ForwardedPort`] that is the HTTP proxy, where there is one.
    pub proxy_port: Option<u16>,
}

/// A port on the fence's loopback whose connections are piped to a UNIX socket.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ForwardedPort {
    pub port: u16,
    pub socket: PathBuf,
}
