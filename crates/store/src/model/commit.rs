//! The result of a commit.

use baton_core::base::explanation::Explanation;
use baton_core::base::id::TaskId;
use baton_core::explained;
use baton_core::graph::explained::CIRCLE;
use baton_core::records::change::WriteGuard;

use crate::model::record_kind::RecordKind;

/// A change is written as a whole, or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Commit {
    /// Durable. `last_seq` is the number of its last event, or of the last one before it if it had none.
    Written {
        last_seq: u64,
    },
    Conflict(Conflict),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Conflict {
    /// The row was changed or created since it was read, or does not exist.
    #[error("{kind} {key} changed since it was read (expected {expected:?}, found {found:?})")]
    Moved { kind: RecordKind, key: String, expected: WriteGuard, found: Option<u64> },
    #[error("{task} cannot depend on {on}: there is no such task")]
    UnknownDependency { task: TaskId, on: TaskId },
    /// Starts and ends with the same task.
    #[error("these tasks would depend on one another: {}", path.iter().map(ToString::to_string).collect::<Vec<_>>().join(" → "))]
    Cycle { path: Vec<TaskId> },
}

explained! { Conflict {
    Self::Moved { .. } => Explanation {
        code: "moved",
        means: "The same record was changed between reading and writing it.",
        cause: "Two commands, or a command and the engine, changed the same task at the same time. Nothing was \
                written.",
        next: "Try again; the decision is then made on the current state.",
    },
    Self::UnknownDependency { .. } => Explanation {
        code: "unknown_dependency",
        means: "A task cannot depend on one that does not exist.",
        cause: "The id after `--after` is mistyped, or belongs to another repository or namespace.",
        next: "`baton task list` shows the ids; a unique prefix is enough.",
    },
    Self::Cycle { .. } => CIRCLE,
} }
