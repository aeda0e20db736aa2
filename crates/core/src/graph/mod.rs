//! Which task waits on which: readiness, cycles and rewiring are decided here and nowhere else.
//!
//! The graph is a pure structure over task ids. Tasks report their [`Standing`]; the graph says what is ready, what
//! waits and why. It never changes a task.
//!
//! Readiness is a counter maintained on every change, not a walk on every read. A change costs what it touches: the
//! adjacent tasks, and those further on whose prospect changes. Nothing recurses, so a long chain cannot exhaust the
//! stack. There are no cycles: the edge that would close one is rejected and the cycle shown.

mod error;
pub mod explained;
mod node;
mod parts;
mod search;
mod standing;
mod verdict;
mod view;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::Serialize;

use crate::base::id::TaskId;

pub use error::GraphError;
use node::{BlockerCount, GraphNode};
pub use standing::Standing;
pub use verdict::{Blocker, DeadCause, DeadReason, DependencyStatus, Wait};
pub use view::{AcceptPreview, StillWaiting};

/// What a rewiring changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RewireOutcome {
    /// The tasks that waited on the old task and now wait on the new ones.
    pub dependents: Vec<TaskId>,
    pub newly_ready: Vec<TaskId>,
}

#[derive(Debug, Clone, Default)]
pub struct TaskGraph {
    nodes: BTreeMap<TaskId, GraphNode>,
    ready: BTreeSet<TaskId>,
}

impl TaskGraph {
    pub fn new() -> Self {
        Self::default()
    }

    /// Builds the graph from stored rows, in any order. Each edge is (dependent, dependency).
    pub fn load(
        tasks: impl IntoIterator<Item = (TaskId, Standing)>,
        edges: impl IntoIterator<Item = (TaskId, TaskId)>,
    ) -> Result<Self, GraphError> {
        let mut graph = Self::new();
        let mut standings = Vec::new();
        for (task, standing) in tasks {
            graph.add(task)?;
            standings.push((task, standing));
        }
        for (dependent, on) in edges {
            graph.add_edge(dependent, on)?;
        }
        for (task, standing) in standings {
            graph.set_standing(task, standing)?;
        }
        Ok(graph)
    }

    /// Adds a task: open, without dependencies, so ready.
    pub fn add(&mut self, task: TaskId) -> Result<(), GraphError> {
        if self.nodes.contains_key(&task) {
            return Err(GraphError::AlreadyThere { task });
        }
        self.nodes.insert(task, GraphNode::open());
        self.ready.insert(task);
        Ok(())
    }

    /// Makes `dependent` wait on `on`. False if it already did.
    pub fn add_edge(&mut self, dependent: TaskId, on: TaskId) -> Result<bool, GraphError> {
        let already = self.node(dependent)?.waits_on.contains(&on);
        self.node(on)?;
        if dependent == on {
            return Err(GraphError::WaitsOnItself { task: dependent });
        }
        if already {
            return Ok(false);
        }
        self.refuse_circle(&BTreeSet::from([dependent]), &BTreeSet::from([on]))?;
        self.link(dependent, on);
        self.settle(dependent, &mut BTreeSet::new());
        Ok(true)
    }

    /// Removes a dependency, as a person does with a dead one. Returns the tasks this made ready.
    pub fn remove_edge(&mut self, dependent: TaskId, on: TaskId) -> Result<Vec<TaskId>, GraphError> {
        self.node(dependent)?;
        self.node(on)?;
        let mut newly_ready = BTreeSet::new();
        self.unlink(dependent, on);
        self.settle(dependent, &mut newly_ready);
        Ok(newly_ready.into_iter().collect())
    }

    /// Marks the task done. Returns the tasks this made ready.
    pub fn complete(&mut self, task: TaskId) -> Result<Vec<TaskId>, GraphError> {
        self.set_standing(task, Standing::Done)
    }

    /// Records how a task stands now. Returns the tasks this made ready.
    pub fn set_standing(&mut self, task: TaskId, standing: Standing) -> Result<Vec<TaskId>, GraphError> {
        let standing = standing.tidied();
        let old = self.node(task)?.standing.clone();
        if old == standing {
            return Ok(Vec::new());
        }
        if !old.may_become(&standing) {
            return Err(GraphError::StandingIsFinal { task, from: old, to: standing });
        }
        self.check_stand_ins(task, &standing)?;

        for stand_in in old.stand_ins() {
            if let Some(node) = self.nodes.get_mut(stand_in) {
                node.stands_in_for.remove(&task);
            }
        }
        let mut tally = BlockerCount::default();
        for stand_in in standing.stand_ins() {
            if let Some(node) = self.nodes.get_mut(stand_in) {
                node.stands_in_for.insert(task);
                tally.add(node.prospect);
            }
        }
        if let Some(node) = self.nodes.get_mut(&task) {
            node.stand_ins = tally;
            node.standing = standing;
        }
        let mut newly_ready = BTreeSet::new();
        self.settle(task, &mut newly_ready);
        Ok(newly_ready.into_iter().collect())
    }

    /// Everything that waited on `from` waits on all of `to` instead. All of it happens, or none.
    pub fn rewire(&mut self, from: TaskId, to: &[TaskId]) -> Result<RewireOutcome, GraphError> {
        let dependents = self.node(from)?.dependents.clone();
        let to: BTreeSet<TaskId> = to.iter().copied().collect();
        if to.is_empty() {
            return Err(GraphError::NoReplacement { task: from });
        }
        if to.contains(&from) {
            return Err(GraphError::WaitsOnItself { task: from });
        }
        for task in &to {
            self.node(*task)?;
        }
        self.refuse_circle(&dependents, &to)?;

        let mut newly_ready = BTreeSet::new();
        for dependent in &dependents {
            self.unlink(*dependent, from);
            for on in &to {
                self.link(*dependent, *on);
            }
            self.settle(*dependent, &mut newly_ready);
        }
        Ok(RewireOutcome {
            dependents: dependents.into_iter().collect(),
            newly_ready: newly_ready.into_iter().collect(),
        })
    }

    fn node(&self, task: TaskId) -> Result<&GraphNode, GraphError> {
        self.nodes.get(&task).ok_or(GraphError::UnknownTask { task })
    }

    /// A stand-in that waits, directly or not, on the task it replaces would deadlock.
    fn check_stand_ins(&self, task: TaskId, standing: &Standing) -> Result<(), GraphError> {
        if matches!(standing, Standing::Replaced { by } if by.is_empty()) {
            return Err(GraphError::NoReplacement { task });
        }
        for stand_in in standing.stand_ins() {
            self.node(*stand_in)?;
        }
        self.refuse_circle(&BTreeSet::from([task]), &standing.stand_ins().iter().copied().collect())
    }

    /// Rejects the edges from each of `dependents` to each of `on` if one of them would close a cycle.
    fn refuse_circle(&self, dependents: &BTreeSet<TaskId>, on: &BTreeSet<TaskId>) -> Result<(), GraphError> {
        let Some(below) = search::path(self, on, dependents) else { return Ok(()) };
        // The path ends at a dependent; the new edge leads from there back to its start.
        match below.as_slice() {
            [] => Ok(()),
            [task] => Err(GraphError::WaitsOnItself { task: *task }),
            [.., dependent] => Err(GraphError::Circle { path: [&[*dependent], below.as_slice()].concat() }),
        }
    }

    fn link(&mut self, dependent: TaskId, on: TaskId) {
        let Some(node) = self.nodes.get_mut(&on) else { return };
        let is_new = node.dependents.insert(dependent);
        let prospect = node.prospect;
        if let Some(node) = self.nodes.get_mut(&dependent).filter(|_| is_new) {
            node.waits_on.insert(on);
            node.blockers.add(prospect);
        }
    }

    fn unlink(&mut self, dependent: TaskId, on: TaskId) {
        let Some(node) = self.nodes.get_mut(&on) else { return };
        let was_there = node.dependents.remove(&dependent);
        let prospect = node.prospect;
        if let Some(node) = self.nodes.get_mut(&dependent).filter(|_| was_there) {
            node.waits_on.remove(&on);
            node.blockers.remove(prospect);
        }
    }

    /// Recomputes `first` and propagates a changed prospect to everything that rests on it.
    fn settle(&mut self, first: TaskId, newly_ready: &mut BTreeSet<TaskId>) {
        let mut queue = VecDeque::from([first]);
        while let Some(task) = queue.pop_front() {
            self.note_readiness(task, newly_ready);
            let Some(node) = self.nodes.get_mut(&task) else { continue };
            let (old, new) = (node.prospect, node.judge());
            if old == new {
                continue;
            }
            node.prospect = new;
            // Taken out for the walk and put back afterwards: the visited tasks never include this one.
            let dependents = std::mem::take(&mut node.dependents);
            let stands_in_for = std::mem::take(&mut node.stands_in_for);
            for dependent in &dependents {
                if let Some(node) = self.nodes.get_mut(dependent) {
                    node.blockers.remove(old);
                    node.blockers.add(new);
                    queue.push_back(*dependent);
                }
            }
            for recycled in &stands_in_for {
                if let Some(node) = self.nodes.get_mut(recycled) {
                    node.stand_ins.remove(old);
                    node.stand_ins.add(new);
                    queue.push_back(*recycled);
                }
            }
            if let Some(node) = self.nodes.get_mut(&task) {
                node.dependents = dependents;
                node.stands_in_for = stands_in_for;
            }
        }
    }

    fn note_readiness(&mut self, task: TaskId, newly_ready: &mut BTreeSet<TaskId>) {
        if self.nodes.get(&task).is_some_and(GraphNode::is_ready) {
            if self.ready.insert(task) {
                newly_ready.insert(task);
            }
        } else {
            self.ready.remove(&task);
            newly_ready.remove(&task);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(number: u32) -> TaskId {
        TaskId::from_bits(number)
    }

    fn graph(count: u32, edges: &[(u32, u32)]) -> TaskGraph {
        let tasks = (0..count).map(|n| (task(n), Standing::Open));
        TaskGraph::load(tasks, edges.iter().map(|(a, b)| (task(*a), task(*b)))).unwrap()
    }

    fn reason(graph: &TaskGraph, number: u32) -> String {
        match graph.verdict(task(number)) {
            Some(DependencyStatus::Dead { reason }) => reason.to_string(),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn a_cycle_is_rejected_and_shown() {
        let mut graph = graph(3, &[(1, 0), (2, 1)]);
        let refusal = graph.add_edge(task(0), task(2)).unwrap_err();
        insta::assert_snapshot!(refusal, @"this would create a dependency cycle: TASK-00000000 → TASK-00000002 → TASK-00000001 → TASK-00000000; remove one of these dependencies");
        insta::assert_snapshot!(serde_json::to_string(&refusal).unwrap(), @r#"{"code":"circle","path":["TASK-00000000","TASK-00000002","TASK-00000001","TASK-00000000"]}"#);
        assert_eq!(graph.add_edge(task(0), task(0)), Err(GraphError::WaitsOnItself { task: task(0) }));
        assert_eq!(graph.add_edge(task(0), task(9)), Err(GraphError::UnknownTask { task: task(9) }));
        assert_eq!(graph.add_edge(task(1), task(0)), Ok(false), "it is there already");
    }

    #[test]
    fn a_long_cycle_is_shown_by_its_ends() {
        let edges: Vec<_> = (1..100).map(|n| (n, n - 1)).collect();
        let mut graph = graph(100, &edges);
        insta::assert_snapshot!(graph.add_edge(task(0), task(99)).unwrap_err(), @"this would create a dependency cycle: TASK-00000000 → TASK-00000063 → TASK-00000062 → TASK-00000061 → TASK-00000060 → TASK-0000005f → … 89 more … → TASK-00000005 → TASK-00000004 → TASK-00000003 → TASK-00000002 → TASK-00000001 → TASK-00000000; remove one of these dependencies");
    }

    #[test]
    fn completing_starts_tasks_that_waited_only_on_it() {
        let mut graph = graph(4, &[(2, 0), (2, 1), (3, 0)]);
        let preview = graph.preview_accept(task(0)).unwrap();
        assert_eq!(preview.starts, [task(3)]);
        assert_eq!(preview.still_waiting, [StillWaiting { task: task(2), on: vec![task(1)] }]);
        assert_eq!(graph.complete(task(0)), Ok(vec![task(3)]));
        assert_eq!(graph.complete(task(1)), Ok(vec![task(2)]));
        assert_eq!(graph.complete(task(1)), Ok(vec![]), "done twice is done");
    }

    /// I13.
    #[test]
    fn a_recycled_dependency_is_met_by_all_its_replacements_and_by_nothing_less() {
        // 1 waits on 0; 2 plans for 0; 3 and 4 replace it.
        let mut graph = graph(5, &[(1, 0)]);
        graph.set_standing(task(0), Standing::Recycled { planning: task(2) }).unwrap();
        assert!(graph.complete(task(0)).is_err(), "a late result must not finish it");
        assert_eq!(graph.complete(task(2)), Ok(vec![]), "a finished plan is no finished work");
        graph.set_standing(task(0), Standing::Replaced { by: vec![task(4), task(3)] }).unwrap();
        assert_eq!(graph.complete(task(3)), Ok(vec![]));
        assert_eq!(graph.preview_accept(task(4)).unwrap().starts, [task(1)]);
        let open = vec![task(4)];
        assert_eq!(
            graph.verdict(task(0)),
            Some(DependencyStatus::Pending { wait: Wait::Replacements { open } })
        );
        assert_eq!(graph.complete(task(4)), Ok(vec![task(1)]));
        assert_eq!(graph.verdict(task(0)), Some(DependencyStatus::Met));
    }

    #[test]
    fn replacements_are_not_empty_and_do_not_wait_on_the_task() {
        let mut graph = graph(2, &[(1, 0)]);
        let by = |by: Vec<TaskId>| Standing::Replaced { by };
        assert_eq!(graph.set_standing(task(0), by(vec![])), Err(GraphError::NoReplacement { task: task(0) }));
        assert_eq!(graph.rewire(task(0), &[]), Err(GraphError::NoReplacement { task: task(0) }));
        let circle = GraphError::Circle { path: vec![task(0), task(1), task(0)] };
        assert_eq!(graph.set_standing(task(0), by(vec![task(1)])), Err(circle));
        assert_eq!(graph.rewire(task(0), &[task(1)]), Err(GraphError::WaitsOnItself { task: task(1) }));
    }

    #[test]
    fn a_dead_dependency_says_why() {
        let mut graph = graph(8, &[(1, 0), (2, 1)]);
        graph.set_standing(task(0), Standing::Cancelled).unwrap();
        graph.set_standing(task(3), Standing::Recycled { planning: task(4) }).unwrap();
        graph.set_standing(task(4), Standing::Cancelled).unwrap();
        graph.set_standing(task(5), Standing::Replaced { by: vec![task(6), task(7)] }).unwrap();
        graph.set_standing(task(7), Standing::Cancelled).unwrap();
        insta::assert_snapshot!(reason(&graph, 0), @"TASK-00000000 was cancelled");
        insta::assert_snapshot!(reason(&graph, 2), @"TASK-00000002 → TASK-00000001 → TASK-00000000: TASK-00000000 was cancelled");
        insta::assert_snapshot!(reason(&graph, 3), @"TASK-00000003 was recycled and its breakdown TASK-00000004 was cancelled");
        insta::assert_snapshot!(reason(&graph, 5), @"TASK-00000005 was recycled and its replacement TASK-00000007 was cancelled");
        assert_eq!(graph.stranded().collect::<Vec<_>>(), [1, 2, 3, 5].map(task));
        assert_eq!(graph.remove_edge(task(1), task(0)), Ok(vec![task(1)]));
        assert_eq!(graph.verdict(task(2)), Some(DependencyStatus::Pending { wait: Wait::Completion }));
    }

    #[test]
    fn a_failed_dependency_waits_for_a_retry() {
        let mut graph = graph(2, &[(1, 0)]);
        graph.set_standing(task(0), Standing::Failed).unwrap();
        assert_eq!(
            graph.waiting_on(task(1)),
            [Blocker { task: task(0), verdict: DependencyStatus::Pending { wait: Wait::Retry } }]
        );
        assert_eq!(graph.set_standing(task(0), Standing::Open), Ok(vec![task(0)]));
        assert_eq!(graph.complete(task(0)), Ok(vec![task(1)]));
    }

    #[test]
    fn dependents_are_rewired_to_the_leaves() {
        // 1 and 2 wait on 0; 3 → 4 replaces it; 2 waits on 4 already.
        let mut graph = graph(5, &[(1, 0), (2, 0), (4, 3), (2, 4)]);
        let replacements = BTreeSet::from([task(3), task(4)]);
        let leaves = graph.leaves(&replacements);
        assert_eq!(leaves, [task(4)]);
        let rewired = graph.rewire(task(0), &leaves).unwrap();
        assert_eq!(rewired, RewireOutcome { dependents: vec![task(1), task(2)], newly_ready: vec![] });
        assert_eq!(graph.open_blockers(task(2)), Some(1), "no dependency is counted twice");
        assert_eq!(graph.dependents(task(0)).count(), 0);
        graph.complete(task(3)).unwrap();
        assert_eq!(graph.complete(task(4)), Ok(vec![task(1), task(2)]));
    }

    #[test]
    fn the_critical_path_is_the_longest_chain_still_to_be_done() {
        let mut graph = graph(8, &[(1, 0), (2, 1), (3, 0), (4, 3), (5, 4), (6, 2), (7, 6)]);
        assert_eq!(graph.critical_path(), [0, 1, 2, 6, 7].map(task));
        graph.set_standing(task(6), Standing::Cancelled).unwrap();
        assert_eq!(graph.critical_path(), [0, 3, 4, 5].map(task));
        graph.complete(task(0)).unwrap();
        graph.complete(task(3)).unwrap();
        assert_eq!(graph.critical_path(), [1, 2].map(task));
        assert!(TaskGraph::new().critical_path().is_empty());
    }
}
