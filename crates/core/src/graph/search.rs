//! Finding a path between two sets of tasks, to refuse the edge that would close it to a circle.
//!
//! The search goes from both ends, one edge each in turn, and stops when either side runs out. So a new
//! task at the end of a long history costs next to nothing, whichever end it is added at.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::iter;

use crate::base::id::TaskId;
use crate::graph::Graph;
use crate::graph::node::Node;

type Neighbours<'g> = Box<dyn Iterator<Item = TaskId> + 'g>;

#[derive(Clone, Copy)]
enum Direction {
    /// From a task to what it rests on.
    Down,
    /// From a task to what rests on it.
    Up,
}

impl Direction {
    fn neighbours(self, node: &Node) -> Neighbours<'_> {
        match self {
            Self::Down => Box::new(node.waits_on.iter().chain(node.standing.stand_ins()).copied()),
            Self::Up => Box::new(node.dependents.iter().chain(&node.stands_in_for).copied()),
        }
    }
}

/// One side of the search: what it has seen, each with the task it came from, and where it goes on.
struct Side<'g> {
    graph: &'g Graph,
    direction: Direction,
    came_from: BTreeMap<TaskId, Option<TaskId>>,
    queue: VecDeque<TaskId>,
    current: Option<(TaskId, Neighbours<'g>)>,
}

enum Step {
    Reached(TaskId),
    NothingNew,
    RanOut,
}

impl<'g> Side<'g> {
    fn new(graph: &'g Graph, direction: Direction, from: &BTreeSet<TaskId>) -> Self {
        Self {
            graph,
            direction,
            came_from: from.iter().map(|task| (*task, None)).collect(),
            queue: from.iter().copied().collect(),
            current: None,
        }
    }

    /// Goes along one edge, or on to the next task whose edges are to be tried.
    fn step(&mut self) -> Step {
        if let Some((task, neighbours)) = &mut self.current {
            if let Some(next) = neighbours.next() {
                if self.came_from.contains_key(&next) {
                    return Step::NothingNew;
                }
                self.came_from.insert(next, Some(*task));
                self.queue.push_back(next);
                return Step::Reached(next);
            }
            self.current = None;
        }
        let Some(task) = self.queue.pop_front() else { return Step::RanOut };
        self.current = self.graph.nodes.get(&task).map(|node| (task, self.direction.neighbours(node)));
        Step::NothingNew
    }

    /// From `task` back to where this side began, both included.
    fn trail(&self, task: TaskId) -> Vec<TaskId> {
        iter::successors(Some(task), |task| self.came_from.get(task).copied().flatten()).collect()
    }
}

/// A path from one of `from` down to one of `to`, both included, or `None` where there is none.
pub(super) fn path(graph: &Graph, from: &BTreeSet<TaskId>, to: &BTreeSet<TaskId>) -> Option<Vec<TaskId>> {
    if let Some(both) = from.intersection(to).next() {
        return Some(vec![*both]);
    }
    let mut down = Side::new(graph, Direction::Down, from);
    let mut up = Side::new(graph, Direction::Up, to);
    let meeting = loop {
        match down.step() {
            Step::Reached(task) if up.came_from.contains_key(&task) => break task,
            Step::Reached(_) | Step::NothingNew => {}
            Step::RanOut => return None,
        }
        match up.step() {
            Step::Reached(task) if down.came_from.contains_key(&task) => break task,
            Step::Reached(_) | Step::NothingNew => {}
            Step::RanOut => return None,
        }
    };
    let mut path = down.trail(meeting);
    path.reverse();
    path.extend(up.trail(meeting).into_iter().skip(1));
    Some(path)
}
