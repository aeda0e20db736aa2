//! Resolving replaced tasks, and detecting cycles. Pure.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::iter;

use baton_core::base::id::TaskId;

use crate::postgres::write::facts::TaskFacts;

/// The tasks an edge to `on` resolves to, following replacements; `None` if one of them is unknown.
pub(crate) fn resolve_targets<'a>(
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

/// A task and its blocker.
pub(crate) type EdgeKey = (TaskId, TaskId);
type BlockerGraph = BTreeMap<TaskId, BTreeSet<TaskId>>;

/// The cycle closed by the first edge of `added` that closes one, when they are added to `stored` in order. It starts
/// and ends with that edge's task.
pub(crate) fn find_cycle(stored: &[EdgeKey], added: &[EdgeKey]) -> Option<Vec<TaskId>> {
    if is_acyclic(stored.iter().chain(added)) {
        return None;
    }
    let mut graph = BlockerGraph::new();
    for (task, on) in stored.iter().filter(|edge| !added.contains(edge)) {
        graph.entry(*task).or_default().insert(*on);
    }
    for (task, on) in added {
        if let Some(shortest_path) = shortest_path(&graph, *on, *task) {
            return Some([*task].into_iter().chain(shortest_path).collect());
        }
        graph.entry(*task).or_default().insert(*on);
    }
    None
}

/// Kahn's algorithm: repeatedly removes tasks without blockers. Only cycles and what depends on them remain.
fn is_acyclic<'a>(edges: impl Iterator<Item = &'a EdgeKey>) -> bool {
    let mut waits_on = BlockerGraph::new();
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

/// A shortest path from one task to another along their blockers, both included.
fn shortest_path(graph: &BlockerGraph, from: TaskId, to: TaskId) -> Option<Vec<TaskId>> {
    let mut came_from: HashMap<TaskId, Option<TaskId>> = HashMap::from([(from, None)]);
    let mut queue = VecDeque::from([from]);
    while let Some(here) = queue.pop_front() {
        if here == to {
            let mut shortest_path: Vec<TaskId> =
                iter::successors(Some(to), |task| came_from.get(task).copied().flatten()).collect();
            shortest_path.reverse();
            return Some(shortest_path);
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
        let path = find_cycle(&edges(stored), &edges(added))?;
        Some(path.into_iter().map(TaskId::bits).collect())
    }

    #[test]
    fn a_cycle_starts_at_the_edge_that_closes_it() {
        assert_eq!(circle_of(&[], &[]), None);
        assert_eq!(circle_of(&[(1, 2)], &[(2, 3), (1, 3), (1, 2)]), None);
        assert_eq!(circle_of(&[], &[(1, 1)]), Some(vec![1, 1]));
        assert_eq!(circle_of(&[(2, 1), (3, 2), (1, 3)], &[(1, 3)]), Some(vec![1, 3, 2, 1]));
        assert_eq!(circle_of(&[], &[(5, 1), (1, 2), (2, 3), (3, 1), (3, 9)]), Some(vec![3, 1, 2, 3]));
    }

    #[test]
    fn an_edge_follows_replacements() {
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
        assert_eq!(resolve_targets(task(1), |id| known.get(id)), Some([task(3), task(4)].into()));
        assert_eq!(resolve_targets(task(5), |id| known.get(id)), None);
    }
}
