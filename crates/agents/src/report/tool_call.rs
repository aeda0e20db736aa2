//! A tool call: the unit an agent's work is counted in.

/// A tool the agent set out to use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// The agent's own name for this call; no other call of the session has it.
    pub id: String,
    /// For a person to read; often the command itself.
    pub title: String,
    pub kind: ToolKind,
}

/// What a tool does, as far as the agent says. Nothing is allowed because of it alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ToolKind {
    Read,
    Edit,
    Delete,
    Move,
    Search,
    Execute,
    Think,
    Fetch,
    Other,
}

impl ToolKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Edit => "edit",
            Self::Delete => "delete",
            Self::Move => "move",
            Self::Search => "search",
            Self::Execute => "execute",
            Self::Think => "think",
            Self::Fetch => "fetch",
            Self::Other => "other",
        }
    }
}

/// How a tool call came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolEnd {
    Done,
    Failed,
}
