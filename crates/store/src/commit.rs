//! What came of a commit.

use baton_core::base::explanation::Explanation;
use baton_core::base::id::TaskId;
use baton_core::explained;
use baton_core::graph::explained::CIRCLE;
use baton_core::records::change::WriteGuard;

/// A change is written whole, or it is not written and this says why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Commit {
    /// It is durable. `last_seq` is the number of its last event, or of the last one before it if it had none.
    Written {
        last_seq: u64,
    },
    Conflict(Conflict),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Conflict {
    /// Somebody else changed the row since it was read, made it first, or it is not there.
    #[error("{kind} {key} is not as it was read (wanted {expected:?}, found {found:?})")]
    Moved { kind: &'static str, key: String, expected: WriteGuard, found: Option<u64> },
    #[error("{task} cannot wait on {on}: there is no such task")]
    UnknownDependency { task: TaskId, on: TaskId },
    /// The path runs from a task back to itself.
    #[error("these tasks would wait on one another: {}", path.iter().map(ToString::to_string).collect::<Vec<_>>().join(" → "))]
    Cycle { path: Vec<TaskId> },
}

explained! { Conflict {
    Self::Moved { .. } => Explanation {
        code: "moved",
        means: "Somebody else changed the same thing between reading and writing it.",
        cause: "Two commands, or a command and the engine, wanted the same task at the same moment. Nothing was written.",
        next: "Try again; what is decided then is decided on what is there now.",
    },
    Self::UnknownDependency { .. } => Explanation {
        code: "unknown_dependency",
        means: "A task was to wait on one that does not exist.",
        cause: "The id behind `--after` is mistyped, or belongs to another repository or namespace.",
        next: "`baton task list` shows the ids; the beginning of one is enough.",
    },
    Self::Cycle { .. } => CIRCLE,
} }
