//! What Baton knows about one agent.
//!
//! Everything here was observed on the real program or comes from its documentation. An agent without an entry runs as
//! [`Preset::GENERIC`], which assumes nothing but the protocol.

use crate::presets::kind::AgentKind;
use crate::report::usage::UsageKind;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preset {
    pub name: &'static str,
    pub kind: AgentKind,
    /// The program and its arguments.
    pub command: &'static [&'static str],
    /// Command that prints its version without network or account.
    pub version: &'static [&'static str],
    /// Variables passed on in addition to the usual ones: keys, home, model.
    pub env: &'static [&'static str],
    /// Variables to set, unless they are set already.
    pub set_env: &'static [(&'static str, &'static str)],
    /// The session mode to select.
    pub mode: Option<&'static str>,
    /// It exits when its standard input closes. One that does not is ended at once.
    pub ends_on_close: bool,
    pub tool_transport: ToolTransport,
    /// Name of the tool that asks the human.
    pub ask_tool: &'static str,
    /// How to grant write access to folders outside the worktree.
    pub writable_roots: WritableRoots,
    /// Its own folders and files below the home, which a fence leaves writable.
    pub home: &'static [&'static str],
    /// Hosts it needs, which `network = "allow"` lets through.
    pub hosts: &'static [&'static str],
    /// What its token counts cover.
    pub token_kind: UsageKind,
    /// Prefixes of lines in its last message that are really errors of the provider.
    pub error_begins: &'static [&'static str],
}

/// How it reaches Baton's tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolTransport {
    /// HTTP if it announces support, else the shim.
    HttpOrShim,
    /// Always the shim.
    Shim,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WritableRoots {
    /// It can write wherever the system permits.
    Unneeded,
    /// A variable with JSON settings that the adapter passes to Codex. Its sandbox keeps `.git` read-only otherwise, and
    /// commits in a linked worktree fail.
    CodexConfig(&'static str),
    /// Options `-c key=value` on the command line.
    CodexOptions,
}

/// The usual name of the tool that asks the human.
pub const ASK_USER: &str = "ask_user";
/// For agents that drop tools called `ask_user`.
pub const ASK_HUMAN: &str = "ask_human";

impl Preset {
    /// An unknown agent.
    pub const GENERIC: Self = Self {
        name: "generic",
        kind: AgentKind::Acp,
        command: &[],
        version: &[],
        env: &[],
        set_env: &[],
        mode: None,
        ends_on_close: true,
        tool_transport: ToolTransport::HttpOrShim,
        ask_tool: ASK_USER,
        writable_roots: WritableRoots::Unneeded,
        home: &[],
        hosts: &[],
        token_kind: UsageKind::PerTurn,
        error_begins: &[],
    };
}
