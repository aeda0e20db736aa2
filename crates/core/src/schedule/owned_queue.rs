//! Queues that runs work through: a loop, or a recipe that goes on with the next ready task until none is left.
//!
//! While such a run is open, its ready tasks are started by it alone. Otherwise the scheduler would do them with
//! the default recipe before the run gets there: without a review, and without asking.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::base::id::{ProjectId, SessionId, TaskId};
use crate::base::text::RecipeId;

/// The projects a run takes tasks from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProjectScope {
    Any,
    /// Tasks without a project.
    NoProject,
    Only(ProjectId),
    /// The project of the repository that Baton was started in, and tasks without a project, which are done there too.
    Home(ProjectId),
}

impl ProjectScope {
    /// Exactly this project, or exactly the tasks without one.
    pub fn exactly(project: Option<ProjectId>) -> Self {
        project.map_or(Self::NoProject, Self::Only)
    }

    pub fn contains(self, project: Option<ProjectId>) -> bool {
        match self {
            Self::Any => true,
            Self::NoProject => project.is_none(),
            Self::Only(own) => project == Some(own),
            Self::Home(own) => project.is_none_or(|project| project == own),
        }
    }
}

/// The ready tasks that one run works through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnedQueue {
    /// By which a person stops the run.
    pub session: SessionId,
    pub recipe: RecipeId,
    pub projects: ProjectScope,
}

/// All owned queues at one moment, and which tasks their runs have taken from them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnedQueues {
    pub queues: Vec<OwnedQueue>,
    /// Tasks that an open run is bound to. They may be started: that is how the run works on them.
    pub bound: BTreeSet<TaskId>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_contains_its_own_projects() {
        let (one, two) = (ProjectId::from_bits(1), ProjectId::from_bits(2));
        for (scope, contains) in [
            (ProjectScope::Any, [true, true, true]),
            (ProjectScope::exactly(None), [true, false, false]),
            (ProjectScope::exactly(Some(one)), [false, true, false]),
            (ProjectScope::Home(one), [true, true, false]),
        ] {
            let seen = [None, Some(one), Some(two)].map(|project| scope.contains(project));
            assert_eq!(seen, contains, "{scope:?}");
        }
    }
}
