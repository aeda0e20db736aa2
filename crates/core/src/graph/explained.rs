//! Explanations of graph errors.

use crate::base::explanation::Explanation;
use crate::explained;
use crate::graph::GraphError;

/// Shared with the plan check.
pub const CIRCLE: Explanation = Explanation {
    code: "circle",
    means: "These dependencies form a cycle: the tasks would wait on one another and never start.",
    cause: "One of the dependencies already waits on the task, directly or through others. The message shows the cycle.",
    next: "Remove one of the dependencies in that cycle.",
};

explained! { GraphError {
    Self::UnknownTask { .. } => Explanation {
        code: "unknown_task",
        means: "A dependency names a task that does not exist here.",
        cause: "The id is mistyped, or belongs to another repository or namespace.",
        next: "See the ids of the tasks; the beginning of one is enough.",
    },
    Self::AlreadyThere { .. } => Explanation {
        code: "already_there",
        means: "The same task was added to the graph twice.",
        cause: "This is a bug: ids are unique.",
        next: "Try again, and report it if it happens again.",
    },
    Self::WaitsOnItself { .. } => Explanation {
        code: "waits_on_itself",
        means: "A task cannot wait on itself.",
        cause: "Its own id is among its dependencies.",
        next: "Remove that dependency.",
    },
    Self::Circle { .. } => CIRCLE,
    Self::NoReplacement { .. } => Explanation {
        code: "no_replacement",
        means: "A task would be replaced by nothing, and its dependents would start without its work.",
        cause: "A plan without items would have replaced it.",
        next: "Give the plan at least one item.",
    },
    Self::StandingIsFinal { .. } => Explanation {
        code: "standing_is_final",
        means: "A task that is done or given up stays so, also for those that wait on it.",
        cause: "Something tried to change what others already count on.",
        next: "See its state; add a new task for new work.",
    },
} }
