//! Questions about dependencies that core's graph answers.

use std::collections::BTreeSet;

use baton_core::base::id::TaskId;
use baton_core::graph::DependencyStatus;
use baton_core::task::state::QueueName;
use baton_store::model::query::TaskFilter;
use serde::{Deserialize, Serialize};

use crate::base::error::EngineError;
use crate::tasks::graph::{TASKS_MAX, load_graph};
use crate::tasks::service::TaskService;

/// Waiting tasks read at once.
const PAGE: u32 = 500;

/// A dependency that can never be met, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadEdge {
    pub on: TaskId,
    pub reason: String,
}

/// The dependencies of a task that can never be met.
pub async fn dead_edges(tasks: &TaskService, task: TaskId) -> Result<Vec<DeadEdge>, EngineError> {
    let graph = load_graph(tasks, [task]).await?;
    let dead = graph.waiting_on(task).into_iter().filter_map(|blocker| match blocker.verdict {
        DependencyStatus::Dead { reason } => Some(DeadEdge { on: blocker.task, reason: reason.to_string() }),
        DependencyStatus::Met | DependencyStatus::Pending { .. } => None,
    });
    Ok(dead.collect())
}

/// For each task, which others could start after accepting it, if all are accepted in this order.
pub async fn would_start(
    tasks: &TaskService,
    accepted: &[TaskId],
) -> Result<Vec<(TaskId, Vec<TaskId>)>, EngineError> {
    let waiting = find_waiting(tasks).await?;
    let mut graph = load_graph(tasks, waiting.iter().copied().chain(accepted.iter().copied())).await?;
    let mut starts = Vec::new();
    for task in accepted {
        let freed = graph.complete(*task)?;
        starts.push((*task, freed.into_iter().filter(|task| waiting.contains(task)).collect()));
    }
    Ok(starts)
}

/// Every task that could be claimed if its dependencies were met.
async fn find_waiting(tasks: &TaskService) -> Result<BTreeSet<TaskId>, EngineError> {
    let mut waiting = BTreeSet::new();
    for queue in [QueueName::Incoming, QueueName::NeedsContinuation, QueueName::Breakdown] {
        let filter = TaskFilter { queue: Some(queue), ..TaskFilter::default() };
        let mut cursor = None;
        loop {
            let page = tasks.store.tasks(&filter, cursor, PAGE).await?;
            waiting.extend(
                page.items.iter().filter(|task| task.value.is_claimable()).map(|task| task.value.id()),
            );
            cursor = page.next;
            if cursor.is_none() || waiting.len() >= TASKS_MAX {
                break;
            }
        }
    }
    Ok(waiting)
}
