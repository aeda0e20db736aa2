//! The kinds of row a store holds.

use std::fmt;

/// The kind of a row, in conflicts and in errors about rows that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RecordKind {
    Project,
    Session,
    Message,
    Task,
    Attempt,
    Question,
    Plan,
    Run,
    Loop,
    Receipt,
    Hold,
    Spending,
    AccessToken,
    Verdict,
    Attachment,
    Routine,
    Lease,
    Edge,
    Event,
    Effect,
    Worker,
    Cursor,
}

impl RecordKind {
    /// The key of PostgreSQL's `records` table, also used in messages. Never changes.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Session => "session",
            Self::Message => "message",
            Self::Task => "task",
            Self::Attempt => "attempt",
            Self::Question => "question",
            Self::Plan => "plan",
            Self::Run => "run",
            Self::Loop => "loop",
            Self::Receipt => "receipt",
            Self::Hold => "hold",
            Self::Spending => "spending",
            Self::AccessToken => "access_token",
            Self::Verdict => "verdict",
            Self::Attachment => "attachment",
            Self::Routine => "routine",
            Self::Lease => "lease",
            Self::Edge => "edge",
            Self::Event => "event",
            Self::Effect => "effect",
            Self::Worker => "worker",
            Self::Cursor => "cursor",
        }
    }
}

impl fmt::Display for RecordKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
