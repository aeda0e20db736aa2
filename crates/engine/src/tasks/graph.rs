//! Loads the part of the dependency graph around some tasks, for what core's graph decides.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use baton_core::base::id::TaskId;
use baton_core::graph::{Standing, TaskGraph};
use baton_core::task::state::QueueName;
use baton_store::model::query::TaskFilter;

use crate::base::error::EngineError;
use crate::tasks::service::TaskService;

/// Tasks loaded for one answer. Those beyond are assumed to be open.
pub(crate) const TASKS_MAX: usize = 5_000;
/// Rows read at once.
const PAGE: u32 = 500;

/// The graph of these tasks and all their dependencies.
pub(crate) async fn load_graph(
    tasks: &TaskService,
    roots: impl IntoIterator<Item = TaskId>,
) -> Result<TaskGraph, EngineError> {
    let mut queue: VecDeque<TaskId> = roots.into_iter().collect();
    let mut standings: BTreeMap<TaskId, Standing> = BTreeMap::new();
    let mut edges = Vec::new();
    while let Some(task) = queue.pop_front() {
        if standings.contains_key(&task) {
            continue;
        }
        if standings.len() >= TASKS_MAX {
            standings.insert(task, Standing::Open);
            continue;
        }
        let standing = tasks.task(task).await?.value.standing();
        match &standing {
            Standing::Recycled { planning } => queue.push_back(*planning),
            Standing::Replaced { by } => queue.extend(by),
            Standing::Open | Standing::Done | Standing::Cancelled | Standing::Failed => {}
        }
        // The dependencies of finished tasks do not matter.
        if !matches!(standing, Standing::Done | Standing::Cancelled) {
            for edge in tasks.store.dependencies(task).await? {
                edges.push((task, edge.on));
                queue.push_back(edge.on);
            }
        }
        standings.insert(task, standing);
    }
    Ok(TaskGraph::load(standings, edges)?)
}

/// What others have to wait on when a task no longer waits on these, so that nothing starts before every part of a broken-down
/// task is done (I13). Each is (dependent, dependency).
pub(super) async fn edges_kept(
    tasks: &TaskService,
    task: TaskId,
    not_after: &[TaskId],
) -> Result<Vec<(TaskId, TaskId)>, EngineError> {
    let above = everything_above(tasks, task).await?;
    let known = tasks.store.dependencies(task).await?;
    let removed: Vec<TaskId> = known.iter().map(|edge| edge.on).filter(|on| not_after.contains(on)).collect();
    if removed.is_empty() || above.is_empty() {
        return Ok(Vec::new());
    }
    let broken_down = find_broken_down(tasks).await?;
    let around = above.into_iter().chain(broken_down).chain([task]).chain(removed.iter().copied());
    let mut graph = load_graph(tasks, around).await?;
    Ok(graph.detach(task, &removed)?)
}

/// Everything that waits on the task, directly or not.
async fn everything_above(tasks: &TaskService, task: TaskId) -> Result<BTreeSet<TaskId>, EngineError> {
    let mut found = BTreeSet::new();
    let mut queue = VecDeque::from([task]);
    while let Some(here) = queue.pop_front() {
        let mut last = None;
        loop {
            let page = tasks.store.dependents(here, last, PAGE).await?;
            queue.extend(page.iter().map(|edge| edge.task).filter(|dependent| found.insert(*dependent)));
            last = page.last().map(|edge| edge.task);
            if page.len() < PAGE as usize {
                break;
            }
        }
    }
    Ok(found)
}

/// Every task whose work others do now.
async fn find_broken_down(tasks: &TaskService) -> Result<Vec<TaskId>, EngineError> {
    let filter = TaskFilter { queue: Some(QueueName::Recycled), ..TaskFilter::default() };
    let mut found = Vec::new();
    let mut cursor = None;
    loop {
        let page = tasks.store.tasks(&filter, cursor, PAGE).await?;
        found.extend(page.items.iter().map(|stored| stored.value.id()));
        cursor = page.next;
        if cursor.is_none() {
            return Ok(found);
        }
    }
}
