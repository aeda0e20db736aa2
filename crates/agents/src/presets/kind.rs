//! The kinds of agents there are, by how they are talked to.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentKind {
    /// Any program that speaks the Agent Client Protocol.
    Acp,
    /// Claude Code's own stream, for people without Node.
    Claude,
    /// Codex's own stream, for people without Node.
    Codex,
    /// Any program, by lines on its standard streams.
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
