//! The reason an agent gives for the end of its turn.
//!
//! Recorded, but hardly trusted: agents say `end_turn` after every tool call was refused, and `cancelled` after a single
//! refusal. Baton keeps its own record of what happened.

use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    EndTurn,
    MaxTokens,
    MaxTurns,
    /// The model refused to continue.
    Refusal,
    Cancelled,
    /// The turn failed; the record has the error.
    Error,
    /// An unknown reason.
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
