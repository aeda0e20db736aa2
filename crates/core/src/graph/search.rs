//! Finds a path between two sets of tasks, to reject an edge that would close a cycle.
//!
//! The search runs from both ends, one edge each in turn, and stops when either side is exhausted. So a new task at
//! the end of a long history is cheap, whichever end it is added at.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::iter;

use crate::base::id::TaskId;
use crate::graph::TaskGraph;
use crate::graph::node::GraphNode;

type Neighbours<'g> = Box<dyn Iterator<Item = TaskId> + 'g>;

#[derive(Clone, Copy)]
enum Direction {
    /// From a task to what it rests on.
    Down,
    /// From a task to what rests on it.
    Up,
}

impl Direction {
    fn neighbours(self, node: &GraphNode) -> Neighbours<'_> {
        match self {
            Self::Down => Box::new(node.waits_on.iter().chain(node.standing.stand_ins()).copied()),
            Self::Up => Box::new(node.dependents.iter().chain(&node.stands_in_for).copied()),
        }
    }
}

/// One side of the search: the tasks it visited, each with its predecessor, and its frontier.
struct Side<'g> {
    graph: &'g TaskGraph,
    direction: Direction,
    came_from: BTreeMap<TaskId, Option<TaskId>>,
    queue: VecDeque<TaskId>,
    current: Option<(TaskId, Neighbours<'g>)>,
}

enum SearchStep {
    Reached(TaskId),
    NothingNew,
    RanOut,
}

impl<'g> Side<'g> {
    fn new(graph: &'g TaskGraph, direction: Direction, from: &BTreeSet<TaskId>) -> Self {
        Self {
            graph,
            direction,
            came_from: from.iter().map(|task| (*task, None)).collect(),
            queue: from.iter().copied().collect(),
            current: None,
        }
    }

    /// Follows one edge, or moves to the next task on the frontier.
    fn step(&mut self) -> SearchStep {
        if let Some((task, neighbours)) = &mut self.current {
            if let Some(next) = neighbours.next() {
                if self.came_from.contains_key(&next) {
                    return SearchStep::NothingNew;
                }
                self.came_from.insert(next, Some(*task));
                self.queue.push_back(next);
                return SearchStep::Reached(next);
            }
            self.current = None;
        }
        let Some(task) = self.queue.pop_front() else { return SearchStep::RanOut };
        self.current = self.graph.nodes.get(&task).map(|node| (task, self.direction.neighbours(node)));
        SearchStep::NothingNew
    }

    /// From `task` back to where this side started, inclusive.
    fn trail(&self, task: TaskId) -> Vec<TaskId> {
        iter::successors(Some(task), |task| self.came_from.get(task).copied().flatten()).collect()
    }
}

/// A path from one of `from` down to one of `to`, inclusive, or `None`.
pub(super) fn path(graph: &TaskGraph, from: &BTreeSet<TaskId>, to: &BTreeSet<TaskId>) -> Option<Vec<TaskId>> {
    if let Some(both) = from.intersection(to).next() {
        return Some(vec![*both]);
    }
    let mut down = Side::new(graph, Direction::Down, from);
    let mut up = Side::new(graph, Direction::Up, to);
    let meeting = loop {
        match down.step() {
            SearchStep::Reached(task) if up.came_from.contains_key(&task) => break task,
            SearchStep::Reached(_) | SearchStep::NothingNew => {}
            SearchStep::RanOut => return None,
        }
        match up.step() {
            SearchStep::Reached(task) if down.came_from.contains_key(&task) => break task,
            SearchStep::Reached(_) | SearchStep::NothingNew => {}
            SearchStep::RanOut => return None,
        }
    };
    let mut path = down.trail(meeting);
    path.reverse();
    path.extend(up.trail(meeting).into_iter().skip(1));
    Some(path)
}
