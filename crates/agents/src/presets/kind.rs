//! Kinds of agents, by protocol.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentKind {
    /// Any program that speaks the Agent Client Protocol.
    Acp,
    /// Claude Code's native stream, without the Node adapter.
    Claude,
    /// Codex's native stream, without the Node adapter.
    Codex,
    /// Any program, by lines on standard streams.
    Command,
    /// The built-in agent that follows a script.
    Scripted,
}

impl AgentKind {
    pub const ALL: [Self; 5] = [Self::Acp, Self::Claude, Self::Codex, Self::Command, Self::Scripted];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Acp => "acp",
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Command => "command",
            Self::Scripted => "scripted",
        }
    }
}
