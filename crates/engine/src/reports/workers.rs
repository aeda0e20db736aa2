//! A worker as clients see it: its agents, what it runs, and its last heartbeat.

use std::collections::{BTreeMap, BTreeSet};

use baton_core::base::id::{AttemptId, TaskId};
use baton_core::base::text::{AgentName, Label, Role};
use baton_core::base::time::Timestamp;
use baton_core::schedule::worker::{WorkerDuty, WorkerHealth, WorkerSighting};
use baton_core::task::Task;
use serde::{Deserialize, Serialize};

use crate::base::error::EngineError;
use crate::services::workspace::Workspace;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WorkerView {
    pub name: String,
    pub host: String,
    pub duty: WorkerDuty,
    pub state: WorkerHealth,
    pub version: String,
    pub roles: BTreeSet<Role>,
    pub agents: BTreeSet<AgentName>,
    pub labels: BTreeSet<Label>,
    pub capacity: u32,
    pub running: Vec<RunningView>,
    pub started_at: Timestamp,
    pub last_heartbeat: Timestamp,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunningView {
    pub task_id: TaskId,
    pub title: String,
    pub attempt_id: AttemptId,
    pub agent: AgentName,
    pub since: Timestamp,
}

/// Everyone who works on the store. On a store of one machine's own that is the server that answers, while it runs agents.
pub async fn workers(workspace: &Workspace) -> Result<Vec<WorkerView>, EngineError> {
    let store = &workspace.tasks.store;
    let now = store.now().await?;
    let mut seen = store.workers().await?;
    if !workspace.place.store.is_shared() && workspace.agents.mcp_url.is_some() {
        let open_ms = i64::try_from(workspace.node.opened_at.elapsed().as_millis()).unwrap_or(i64::MAX);
        let started_at = now.plus_ms(-open_ms);
        seen.push(WorkerSighting {
            worker: workspace.node.describe(
                &workspace.settings,
                started_at,
                false,
                workspace.projects.here.warm(),
            ),
            seen_at: now,
        });
    }
    let leases = store.leases().await?;
    let at_work: Vec<TaskId> = leases.iter().map(|lease| lease.task).collect();
    let found = if at_work.is_empty() { Vec::new() } else { store.tasks_by_ids(&at_work).await? };
    let tasks: BTreeMap<TaskId, Task> =
        found.into_iter().map(|stored| (stored.value.id(), stored.value)).collect();
    let mut views = Vec::new();
    for sighting in seen {
        let mut running = Vec::new();
        for lease in leases.iter().filter(|lease| lease.worker == sighting.worker.name) {
            // It may have ended since the leases were read.
            let Some(task) = tasks.get(&lease.task) else { continue };
            let Some(live) = task.state().live_attempt() else { continue };
            running.push(RunningView {
                task_id: lease.task,
                title: task.spec().title.to_string(),
                attempt_id: lease.attempt,
                agent: lease.agent.clone(),
                since: live.started_at,
            });
        }
        views.push(view(sighting, running, now));
    }
    Ok(views)
}

fn view(sighting: WorkerSighting, running: Vec<RunningView>, now: Timestamp) -> WorkerView {
    let state = sighting.health(now);
    let WorkerSighting { worker, seen_at } = sighting;
    WorkerView {
        name: worker.name,
        host: worker.host,
        duty: worker.duty,
        state,
        version: worker.version,
        roles: worker.roles,
        agents: worker.agents,
        labels: worker.labels,
        capacity: worker.capacity,
        running,
        started_at: worker.started_at,
        last_heartbeat: seen_at,
    }
}
