//! Loads the graph: open tasks, their dependencies, and the replacements of recycled tasks.

use std::collections::{BTreeMap, BTreeSet};

use baton_core::base::id::{ProjectId, TaskId};
use baton_core::graph::{Standing, TaskGraph};
use baton_core::task::Task;
use baton_core::task::state::QueueName;
use baton_engine::base::error::EngineError;
use baton_engine::query::TaskFilter;

use crate::pages::frame::response::PageError;
use crate::pages::tasks_by_id::load_tasks;
use crate::state::App;

/// Largest number of tasks in one drawing.
pub(super) const TASKS_MAX: usize = 150;
/// Open tasks looked at for edges, and those without one that are listed.
const SCANNED_MAX: usize = 3_000;
const UNCONNECTED_MAX: usize = 100;

/// The tasks to draw and the edges between them.
pub(super) struct GraphModel {
    pub tasks: Vec<Task>,
    pub graph: TaskGraph,
    /// Dependencies, and replacements of recycled tasks.
    pub ties: Vec<GraphEdge>,
    /// Tasks without any edge; they are listed, not drawn.
    pub unconnected: Vec<Task>,
    pub is_cut: bool,
}

/// An edge between two tasks, by index.
pub(super) struct GraphEdge {
    pub from: usize,
    pub to: usize,
    /// `from` replaces the recycled task `to`.
    pub is_replacement: bool,
}

/// Loads open tasks, then their dependencies in any state. Where there are more than fit, those with edges are drawn first: one
/// group of connected tasks after the other.
pub(super) async fn load(app: &App, project: Option<ProjectId>) -> Result<GraphModel, PageError> {
    let (mut tasks, mut is_cut): (BTreeMap<TaskId, Task>, bool) = (BTreeMap::new(), false);
    let open = [
        QueueName::Claimed,
        QueueName::Escalated,
        QueueName::Provisional,
        QueueName::Landing,
        QueueName::Incoming,
        QueueName::NeedsContinuation,
        QueueName::Breakdown,
        QueueName::Failed,
        QueueName::Recycled,
    ];
    for queue in open {
        let room = u32::try_from(SCANNED_MAX.saturating_sub(tasks.len())).unwrap_or(0);
        if room == 0 {
            is_cut = true;
            break;
        }
        let filter = TaskFilter { queue: Some(queue), project, ..TaskFilter::default() };
        let page = app.tasks().store.tasks(&filter, None, room).await?;
        is_cut |= page.next.is_some();
        tasks.extend(page.items.into_iter().map(|stored| (stored.value.id(), stored.value)));
    }
    let ids: Vec<TaskId> = tasks.keys().copied().collect();
    let dependencies =
        if ids.is_empty() { Vec::new() } else { app.tasks().store.dependencies_of_many(&ids).await? };
    let edges: BTreeSet<(TaskId, TaskId)> =
        dependencies.into_iter().map(|edge| (edge.task, edge.on)).collect();
    let missing = edges.iter().map(|(_, on)| *on).filter(|on| !tasks.contains_key(on));
    let missing = load_tasks(app, missing).await?;
    tasks.extend(missing);
    let standings: Vec<_> = load_replacements(app, &mut tasks).await?;
    let graph = TaskGraph::load(standings, edges.iter().copied()).map_err(EngineError::from)?;
    let lineage: Vec<(TaskId, TaskId)> = tasks.values().flat_map(replacement_edges).collect();
    let drawn = drawn(edges.iter().chain(&lineage).copied());
    let is_related = |task: &Task| drawn.all.contains(&task.id());
    let (related, mut unconnected): (Vec<Task>, Vec<Task>) = tasks.into_values().partition(is_related);
    is_cut |= drawn.all.len() > drawn.shown.len() || unconnected.len() > UNCONNECTED_MAX;
    unconnected.truncate(UNCONNECTED_MAX);
    let tasks: Vec<Task> = related.into_iter().filter(|task| drawn.shown.contains(&task.id())).collect();
    let number = |id: TaskId| tasks.iter().position(|task| task.id() == id);
    let tie = |is_replacement: bool| {
        move |(to, from): &(TaskId, TaskId)| {
            Some(GraphEdge { from: number(*from)?, to: number(*to)?, is_replacement })
        }
    };
    let ties = edges.iter().filter_map(tie(false)).chain(lineage.iter().filter_map(tie(true))).collect();
    Ok(GraphModel { tasks, graph, ties, unconnected, is_cut })
}

/// The tasks that have edges, and those of them that fit into one drawing.
struct Drawn {
    all: BTreeSet<TaskId>,
    shown: BTreeSet<TaskId>,
}

/// Takes whole groups of connected tasks, the largest first, as long as they fit; a group that is too large alone is cut.
fn drawn(edges: impl Iterator<Item = (TaskId, TaskId)>) -> Drawn {
    let mut beside: BTreeMap<TaskId, Vec<TaskId>> = BTreeMap::new();
    for (one, other) in edges {
        beside.entry(one).or_default().push(other);
        beside.entry(other).or_default().push(one);
    }
    let all: BTreeSet<TaskId> = beside.keys().copied().collect();
    let mut groups: Vec<Vec<TaskId>> = Vec::new();
    let mut seen: BTreeSet<TaskId> = BTreeSet::new();
    for start in &all {
        let mut group = Vec::new();
        let mut next = vec![*start];
        while let Some(task) = next.pop() {
            if seen.insert(task) {
                group.push(task);
                next.extend(beside.get(&task).into_iter().flatten());
            }
        }
        groups.push(group);
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
    let mut shown = BTreeSet::new();
    for group in groups {
        let room = TASKS_MAX.saturating_sub(shown.len());
        if group.len() <= room || shown.is_empty() {
            shown.extend(group.into_iter().take(room));
        }
    }
    Drawn { all, shown }
}

/// The edges from a recycled task to its replacements.
fn replacement_edges(task: &Task) -> Vec<(TaskId, TaskId)> {
    replacements_of(task).into_iter().map(|other| (task.id(), other)).collect()
}

fn replacements_of(task: &Task) -> Vec<TaskId> {
    task.standing().stand_ins().to_vec()
}

/// Adds the replacements of recycled tasks; returns every task's standing.
async fn load_replacements(
    app: &App,
    tasks: &mut BTreeMap<TaskId, Task>,
) -> Result<Vec<(TaskId, Standing)>, PageError> {
    // One query per generation of replacements; rules allow for very few.
    loop {
        let missing = tasks.values().flat_map(replacements_of).filter(|id| !tasks.contains_key(id));
        let found = load_tasks(app, missing).await?;
        if found.is_empty() {
            break;
        }
        tasks.extend(found);
    }
    Ok(tasks.values().map(|task| (task.id(), task.standing())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(one: u32, other: u32) -> (TaskId, TaskId) {
        (TaskId::from_bits(one), TaskId::from_bits(other))
    }

    #[test]
    fn whole_groups_are_drawn_as_long_as_they_fit() {
        // A chain of 100, one of 80, and a pair: the chain of 80 does not fit beside the first.
        let long = (1..100).map(|number| edge(number, number + 1));
        let second = (1_001..1_080).map(|number| edge(number, number + 1));
        let drawn = drawn(long.chain(second).chain([edge(5_001, 5_002)]));
        assert_eq!((drawn.all.len(), drawn.shown.len()), (182, 102));
        assert!(drawn.shown.contains(&TaskId::from_bits(5_002)));
    }

    #[test]
    fn a_group_that_is_too_large_alone_is_cut() {
        let drawn = drawn((1..1_000).map(|number| edge(number, number + 1)));
        assert_eq!((drawn.all.len(), drawn.shown.len()), (1_000, TASKS_MAX));
    }
}
