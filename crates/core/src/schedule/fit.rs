//! Which tasks a worker can run at all, before order and limits apply.

use std::collections::BTreeSet;

use crate::base::id::ProjectId;
use crate::base::text::Label;
use crate::schedule::owned_queue::OwnedQueues;
use crate::schedule::route::AgentRoutes;

/// What a worker offers. The default runs whatever has no special needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerFit {
    pub labels: BTreeSet<Label>,
    /// Projects whose code this worker cannot, or not yet, work on.
    pub elsewhere: BTreeSet<ProjectId>,
    /// Whether it takes tasks without a project: it has its own repository for them.
    pub has_home: bool,
    /// What runs work through themselves.
    pub owned: OwnedQueues,
    /// Who takes what here. Without agents, any that serves the role.
    pub routes: AgentRoutes,
}

impl Default for WorkerFit {
    fn default() -> Self {
        Self {
            labels: BTreeSet::new(),
            elsewhere: BTreeSet::new(),
            has_home: true,
            owned: OwnedQueues::default(),
            routes: AgentRoutes::default(),
        }
    }
}

impl WorkerFit {
    /// Whether it can work on this project's code, or without a project.
    pub fn reaches(&self, project: Option<ProjectId>) -> bool {
        match project {
            Some(project) => !self.elsewhere.contains(&project),
            None => self.has_home,
        }
    }

    /// The widest fit by labels and projects: reaches whatever any of these reaches. What runs own and
    /// who takes what is checked for each task.
    pub fn union<'a>(all: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut all = all.into_iter().cloned();
        let Some(mut union) = all.next() else { return Self::default() };
        for fit in all {
            union.labels.extend(fit.labels);
            union.elsewhere = union.elsewhere.intersection(&fit.elsewhere).copied().collect();
            union.has_home |= fit.has_home;
        }
        union
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(names: &[&str]) -> BTreeSet<Label> {
        names.iter().map(|name| name.parse().unwrap()).collect()
    }

    fn project(number: u32) -> ProjectId {
        ProjectId::from_bits(number)
    }

    #[test]
    fn the_union_is_as_wide_as_its_widest_part() {
        let gpu = WorkerFit {
            labels: labels(&["gpu"]),
            elsewhere: [project(1), project(2)].into(),
            has_home: false,
            owned: OwnedQueues::default(),
            routes: AgentRoutes::default(),
        };
        let mac = WorkerFit {
            labels: labels(&["mac"]),
            elsewhere: [project(2)].into(),
            has_home: true,
            owned: OwnedQueues::default(),
            routes: AgentRoutes::default(),
        };
        let union = WorkerFit::union([&gpu, &mac]);
        assert_eq!(union.labels, labels(&["gpu", "mac"]));
        assert_eq!(union.elsewhere, [project(2)].into());
        assert!(union.has_home);
        assert_eq!(WorkerFit::union([]), WorkerFit::default());
    }
}
