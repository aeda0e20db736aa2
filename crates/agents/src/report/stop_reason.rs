//! Why an agent says its turn ended.
//!
//! It is read and kept, and decides little: agents say `end_turn` after every tool was refused to them, and
//! `cancelled` after a single refusal. What really happened is in Baton's own record.

use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    EndTurn,
    MaxTokens,
    MaxTurns,
    /// The model would not go on.
    Refusal,
    Cancelled,
    /// The turn failed; what was said of it is in the record.
    Error,
    /// A word we do not know.
    Other(String),
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::EndTurn => "end_turn",
            Self::MaxTokens => "max_tokens",
            Self::MaxTurns => "max_turns",
            Self::Refusal => "refusal",
            Self::Cancelled => "cancelled",
            Self::Error => "error",
            Self::Other(word) => word,
        })
    }
}
