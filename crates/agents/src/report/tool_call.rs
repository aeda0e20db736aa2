//! Tool calls, the unit in which turns are counted.

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// The agent's id for this call.
    pub id: String,
    /// For display; often the command itself.
    pub title: String,
    pub kind: ToolKind,
}

/// What a tool does, according to the agent. Never the only ground for allowing it.
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

/// A tool call that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndedCall {
    pub id: String,
    pub outcome: ToolOutcome,
    /// What was called, with its input, in bounded space; none if the agent does not show the input.
    pub call: Option<String>,
    /// What it returned, in bounded space.
    pub result: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolOutcome {
    Done,
    Failed,
}
