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

/// Loads open tasks first, then their dependencies in any state.
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
        let room = u32::try_from(TASKS_MAX.saturating_sub(tasks.len())).unwrap_or(0);
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
    let related: BTreeSet<TaskId> =
        edges.iter().chain(&lineage).flat_map(|(one, other)| [*one, *other]).collect();
    let (tasks, unconnected): (Vec<Task>, Vec<Task>) =
        tasks.into_values().partition(|task| related.contains(&task.id()));
    let number = |id: TaskId| tasks.iter().position(|task| task.id() == id);
    let tie = |is_replacement: bool| {
        move |(to, from): &(TaskId, TaskId)| {
            Some(GraphEdge { from: number(*from)?, to: number(*to)?, is_replacement })
        }
    };
    let ties = edges.iter().filter_map(tie(false)).chain(lineage.iter().filter_map(tie(true))).collect();
    Ok(GraphModel { tasks, graph, ties, unconnected, is_cut })
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
