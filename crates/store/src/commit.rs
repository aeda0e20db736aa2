//! What came of a commit.

use baton_core::change::Guard;
use baton_core::id::TaskId;

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
    Moved { kind: &'static str, key: String, expected: Guard, found: Option<u64> },
    #[error("{task} cannot wait on {on}: there is no such task")]
    UnknownDependency { task: TaskId, on: TaskId },
    /// The path runs from a task back to itself.
    #[error("these tasks would wait on one another: {}", path.iter().map(ToString::to_string).collect::<Vec<_>>().join(" → "))]
    Cycle { path: Vec<TaskId> },
}
