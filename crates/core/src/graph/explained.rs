//! Why the dependency graph did not change, explained.

use crate::base::explanation::Explanation;
use crate::explained;
use crate::graph::GraphError;

/// The same wherever it is met.
pub const CIRCLE: Explanation = Explanation {
    code: "circle",
    means: "These dependencies would make tasks wait on one another in a circle, and none of them could ever start.",
    cause: "One of the tasks it is to wait on waits on it already, directly or through others. The message shows the \
            way round.",
    next: "Leave one of the dependencies on that way out.",
};

explained! { GraphError {
    Self::UnknownTask { .. } => Explanation {
        code: "unknown_task",
        means: "A task is named as a dependency that does not exist here.",
        cause: "The id is mistyped, or belongs to another repository or namespace.",
        next: "`baton task list` shows the ids; the beginning of one is enough.",
    },
    Self::AlreadyThere { .. } => Explanation {
        code: "already_there",
        means: "The same task was added to the graph twice.",
        cause: "This is a mistake in a program: ids are never given twice.",
        next: "Try again, and report it if it comes back.",
    },
    Self::WaitsOnItself { .. } => Explanation {
        code: "waits_on_itself",
        means: "A task cannot wait on itself.",
        cause: "Its own id is among its dependencies.",
        next: "Leave that one out.",
    },
    Self::Circle { .. } => CIRCLE,
    Self::NoReplacement { .. } => Explanation {
        code: "no_replacement",
        means: "A task would be replaced by nothing, and what waits on it would start on work nobody did.",
        cause: "A plan without items was to take its place.",
        next: "Give the plan at least one item: `baton breakdown edit TASK`.",
    },
    Self::StandingIsFinal { .. } => Explanation {
        code: "standing_is_final",
        means: "A task that is done or given up stays so, also for those that wait on it.",
        cause: "Something tried to change what others already count on.",
        next: "`baton task show TASK` says where it stands; add a new task for new work.",
    },
} }
