//! Read-only queries on the graph.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::Serialize;

use crate::base::id::TaskId;
use crate::graph::node::GraphNode;
use crate::graph::standing::Prospect;
use crate::graph::{GraphError, Standing, TaskGraph};

/// What accepting a task would start.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct AcceptPreview {
    pub starts: Vec<TaskId>,
    /// Dependents that would still wait on something else.
    pub still_waiting: Vec<StillWaiting>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StillWaiting {
    pub task: TaskId,
    pub on: Vec<TaskId>,
}

impl TaskGraph {
    pub fn tasks(&self) -> impl Iterator<Item = (TaskId, &Standing)> {
        self.nodes.iter().map(|(task, node)| (*task, &node.standing))
    }

    pub fn standing(&self, task: TaskId) -> Option<&Standing> {
        self.nodes.get(&task).map(|node| &node.standing)
    }

    /// Every dependency of the task, met or not.
    pub fn waits_on(&self, task: TaskId) -> impl Iterator<Item = TaskId> {
        self.nodes.get(&task).into_iter().flat_map(|node| node.waits_on.iter().copied())
    }

    pub fn dependents(&self, task: TaskId) -> impl Iterator<Item = TaskId> {
        self.nodes.get(&task).into_iter().flat_map(|node| node.dependents.iter().copied())
    }

    /// How many of the task's dependencies are not met.
    pub fn open_blockers(&self, task: TaskId) -> Option<usize> {
        self.nodes.get(&task).map(|node| node.blockers.open)
    }

    /// Open tasks whose dependencies are all met, including running ones, by id.
    pub fn ready(&self) -> impl Iterator<Item = TaskId> {
        self.ready.iter().copied()
    }

    pub fn is_ready(&self, task: TaskId) -> bool {
        self.ready.contains(&task)
    }

    /// Unfinished tasks that can never start, because something they rest on is dead, by id.
    pub fn stranded(&self) -> impl Iterator<Item = TaskId> {
        let is_stranded = |node: &GraphNode| node.prospect.is_dead() && node.standing != Standing::Cancelled;
        self.nodes.iter().filter(move |(_, node)| is_stranded(node)).map(|(task, _)| *task)
    }

    /// The tasks of `subset` that no other of them waits on.
    pub fn leaves(&self, subset: &BTreeSet<TaskId>) -> Vec<TaskId> {
        let is_leaf = |node: &GraphNode| node.dependents.is_disjoint(subset);
        subset.iter().copied().filter(|task| self.nodes.get(task).is_some_and(is_leaf)).collect()
    }

    /// What would start if this task were accepted, and what would still wait, and on what.
    pub fn preview_accept(&self, task: TaskId) -> Result<AcceptPreview, GraphError> {
        let node = self.node(task)?;
        if node.prospect == Prospect::Met {
            return Ok(AcceptPreview::default());
        }
        if !node.standing.may_become(&Standing::Done) {
            let from = node.standing.clone();
            return Err(GraphError::StandingIsFinal { task, from, to: Standing::Done });
        }
        let met = self.met_with(task);
        let mut nearer: BTreeMap<TaskId, usize> = BTreeMap::new();
        for dependent in met.iter().flat_map(|task| self.dependents(*task)) {
            *nearer.entry(dependent).or_default() += 1;
        }
        let mut preview = AcceptPreview::default();
        for (dependent, freed) in nearer {
            let Some(node) = self.nodes.get(&dependent).filter(|node| node.standing == Standing::Open) else {
                continue;
            };
            if node.blockers.open <= freed {
                preview.starts.push(dependent);
            } else {
                let is_open =
                    |on: &TaskId| !met.contains(on) && self.prospect(*on).is_some_and(Prospect::is_open);
                let on = node.waits_on.iter().copied().filter(is_open).collect();
                preview.still_waiting.push(StillWaiting { task: dependent, on });
            }
        }
        Ok(preview)
    }

    /// The longest chain of unfinished tasks, in execution order. Tasks that can never start are left out, and so are
    /// recycled ones: their stand-ins do the work.
    pub fn critical_path(&self) -> Vec<TaskId> {
        let live = |task: &TaskId| self.prospect(*task) == Some(Prospect::Live);
        let mut unplaced: BTreeMap<TaskId, usize> = BTreeMap::new();
        let mut queue = VecDeque::new();
        for (task, node) in self.nodes.iter().filter(|(_, node)| node.prospect == Prospect::Live) {
            let below = node.rests_on().filter(live).count();
            unplaced.insert(*task, below);
            if below == 0 {
                queue.push_back(*task);
            }
        }
        // For each placed task: the length of the longest chain up to it, and its predecessor there.
        let mut longest: BTreeMap<TaskId, (usize, Option<TaskId>)> = BTreeMap::new();
        while let Some(task) = queue.pop_front() {
            let Some(node) = self.nodes.get(&task) else { continue };
            let before = node
                .rests_on()
                .filter_map(|below| Some((longest.get(&below)?.0, below)))
                .max_by_key(|(length, below)| (*length, std::cmp::Reverse(*below)));
            let length = before.map_or(0, |(length, _)| length) + usize::from(node.is_work());
            longest.insert(task, (length, before.map(|(_, below)| below)));
            // A finished dependent does not wait, and a recycled one waits only on its stand-ins.
            let waiting =
                node.dependents.iter().filter(|above| self.nodes.get(above).is_some_and(GraphNode::is_work));
            for above in waiting.chain(&node.stands_in_for) {
                if let Some(left) = unplaced.get_mut(above) {
                    *left -= 1;
                    if *left == 0 {
                        queue.push_back(*above);
                    }
                }
            }
        }
        let last = longest.iter().max_by_key(|(task, (length, _))| (*length, std::cmp::Reverse(**task)));
        let mut path: Vec<TaskId> = std::iter::successors(last.map(|(task, _)| *task), |task| {
            longest.get(task).and_then(|(_, before)| *before)
        })
        .filter(|task| self.nodes.get(task).is_some_and(GraphNode::is_work))
        .collect();
        path.reverse();
        path
    }

    pub(super) fn prospect(&self, task: TaskId) -> Option<Prospect> {
        self.nodes.get(&task).map(|node| node.prospect)
    }

    /// The task and the recycled ones whose last open replacement it is.
    fn met_with(&self, task: TaskId) -> BTreeSet<TaskId> {
        let mut met = BTreeSet::from([task]);
        let mut left: BTreeMap<TaskId, usize> = BTreeMap::new();
        let mut queue = vec![task];
        while let Some(task) = queue.pop() {
            let replaced = self.nodes.get(&task).into_iter().flat_map(|node| &node.stands_in_for);
            for recycled in replaced {
                let Some(node) = self.nodes.get(recycled) else { continue };
                if !matches!(node.standing, Standing::Replaced { .. }) {
                    continue;
                }
                let left = left.entry(*recycled).or_insert(node.stand_ins.open);
                *left -= 1;
                if *left == 0 {
                    met.insert(*recycled);
                    queue.push(*recycled);
                }
            }
        }
        met
    }
}
