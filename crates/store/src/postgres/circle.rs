//! Where an edge really leads, and whether edges close a circle. Pure, like the batch it serves.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::iter;

use baton_core::base::id::TaskId;

use super::batch::TaskFacts;

/// The tasks an edge to `on` leads to, through all that were replaced; none when one of them is unknown.
pub(super) fn targets<'a>(
    on: TaskId,
    facts_of: impl Fn(&TaskId) -> Option<&'a TaskFacts>,
) -> Option<BTreeSet<TaskId>> {
    let mut found = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut open = vec![on];
    while let Some(task) = open.pop() {
        if seen.insert(task) {
            let facts = facts_of(&task)?;
            if facts.replaced_by.is_empty() {
                found.insert(task);
            } else {
                open.extend(&facts.replaced_by);
            }
        }
    }
    Some(found)
}

/// A task, and what it waits on.
pub(super) type Edge = (TaskId, TaskId);
type Graph = BTreeMap<TaskId, BTreeSet<TaskId>>;

/// The circle that the first of `added` to close one closes, in the order they are added to `stored`: from its
/// task along what each waits on, back to its task.
pub(super) fn circle(stored: &[Edge], added: &[Edge]) -> Option<Vec<TaskId>> {
    if is_free_of_circles(stored.iter().chain(added)) {
        return None;
    }
    let mut graph = Graph::new();
    for (task, on) in stored.iter().filter(|edge| !added.contains(edge)) {
        graph.entry(*task).or_default().insert(*on);
    }
    for (task, on) in added {
        if let Some(way) = way(&graph, *on, *task) {
            return Some([*task].into_iter().chain(way).collect());
        }
        graph.entry(*task).or_default().insert(*on);
    }
    None
}

/// Takes away whatever waits on nothing that is left, again and again. Only circles remain, and what waits on them.
fn is_free_of_circles<'a>(edges: impl Iterator<Item = &'a Edge>) -> bool {
    let mut waits_on = Graph::new();
    let mut dependents: HashMap<TaskId, Vec<TaskId>> = HashMap::new();
    for (task, on) in edges {
        if waits_on.entry(*task).or_default().insert(*on) {
            dependents.entry(*on).or_default().push(*task);
        }
    }
    let mut free: Vec<TaskId> = dependents.keys().filter(|on| !waits_on.contains_key(on)).copied().collect();
    while let Some(blocker) = free.pop() {
        for task in dependents.remove(&blocker).unwrap_or_default() {
            if let Some(left) = waits_on.get_mut(&task) {
                left.remove(&blocker);
                if left.is_empty() {
                    waits_on.remove(&task);
                    free.push(task);
                }
            }
        }
    }
    waits_on.is_empty()
}

/// A shortest way from one task to another along what each waits on, both included.
fn way(graph: &Graph, from: TaskId, to: TaskId) -> Option<Vec<TaskId>> {
    let mut came_from: HashMap<TaskId, Option<TaskId>> = HashMap::from([(from, None)]);
    let mut queue = VecDeque::from([from]);
    while let Some(here) = queue.pop_front() {
        if here == to {
            let mut way: Vec<TaskId> =
                iter::successors(Some(to), |task| came_from.get(task).copied().flatten()).collect();
            way.reverse();
            return Some(way);
        }
        for next in graph.get(&here).into_iter().flatten() {
            if !came_from.contains_key(next) {
                came_from.insert(*next, Some(here));
                queue.push_back(*next);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(number: u32) -> TaskId {
        TaskId::from_bits(number)
    }

    fn circle_of(stored: &[(u32, u32)], added: &[(u32, u32)]) -> Option<Vec<u32>> {
        let edges = |edges: &[(u32, u32)]| {
            edges.iter().map(|(from, to)| (task(*from), task(*to))).collect::<Vec<_>>()
        };
        let path = circle(&edges(stored), &edges(added))?;
        Some(path.into_iter().map(TaskId::bits).collect())
    }

    #[test]
    fn a_circle_is_shown_from_the_edge_that_closes_it() {
        assert_eq!(circle_of(&[], &[]), None);
        assert_eq!(circle_of(&[(1, 2)], &[(2, 3), (1, 3), (1, 2)]), None);
        assert_eq!(circle_of(&[], &[(1, 1)]), Some(vec![1, 1]));
        assert_eq!(circle_of(&[(2, 1), (3, 2), (1, 3)], &[(1, 3)]), Some(vec![1, 3, 2, 1]));
        assert_eq!(circle_of(&[], &[(5, 1), (1, 2), (2, 3), (3, 1), (3, 9)]), Some(vec![3, 1, 2, 3]));
    }

    #[test]
    fn an_edge_goes_through_everything_that_was_replaced() {
        let replaced = |by: &[u32]| TaskFacts {
            replaced_by: by.iter().copied().map(task).collect(),
            ..TaskFacts::default()
        };
        let known: HashMap<TaskId, TaskFacts> = [
            (task(1), replaced(&[2, 3])),
            (task(2), replaced(&[4])),
            (task(3), TaskFacts::default()),
            (task(4), TaskFacts::default()),
            (task(5), replaced(&[6])),
        ]
        .into();
        assert_eq!(targets(task(1), |id| known.get(id)), Some([task(3), task(4)].into()));
        assert_eq!(targets(task(5), |id| known.get(id)), None);
    }
}
