//! Errors of the dependency graph.

use serde::Serialize;

use crate::base::id::TaskId;
use crate::graph::Standing;

/// Why the graph did not change.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum GraphError {
    #[error("unknown task {task}; create it first, or check the id")]
    UnknownTask { task: TaskId },
    #[error("{task} already exists; change its standing instead of adding it again")]
    AlreadyThere { task: TaskId },
    #[error("{task} cannot wait on itself; remove that dependency")]
    WaitsOnItself { task: TaskId },
    #[error("this would create a dependency cycle: {}; remove one of these dependencies", arrows(path))]
    Circle {
        /// Each task waits on the next; the first and the last are the same.
        path: Vec<TaskId>,
    },
    #[error(
        "{task} would be replaced by nothing, and its dependents would start on work nobody did; name at least one task"
    )]
    NoReplacement { task: TaskId },
    #[error("{task} is {} and cannot become {}", from.word(), to.word())]
    StandingIsFinal { task: TaskId, from: Standing, to: Standing },
}

/// Longer paths show only their two ends.
const PATH_SHOWN_MAX: usize = 12;

/// `A → B → A`.
pub(super) fn arrows(path: &[TaskId]) -> String {
    let join = |part: &[TaskId]| part.iter().map(ToString::to_string).collect::<Vec<_>>().join(" → ");
    if path.len() <= PATH_SHOWN_MAX {
        return join(path);
    }
    let (head, rest) = path.split_at(PATH_SHOWN_MAX / 2);
    let (middle, tail) = rest.split_at(rest.len() - PATH_SHOWN_MAX / 2);
    format!("{} → … {} more … → {}", join(head), middle.len(), join(tail))
}
