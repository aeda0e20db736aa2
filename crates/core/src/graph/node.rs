//! One task in the graph, with the counters that make every query cheap.

use std::collections::BTreeSet;

use crate::base::id::TaskId;
use crate::graph::Standing;
use crate::graph::standing::Prospect;

/// How many of the tasks something rests on are not met, and how many of those never will be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct BlockerCount {
    pub open: usize,
    pub dead: usize,
}

impl BlockerCount {
    pub(super) fn add(&mut self, prospect: Prospect) {
        self.open += usize::from(prospect.is_open());
        self.dead += usize::from(prospect.is_dead());
    }

    pub(super) fn remove(&mut self, prospect: Prospect) {
        self.open -= usize::from(prospect.is_open());
        self.dead -= usize::from(prospect.is_dead());
    }
}

#[derive(Debug, Clone)]
pub(super) struct GraphNode {
    pub standing: Standing,
    pub waits_on: BTreeSet<TaskId>,
    pub dependents: BTreeSet<TaskId>,
    /// The recycled tasks this one plans for or replaces: the stand-in edges, reversed.
    pub stands_in_for: BTreeSet<TaskId>,
    /// Over `waits_on`.
    pub blockers: BlockerCount,
    /// Over the standing's stand-ins.
    pub stand_ins: BlockerCount,
    /// What a dependency on this task is worth; always consistent with the standing and the counters.
    pub prospect: Prospect,
}

impl GraphNode {
    pub(super) fn open() -> Self {
        Self {
            standing: Standing::Open,
            waits_on: BTreeSet::new(),
            dependents: BTreeSet::new(),
            stands_in_for: BTreeSet::new(),
            blockers: BlockerCount::default(),
            stand_ins: BlockerCount::default(),
            prospect: Prospect::Live,
        }
    }

    /// Monotone in what it rests on (dead < live < met), so one change moves each prospect in one direction only and
    /// propagation terminates.
    pub(super) fn judge(&self) -> Prospect {
        match &self.standing {
            Standing::Done => Prospect::Met,
            Standing::Cancelled => Prospect::Dead,
            // Failed is not final: a person may retry. Dependents wait and are told why.
            Standing::Open | Standing::Failed => Prospect::dead_or(self.blockers.dead > 0, Prospect::Live),
            // I13: met only by every replacement, and never while the breakdown is still being planned.
            Standing::Replaced { .. } if self.stand_ins.open == 0 => Prospect::Met,
            Standing::Recycled { .. } | Standing::Replaced { .. } => {
                Prospect::dead_or(self.stand_ins.dead > 0, Prospect::Live)
            }
        }
    }

    pub(super) fn is_ready(&self) -> bool {
        self.standing == Standing::Open && self.blockers.open == 0
    }

    /// The tasks this one's completion depends on: its dependencies, or its stand-ins once it is recycled.
    pub(super) fn rests_on(&self) -> impl Iterator<Item = TaskId> {
        let (dependencies, stand_ins) = match &self.standing {
            Standing::Open | Standing::Failed => (Some(&self.waits_on), None),
            Standing::Recycled { .. } | Standing::Replaced { .. } => (None, Some(self.standing.stand_ins())),
            Standing::Done | Standing::Cancelled => (None, None),
        };
        dependencies.into_iter().flatten().chain(stand_ins.into_iter().flatten()).copied()
    }

    /// Whether somebody still has to work on the task itself.
    pub(super) fn is_work(&self) -> bool {
        match self.standing {
            Standing::Open | Standing::Failed => true,
            Standing::Done | Standing::Cancelled | Standing::Recycled { .. } | Standing::Replaced { .. } => {
                false
            }
        }
    }
}
