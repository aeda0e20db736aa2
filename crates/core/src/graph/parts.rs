//! I13 when a person removes a dependency: a task that waited for every part of a broken-down task goes on waiting for every part.
//!
//! Dependents of a broken-down task wait on the leaves of its plan, and on the other parts only through them. So the removal of
//! a dependency between two parts would let them start too early, if they did not get that dependency themselves.

use std::collections::BTreeSet;

use crate::base::id::TaskId;
use crate::graph::{GraphError, Standing, TaskGraph};

impl TaskGraph {
    /// Removes dependencies of a task, as a person does. Returns the dependencies that others get for it, each as
    /// (dependent, dependency), so that nothing waits for fewer parts of a broken-down task than before.
    pub fn detach(&mut self, task: TaskId, on: &[TaskId]) -> Result<Vec<(TaskId, TaskId)>, GraphError> {
        let above = self.everything_above(task);
        let plans: Vec<BTreeSet<TaskId>> = self.tasks().filter_map(|(_, of)| self.open_parts(of)).collect();
        let waiting: Vec<(TaskId, &BTreeSet<TaskId>)> = plans
            .iter()
            .flat_map(|parts| above.iter().map(move |dependent| (*dependent, parts)))
            .filter(|(dependent, parts)| {
                !parts.contains(dependent) && parts.is_subset(&self.everything_below(*dependent))
            })
            .collect();
        for on in on {
            self.remove_edge(task, *on)?;
        }
        let mut added = Vec::new();
        // Nearest first: who waits on somebody that got the dependency has it through them.
        for (dependent, parts) in waiting {
            let below = self.everything_below(dependent);
            let missing: BTreeSet<TaskId> = parts.difference(&below).copied().collect();
            for part in self.leaves(&missing) {
                self.add_edge(dependent, part)?;
                added.push((dependent, part));
            }
        }
        Ok(added)
    }

    /// The tasks that do a broken-down task's work and are not done; a part that was broken down too counts as its own parts.
    fn open_parts(&self, standing: &Standing) -> Option<BTreeSet<TaskId>> {
        let Standing::Replaced { by } = standing else { return None };
        let mut parts = BTreeSet::new();
        let mut queue = by.clone();
        while let Some(part) = queue.pop() {
            match self.standing(part) {
                Some(Standing::Replaced { by }) => queue.extend(by),
                Some(Standing::Done) | None => {}
                Some(_) => {
                    parts.insert(part);
                }
            }
        }
        Some(parts)
    }

    /// Everything that waits on the task, directly or not, each after all others that it waits on.
    fn everything_above(&self, task: TaskId) -> Vec<TaskId> {
        let mut found = BTreeSet::new();
        let mut queue = vec![task];
        while let Some(here) = queue.pop() {
            queue.extend(self.dependents(here).filter(|dependent| found.insert(*dependent)));
        }
        let mut order = Vec::new();
        while !found.is_empty() {
            let is_next = |task: &TaskId| self.waits_on(*task).all(|on| !found.contains(&on));
            let next: Vec<TaskId> = found.iter().copied().filter(is_next).collect();
            if next.is_empty() {
                break;
            }
            found.retain(|task| !next.contains(task));
            order.extend(next);
        }
        order
    }

    /// Everything the task waits on, directly or not.
    fn everything_below(&self, task: TaskId) -> BTreeSet<TaskId> {
        let mut found = BTreeSet::new();
        let mut queue = vec![task];
        while let Some(here) = queue.pop() {
            queue.extend(self.waits_on(here).filter(|on| found.insert(*on)));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(number: u32) -> TaskId {
        TaskId::from_bits(number)
    }

    /// 0 is broken down into 1, 2 and 3; `edges` are (dependent, dependency).
    fn graph(edges: &[(u32, u32)]) -> TaskGraph {
        let by = vec![task(1), task(2), task(3)];
        let tasks = (0..8)
            .map(|n| (task(n), if n == 0 { Standing::Replaced { by: by.clone() } } else { Standing::Open }));
        TaskGraph::load(tasks, edges.iter().map(|(a, b)| (task(*a), task(*b)))).unwrap()
    }

    #[test]
    fn i13_whoever_waited_for_every_part_still_does() {
        // 4 and above are outside of the plan. Each row: the edges, the removed one, what others get.
        type Row<'a> = (&'a str, &'a [(u32, u32)], (u32, u32), &'a [(u32, u32)]);
        let table: &[Row<'_>] = &[
            ("a leaf lets go of a part", &[(3, 1), (4, 2), (4, 3)], (3, 1), &[(4, 1)]),
            ("a chain is cut at its end", &[(2, 1), (3, 2), (4, 3)], (3, 2), &[(4, 2)]),
            ("a chain is cut at its start", &[(2, 1), (3, 2), (4, 3)], (2, 1), &[(4, 1)]),
            ("another way leads there", &[(3, 1), (2, 1), (4, 2), (4, 3)], (3, 1), &[]),
            ("who waits for some parts only", &[(3, 1), (4, 3)], (3, 1), &[]),
            (
                "the dependent behind has it through the first",
                &[(3, 1), (4, 2), (4, 3), (5, 4)],
                (3, 1),
                &[(4, 1)],
            ),
            ("two dependents", &[(3, 1), (4, 2), (4, 3), (5, 2), (5, 3)], (3, 1), &[(4, 1), (5, 1)]),
            ("a task between two parts", &[(3, 6), (6, 1), (4, 2), (4, 3)], (6, 1), &[(4, 1)]),
            ("a task before a part", &[(3, 1), (1, 6), (4, 2), (4, 3)], (1, 6), &[]),
            ("the dependent itself lets go", &[(3, 1), (4, 2), (4, 3)], (4, 3), &[]),
            ("tasks of no plan", &[(5, 4), (6, 5)], (5, 4), &[]),
        ];
        for (what, edges, (dependent, on), expected) in table {
            let mut graph = graph(edges);
            let added = graph.detach(task(*dependent), &[task(*on)]).unwrap();
            let expected: Vec<_> = expected.iter().map(|(a, b)| (task(*a), task(*b))).collect();
            assert_eq!(added, expected, "{what}");
            assert!(!graph.waits_on(task(*dependent)).any(|left| left == task(*on)), "{what}");
        }
    }

    #[test]
    fn i13_a_part_that_is_done_is_not_waited_for() {
        let mut graph = graph(&[(3, 1), (4, 2), (4, 3)]);
        graph.complete(task(1)).unwrap();
        assert_eq!(graph.detach(task(3), &[task(1)]), Ok(vec![]));
    }

    #[test]
    fn i13_a_part_that_was_broken_down_too_counts_as_its_parts() {
        // 3 is replaced by 6 and 7, of which 7 is the leaf.
        let mut graph = graph(&[(7, 6), (4, 1), (4, 2), (4, 7)]);
        graph.set_standing(task(3), Standing::Replaced { by: vec![task(6), task(7)] }).unwrap();
        assert_eq!(graph.detach(task(7), &[task(6)]), Ok(vec![(task(4), task(6))]));
    }
}
