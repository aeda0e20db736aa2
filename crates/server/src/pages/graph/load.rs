//! What the graph is drawn of: the open tasks, what they rest on, and what stands in for the recycled among them.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use baton_core::base::id::{ProjectId, TaskId};
use baton_core::graph::{Standing, TaskGraph};
use baton_core::task::Task;
use baton_core::task::state::QueueName;
use baton_engine::base::error::EngineError;
use baton_engine::query::TaskFilter;

use crate::pages::answer::PageError;
use crate::state::App;

/// Tasks on one drawing. With more nobody sees anything.
pub const TASKS_MAX: usize = 150;

/// The tasks that are drawn, and what ties them.
pub struct Drawn {
    pub tasks: Vec<Task>,
    pub graph: TaskGraph,
    /// What is waited on, what waits; and what stands in for a recycled task.
    pub ties: Vec<Tie>,
    /// What waits on nothing and is waited on by nothing; a drawing of it would say nothing.
    pub loose: Vec<Task>,
    pub is_cut: bool,
}

/// From one task to one that comes after it, by number.
pub struct Tie {
    pub from: usize,
    pub to: usize,
    /// The first does what is left of the second, which was recycled.
    pub is_stand_in: bool,
}

/// Open tasks first; then those they rest on, finished or not.
pub async fn load(app: &App, project: Option<ProjectId>) -> Result<Drawn, PageError> {
    let (mut tasks, mut is_cut): (BTreeMap<TaskId, Task>, bool) = (BTreeMap::new(), false);
    let open = [
        QueueName::Claimed,
        QueueName::Escalated,
        QueueName::Provisional,
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
    let mut edges = BTreeSet::new();
    for id in tasks.keys().copied().collect::<Vec<_>>() {
        for edge in app.tasks().store.dependencies(id).await? {
            edges.insert((id, edge.on));
            if let Entry::Vacant(place) = tasks.entry(edge.on) {
                place.insert(app.tasks().task(edge.on).await?.value);
            }
        }
    }
    let standings: Vec<_> = stand_ins(app, &mut tasks).await?;
    let graph = TaskGraph::load(standings, edges.iter().copied()).map_err(EngineError::from)?;
    let lineage: Vec<(TaskId, TaskId)> = tasks.values().flat_map(stood_in_for).collect();
    let related: BTreeSet<TaskId> =
        edges.iter().chain(&lineage).flat_map(|(one, other)| [*one, *other]).collect();
    let (tasks, loose): (Vec<Task>, Vec<Task>) =
        tasks.into_values().partition(|task| related.contains(&task.id()));
    let number = |id: TaskId| tasks.iter().position(|task| task.id() == id);
    let tie = |is_stand_in: bool| {
        move |(to, from): &(TaskId, TaskId)| Some(Tie { from: number(*from)?, to: number(*to)?, is_stand_in })
    };
    let ties = edges.iter().filter_map(tie(false)).chain(lineage.iter().filter_map(tie(true))).collect();
    Ok(Drawn { tasks, graph, ties, loose, is_cut })
}

/// A recycled task with each that stands in for it.
fn stood_in_for(task: &Task) -> Vec<(TaskId, TaskId)> {
    stand_ins_of(task).into_iter().map(|other| (task.id(), other)).collect()
}

fn stand_ins_of(task: &Task) -> Vec<TaskId> {
    task.standing().stand_ins().to_vec()
}

/// How each stands. A recycled task brings those that stand in for it.
async fn stand_ins(
    app: &App,
    tasks: &mut BTreeMap<TaskId, Task>,
) -> Result<Vec<(TaskId, Standing)>, PageError> {
    let mut missing: Vec<TaskId> = tasks.values().flat_map(stand_ins_of).collect();
    while let Some(id) = missing.pop() {
        if tasks.contains_key(&id) {
            continue;
        }
        let task = app.tasks().task(id).await?.value;
        missing.extend(stand_ins_of(&task));
        tasks.insert(id, task);
    }
    Ok(tasks.values().map(|task| (task.id(), task.standing())).collect())
}
