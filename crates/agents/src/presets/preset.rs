//! What is known of each agent: how it is started and what is peculiar to it. Data, not code.
//!
//! Everything here was seen on the real program or said in its documentation. An agent without an entry is
//! driven as [`Preset::GENERIC`], which assumes nothing but the protocol.

use crate::presets::kind::AgentKind;
use crate::report::usage::UsageKind;

/// One agent's habits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preset {
    pub name: &'static str,
    pub kind: AgentKind,
    /// The program and its arguments.
    pub command: &'static [&'static str],
    /// Makes it say its version without a network or an account.
    pub version: &'static [&'static str],
    /// Variables it needs beside the usual ones: its keys, its home, its model.
    pub env: &'static [&'static str],
    /// Variables it is started with, unless they are set already.
    pub set_env: &'static [(&'static str, &'static str)],
    /// The mode its sessions are put into.
    pub mode: Option<&'static str>,
    /// It ends when its standard input is closed. One that does not is ended at once.
    pub ends_on_close: bool,
    pub tools_by: ToolsBy,
    /// The name under which it sees the tool that asks the human.
    pub ask_tool: &'static str,
    /// How it is told of folders outside its own that it must be able to write to.
    pub writable_roots: WritableRoots,
    /// What its token counts mean.
    pub tokens_are: UsageKind,
    /// How a line of its last message begins that is an error of its provider, told as if it were its own words.
    pub error_begins: &'static [&'static str],
}

/// How it reaches Baton's tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolsBy {
    /// HTTP where it says that it can, else the shim.
    HttpOrShim,
    /// The shim, whatever it says.
    Shim,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WritableRoots {
    /// It writes where the system lets it.
    Unneeded,
    /// A variable with settings as JSON, which the agent's launcher passes on to Codex. Its sandbox keeps
    /// `.git` read-only otherwise, and no commit can be made in a linked worktree.
    CodexConfig(&'static str),
    /// Options `-c key=value` on the command line.
    CodexOptions,
}

/// The tool that asks the human, for agents that keep that name.
pub const ASK_USER: &str = "ask_user";
/// For agents that drop any tool called `ask_user`.
pub const ASK_HUMAN: &str = "ask_human";

impl Preset {
    /// An agent nobody has looked at yet.
    pub const GENERIC: Self = Self {
        name: "generic",
        kind: AgentKind::Acp,
        command: &[],
        version: &[],
        env: &[],
        set_env: &[],
        mode: None,
        ends_on_close: true,
        tools_by: ToolsBy::HttpOrShim,
        ask_tool: ASK_USER,
        writable_roots: WritableRoots::Unneeded,
        tokens_are: UsageKind::PerTurn,
        error_begins: &[],
    };
}
