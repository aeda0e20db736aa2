//! A task as people and programs outside see it: one shape for the command line and the server.

use baton_core::ask::question::Question;
use baton_core::base::id::{ProjectId, SessionId, TaskId};
use baton_core::base::priority::Priority;
use baton_core::base::task_type::TaskType;
use baton_core::base::text::NonBlank;
use baton_core::base::time::Timestamp;
use baton_core::records::change::Versioned;
use baton_core::records::event::EventBody;
use baton_core::recycle::RecycleReason;
use baton_core::task::Task;
use baton_core::task::attempt::{AttemptReport, Evidence};
use baton_core::task::attempt_record::AttemptRecord;
use baton_core::task::ledger::TaskNote;
use baton_core::task::state::{QueueName, TaskState, TaskStatus};
use serde::{Deserialize, Serialize};

use crate::base::error::EngineError;
use crate::dispatch::not_started::{NotStarted, Scheduling};
use crate::reports::graph_view::{DeadEdge, dead_edges};
use crate::services::recycler::reason_to_recycle;
use crate::tasks::service::TaskService;

/// Events of one task that are looked at: far more than a task has.
const EVENTS_MAX: u32 = 2_000;

/// What a list shows of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskSummary {
    pub task_id: TaskId,
    pub task_group_id: SessionId,
    pub session_id: SessionId,
    pub project_id: Option<ProjectId>,
    pub title: NonBlank,
    pub task_type: TaskType,
    pub priority: Priority,
    pub status: TaskStatus,
    pub queue: QueueName,
    /// True exactly when an answer is awaited.
    pub show_reply_ui: bool,
    pub question: Option<Question>,
    /// It is there to be planned, not to be done.
    pub is_breakdown: bool,
    /// Why it would better be broken down than accepted, where it would.
    pub too_large: Option<RecycleReason>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub version: u64,
}

/// The whole of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskView {
    #[serde(flatten)]
    pub summary: TaskSummary,
    pub description: String,
    pub state: TaskState,
    pub output: Option<String>,
    pub depends_on: Vec<TaskId>,
    /// The dependencies that are not met yet.
    pub waiting_on: Vec<TaskId>,
    /// Those of them that can never be met, and why.
    pub dead_edges: Vec<DeadEdge>,
    pub attempts: Vec<AttemptRecord>,
    /// What the agent said at the end of its last attempt.
    pub reported: Option<AttemptReport>,
    /// What Baton saw of it.
    pub verified: Option<Evidence>,
    pub notes: Vec<TaskNote>,
    /// What it came of: the task it breaks down, or the one whose plan it is a part of.
    #[serde(default)]
    pub came_of: Option<TaskId>,
    /// The person it was asked for by.
    #[serde(default)]
    pub asked_by: Option<NonBlank>,
    /// Why it is not started although it is ready, where something keeps it.
    #[serde(default)]
    pub not_started: Option<NotStarted>,
    /// What a background service last failed to do for it, while nothing has happened since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<TaskProblem>,
}

/// A failure that is retried, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskProblem {
    pub service: NonBlank,
    pub error: NonBlank,
    pub since: Timestamp,
}

impl TaskSummary {
    pub fn of(stored: &Versioned<Task>) -> Self {
        let task = &stored.value;
        let (spec, state) = (task.spec(), task.state());
        Self {
            task_id: spec.id,
            task_group_id: spec.session_id.clone(),
            session_id: spec.session_id.clone(),
            project_id: spec.project_id,
            title: spec.title.clone(),
            task_type: spec.task_type,
            priority: spec.priority,
            status: state.status(),
            queue: state.queue(),
            show_reply_ui: state.status().shows_reply_ui(),
            question: task.pending_question().cloned(),
            is_breakdown: task.is_breakdown(),
            too_large: reason_to_recycle(task),
            created_at: spec.created_at,
            updated_at: task.updated_at(),
            version: stored.version,
        }
    }
}

impl TaskView {
    pub async fn load(tasks: &TaskService, id: TaskId) -> Result<Self, EngineError> {
        let stored = tasks.task(id).await?;
        let dependencies = tasks.store.dependencies(id).await?;
        let waiting_on: Vec<TaskId> =
            dependencies.iter().filter(|edge| !edge.is_met).map(|edge| edge.on).collect();
        let dead_edges = if waiting_on.is_empty() { Vec::new() } else { dead_edges(tasks, id).await? };
        let attempts = tasks.store.attempts(id).await?;
        let task = &stored.value;
        let last_end = task.ledger().last_end.as_ref();
        Ok(Self {
            summary: TaskSummary::of(&stored),
            description: task.spec().description.clone(),
            state: task.state().clone(),
            output: task.ledger().output.clone(),
            depends_on: dependencies.iter().map(|edge| edge.on).collect(),
            waiting_on,
            dead_edges,
            attempts,
            reported: last_end.map(|end| end.reported.clone()),
            verified: last_end.map(|end| end.verified.clone()),
            notes: task.ledger().notes.clone(),
            came_of: task.derived_from(),
            asked_by: task.asker().cloned(),
            not_started: None,
            problem: problem(tasks, id).await?,
        })
    }
}

/// The last thing that happened to a task, where that is a failure of a background service.
async fn problem(tasks: &TaskService, id: TaskId) -> Result<Option<TaskProblem>, EngineError> {
    let mut events = tasks.store.task_events(id, 0, EVENTS_MAX).await?;
    Ok(events.pop().and_then(|last| match last.event.body {
        EventBody::ItemFailed { service, error, .. } => {
            Some(TaskProblem { service, error, since: last.event.at })
        }
        _ => None,
    }))
}

/// A task that could be claimed, and what keeps it from being started, where something does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReadyTask {
    #[serde(flatten)]
    pub summary: TaskSummary,
    pub not_started: Option<NotStarted>,
}

/// What could be claimed now, in claim order.
pub async fn ready_tasks(scheduling: &Scheduling, limit: u32) -> Result<Vec<ReadyTask>, EngineError> {
    let ready = scheduling.tasks.ready(limit).await?;
    let queueing = scheduling.queueing(ready.iter().map(|stored| &stored.value)).await?;
    let view = |stored: &Versioned<Task>| ReadyTask {
        summary: TaskSummary::of(stored),
        not_started: queueing.reason(&stored.value),
    };
    Ok(ready.iter().map(view).collect())
}

/// A task with what keeps it from being started, which only somebody with settings can tell.
pub async fn task_view(scheduling: &Scheduling, id: TaskId) -> Result<TaskView, EngineError> {
    let mut view = TaskView::load(&scheduling.tasks, id).await?;
    let task = scheduling.tasks.task(id).await?.value;
    if view.waiting_on.is_empty() && task.is_claimable() {
        view.not_started = scheduling.queueing([&task]).await?.reason(&task);
    }
    Ok(view)
}
