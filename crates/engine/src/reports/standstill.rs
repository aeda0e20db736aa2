//! What stands still until a person acts, apart from questions and work to accept.

use std::collections::{BTreeMap, BTreeSet};

use baton_core::base::id::{ProjectId, SessionId, TaskId};
use baton_core::base::text::{NonBlank, Role};
use baton_core::phase::Phase;
use baton_core::recycle::RecycleReason;
use baton_core::task::state::{Provisional, QueueName, ReplacedBy, ReviewMark, TaskState};
use baton_core::task::{Purpose, Task};
use baton_store::model::query::TaskFilter;
use serde::{Deserialize, Serialize};

use crate::base::error::EngineError;
use crate::landing::board::LandingBoard;
use crate::projects::Projects;
use crate::reports::landing_standstill::{red_branches, stopped_lane, unaccepted};
use crate::runs::loops::Loops;
use crate::services::recycler::reason_to_recycle;
use crate::tasks::service::TaskService;
use crate::tasks::start_at::waits_until;

/// Tasks of one queue that are looked at, newest first.
const TASKS_MAX: u32 = 500;
/// Dependents shown for one task.
const DEPENDENTS_MAX: u32 = 20;

/// One thing that stands still.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standstill {
    pub reason: StandstillReason,
    /// None if a whole project stands still.
    pub task_id: Option<TaskId>,
    pub project_id: Option<ProjectId>,
    /// The task it waits on, if that is the reason.
    pub on: Option<TaskId>,
    pub title: NonBlank,
    pub message: String,
    /// Commands that lead on.
    pub commands: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StandstillReason {
    /// A plan that waits to be approved.
    PlanToApprove,
    /// A task that made no progress, where a person decides whether it is broken down.
    NoProgress,
    /// A breakdown that nobody plans.
    PlanWanted,
    /// A task that a person stopped or holds, or that a loop left open.
    Held,
    /// A recycled task whose breakdown was cancelled.
    BreakdownCancelled,
    /// A dependency that can never be met.
    DeadDependency,
    Failed,
    /// The project's repository is not there.
    ProjectUnavailable,
    /// Accepted work waits for a branch that fails the checks without it.
    BranchFails,
    /// A lane of accepted work cannot go on.
    LandingStopped,
    /// Finished work that no policy accepts, because it contains work that a person refused.
    ContainsRefused,
    /// Finished work that a policy tries to accept and cannot: its hook fails, for example.
    NotAccepted,
    /// No other agent could review finished work.
    ReviewStuck,
}

/// Everything that stands still, most urgent kind first.
pub async fn load_standstills(
    projects: &Projects,
    board: &LandingBoard,
) -> Result<Vec<Standstill>, EngineError> {
    let tasks = &projects.tasks;
    let mut found = unavailable_projects(projects).await?;
    found.extend(red_branches(&newest(tasks, QueueName::Landing).await?));
    found.extend(board.stopped().iter().filter_map(|(lane, error)| stopped_lane(lane, error)));
    let recycled = newest(tasks, QueueName::Recycled).await?;
    let cancelled: BTreeSet<TaskId> =
        newest(tasks, QueueName::Rejected).await?.iter().map(Task::id).collect();
    let lost: BTreeMap<TaskId, TaskId> =
        recycled.iter().filter_map(|task| lost_part(task, &cancelled)).collect();
    found.extend(recycled.iter().filter_map(|task| breakdown_cancelled(task, &cancelled)));
    found.extend(dead_dependencies(tasks, &cancelled, &lost).await?);
    let provisional = newest(tasks, QueueName::Provisional).await?;
    found.extend(unaccepted(projects, board, &provisional).await?);
    found.extend(provisional.iter().filter_map(plan_to_approve));
    found.extend(provisional.iter().filter_map(no_progress));
    found.extend(newest(tasks, QueueName::Breakdown).await?.iter().filter_map(plan_wanted));
    found.extend(held(tasks).await?);
    found.extend(newest(tasks, QueueName::Failed).await?.iter().map(failed));
    Ok(found)
}

async fn newest(tasks: &TaskService, queue: QueueName) -> Result<Vec<Task>, EngineError> {
    let filter = TaskFilter { queue: Some(queue), newest_first: true, ..TaskFilter::default() };
    let page = tasks.store.tasks(&filter, None, TASKS_MAX).await?;
    Ok(page.items.into_iter().map(|stored| stored.value).collect())
}

pub(super) fn about(
    task: &Task,
    reason: StandstillReason,
    message: String,
    commands: Vec<String>,
) -> Standstill {
    Standstill {
        reason,
        task_id: Some(task.id()),
        project_id: task.spec().project_id,
        on: None,
        title: task.spec().title.clone(),
        message,
        commands,
    }
}

fn plan_to_approve(task: &Task) -> Option<Standstill> {
    let TaskState::Provisional(Provisional { mark: ReviewMark::Plan, .. }) = task.state() else {
        return None;
    };
    let id = task.id();
    let commands = vec![
        format!("baton breakdown show {id}"),
        format!("baton breakdown approve {id}"),
        format!("baton breakdown reject {id} --reason TEXT"),
    ];
    Some(about(
        task,
        StandstillReason::PlanToApprove,
        format!("{id} has a plan for you to approve"),
        commands,
    ))
}

/// Where tasks are broken down by themselves, that takes a moment, and it is gone from here.
fn no_progress(task: &Task) -> Option<Standstill> {
    let why = match reason_to_recycle(task)? {
        RecycleReason::TooLarge => {
            let used =
                task.ledger().last_end.as_ref().map(|end| (end.verified.turns, end.verified.turns_max));
            let (turns, max) = used.unwrap_or_default();
            format!("used {turns} of {max} turns and has no commit to show for them")
        }
        RecycleReason::CumulativeFailures => "was tried too often without being accepted".to_owned(),
    };
    let id = task.id();
    let commands = vec![
        format!("baton recycle {id}"),
        format!("baton accept --force {id}"),
        format!("baton reject {id} --reason TEXT"),
    ];
    Some(about(task, StandstillReason::NoProgress, format!("{id} {why}"), commands))
}

/// A loop or a run that is open decides about what it keeps itself.
async fn held(tasks: &TaskService) -> Result<Vec<Standstill>, EngineError> {
    let filter = TaskFilter { is_kept: true, newest_first: true, ..TaskFilter::default() };
    let page = tasks.store.tasks(&filter, None, TASKS_MAX).await?;
    let held: Vec<&Task> =
        page.items.iter().map(|stored| &stored.value).filter(|task| is_held(task)).collect();
    let mut looped: BTreeSet<&SessionId> = BTreeSet::new();
    for session in held.iter().map(|task| &task.spec().session_id).collect::<BTreeSet<_>>() {
        let current = Loops::new(tasks).phase_loop(session).await?;
        if current.is_some_and(|stored| stored.value.phase() != Phase::Hub) {
            looped.insert(session);
        }
    }
    let is_theirs = |task: &&&Task| !looped.contains(&task.spec().session_id);
    Ok(held.iter().filter(is_theirs).map(|task| held_back(task)).collect())
}

/// One that waits for its time, or for the message before it, needs nobody.
fn is_held(task: &Task) -> bool {
    *task.state() == TaskState::Held && waits_until(task).is_none() && task.waits_behind().is_none()
}

fn held_back(task: &Task) -> Standstill {
    let id = task.id();
    let [_, execute, _] = Role::loop_phases();
    let without_reason = if task.spec().role == execute {
        "you left it out in the loop, or the loop did not come to it"
    } else {
        "nobody has let it start"
    };
    let why = task.ledger().held_because.as_ref().map_or(without_reason, NonBlank::as_str);
    let commands = vec![format!("baton task release {id}"), format!("baton task cancel {id}")];
    about(task, StandstillReason::Held, format!("{id} is held: {why}"), commands)
}

fn plan_wanted(task: &Task) -> Option<Standstill> {
    if *task.state() != (TaskState::Breakdown { released: false }) {
        return None;
    }
    let id = task.id();
    let edit = format!("baton breakdown edit {id}");
    let (message, commands) = match task.spec().purpose {
        Purpose::Breakdown { by_hand: true, .. } => ("waits for the plan that you write", vec![edit]),
        Purpose::Breakdown { by_hand: false, .. } | Purpose::Work | Purpose::Run => {
            ("waits to be planned", vec![format!("baton breakdown run {id}"), edit])
        }
    };
    Some(about(task, StandstillReason::PlanWanted, format!("{id} {message}"), commands))
}

/// The recycled task and the cancelled task that was to do its work.
fn lost_part(task: &Task, cancelled: &BTreeSet<TaskId>) -> Option<(TaskId, TaskId)> {
    let TaskState::Recycled { replaced_by } = task.state() else { return None };
    let part = match replaced_by {
        ReplacedBy::Planning(planning) => cancelled.get(planning),
        ReplacedBy::Tasks(by) => by.iter().find(|part| cancelled.contains(part)),
    };
    part.map(|part| (task.id(), *part))
}

fn breakdown_cancelled(task: &Task, cancelled: &BTreeSet<TaskId>) -> Option<Standstill> {
    let TaskState::Recycled { replaced_by: ReplacedBy::Planning(planning) } = task.state() else {
        return None;
    };
    if !cancelled.contains(planning) {
        return None;
    }
    let id = task.id();
    let message = format!("{id} was recycled, and its breakdown {planning} was cancelled");
    let commands = vec![format!("baton task retry {planning}"), format!("baton task cancel {id}")];
    Some(Standstill {
        on: Some(*planning),
        ..about(task, StandstillReason::BreakdownCancelled, message, commands)
    })
}

/// The tasks that wait directly on one that will not be done. What waits on them in turn stands still with them.
async fn dead_dependencies(
    tasks: &TaskService,
    cancelled: &BTreeSet<TaskId>,
    lost: &BTreeMap<TaskId, TaskId>,
) -> Result<Vec<Standstill>, EngineError> {
    let roots: Vec<TaskId> = cancelled.iter().chain(lost.keys()).copied().collect();
    if roots.is_empty() {
        return Ok(Vec::new());
    }
    let edges = tasks.store.dependents_of_many(&roots, DEPENDENTS_MAX).await?;
    let waiting: Vec<TaskId> = edges.iter().filter(|edge| !edge.is_met).map(|edge| edge.task).collect();
    let found = tasks.store.tasks_by_ids(&waiting).await?;
    let open: BTreeMap<TaskId, &Task> = found
        .iter()
        .map(|stored| &stored.value)
        .filter(|task| {
            task.state().is_claimable()
                || matches!(task.state(), TaskState::Held | TaskState::Breakdown { .. })
        })
        .map(|task| (task.id(), task))
        .collect();
    let dead = edges.iter().filter(|edge| !edge.is_met).filter_map(|edge| {
        let task = open.get(&edge.task)?;
        let (id, on) = (edge.task, edge.on);
        let gone = lost.get(&on).copied().unwrap_or(on);
        let message = if gone == on {
            format!("{id} waits on {on}, which was cancelled")
        } else {
            format!("{id} waits on {on}, which was recycled; {gone}, which was to do its work, was cancelled")
        };
        let commands = vec![
            format!("baton task edit {id} --not-after {on}"),
            format!("baton task retry {gone}"),
            format!("baton task cancel {id}"),
        ];
        Some(Standstill { on: Some(on), ..about(task, StandstillReason::DeadDependency, message, commands) })
    });
    Ok(dead.collect())
}

/// An agent's error may have many lines; the log has them as they are.
fn one_line(error: &NonBlank) -> String {
    let lines = error.as_str().lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("; ")
}

fn failed(task: &Task) -> Standstill {
    let id = task.id();
    let message = match task.state() {
        TaskState::Failed { error, .. } => format!("{id} failed: {}", one_line(error)),
        _ => format!("{id} failed"),
    };
    let commands = vec![
        format!("baton task log {id}"),
        format!("baton task retry {id}"),
        format!("baton task cancel {id}"),
    ];
    about(task, StandstillReason::Failed, message, commands)
}

/// Projects with work to do whose repository is not where it should be.
async fn unavailable_projects(projects: &Projects) -> Result<Vec<Standstill>, EngineError> {
    let mut found = Vec::new();
    for (project, path) in projects.missing_repositories().await? {
        let waiting = TaskFilter {
            queue: Some(QueueName::Incoming),
            project: Some(project.id),
            ..TaskFilter::default()
        };
        if projects.tasks.store.count_tasks(&waiting, 1).await? == 0 {
            continue;
        }
        found.push(Standstill {
            reason: StandstillReason::ProjectUnavailable,
            task_id: None,
            project_id: Some(project.id),
            on: None,
            title: project.title.clone(),
            message: format!("{}: there is no git repository in {}", project.id, path.display()),
            commands: vec![format!("baton project show {}", project.id), "baton doctor".to_owned()],
        });
    }
    Ok(found)
}
