//! A task as clients see it, for the command line and the server.

use baton_core::ask::question::Question;
use baton_core::base::accept_policy::AcceptPolicy;
use baton_core::base::id::{AttemptId, ProjectId, SessionId, TaskId};
use baton_core::base::priority::Priority;
use baton_core::base::task_type::TaskType;
use baton_core::base::text::{AgentName, NonBlank, RecipeId, Role};
use baton_core::base::time::Timestamp;
use baton_core::landing::lane::waits_for_person;
use baton_core::recipe::run::Run;
use baton_core::records::change::Versioned;
use baton_core::records::event::EventBody;
use baton_core::recycle::RecycleReason;
use baton_core::task::Task;
use baton_core::task::attempt::{AttemptReport, Evidence};
use baton_core::task::attempt_record::AttemptRecord;
use baton_core::task::environment::AttemptEnvironment;
use baton_core::task::ledger::TaskNote;
use baton_core::task::state::{Provisional, QueueName, ReviewMark, TaskState, TaskStatus};
use baton_store::model::event::StoredEvent;
use serde::{Deserialize, Serialize};

use crate::attempt::environment::environment_of;
use crate::base::error::EngineError;
use crate::dispatch::not_started::{NotStarted, Scheduling};
use crate::landing::standing::WorkStanding;
use crate::landing::task_landing::TaskLandingView;
use crate::reports::graph_view::{DeadEdge, dead_edges};
use crate::reports::run_view::{RunView, is_told};
use crate::runs::{SessionRuns, is_loop};
use crate::services::recycler::reason_to_recycle;
use crate::tasks::service::TaskService;
use crate::tasks::start_at::waits_until;

/// Events of one task that are read: far more than a task has.
const EVENTS_MAX: u32 = 2_000;

/// A task in a list.
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
    /// Whether the task waits for an answer.
    pub show_reply_ui: bool,
    pub question: Option<Question>,
    /// Whether its result is a plan.
    pub is_breakdown: bool,
    /// How often the work was broken down already: 1 for a breakdown of a recycled task and its parts.
    #[serde(default)]
    pub re_breakdown_depth: u8,
    /// The recycled task that a breakdown replaces.
    #[serde(default)]
    pub replaces_task_id: Option<TaskId>,
    /// Why it should be broken down instead of accepted, if so.
    pub too_large: Option<RecycleReason>,
    /// Why a person should look at the work before accepting it: it is not finished, or something is odd.
    #[serde(default)]
    pub needs_review: Vec<String>,
    /// What the agent of finished work still asks, for the person who accepts or rejects it.
    #[serde(default)]
    pub open_question: Option<NonBlank>,
    /// Why accepted work came back to a person, who decides about it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_to_person: Option<String>,
    /// Why no agent starts it until a person releases it, if so.
    #[serde(default)]
    pub held_because: Option<NonBlank>,
    /// It does not start before this moment.
    #[serde(default)]
    pub start_at: Option<Timestamp>,
    /// It is held until this moment, and by nobody else.
    #[serde(default)]
    pub waits_until: Option<Timestamp>,
    /// The earlier message's task after which it starts.
    #[serde(default)]
    pub waits_behind: Option<TaskId>,
    /// The attempt whose agent added it; none for a task of a person's.
    #[serde(default)]
    pub added_by: Option<AttemptId>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub version: u64,
}

/// A task with all its details.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskView {
    #[serde(flatten)]
    pub summary: TaskSummary,
    pub description: String,
    /// Which agents do it.
    #[serde(default)]
    pub role: Option<Role>,
    pub state: TaskState,
    pub output: Option<String>,
    pub depends_on: Vec<TaskId>,
    /// The dependencies that are not met yet.
    pub waiting_on: Vec<TaskId>,
    /// The tasks on whose accepted work it was started before that had landed. It lands after them.
    #[serde(default)]
    pub rests_on: Vec<TaskId>,
    /// The dependencies that can never be met, and why.
    pub dead_edges: Vec<DeadEdge>,
    pub attempts: Vec<AttemptRecord>,
    /// What the agent reported at the end of its last attempt.
    pub reported: Option<AttemptReport>,
    /// What Baton measured of it.
    pub verified: Option<Evidence>,
    pub notes: Vec<TaskNote>,
    /// The task it breaks down, or the one whose plan it is part of.
    #[serde(default)]
    pub came_of: Option<TaskId>,
    /// The person who requested it.
    #[serde(default)]
    pub asked_by: Option<NonBlank>,
    /// Why it is ready and does not start, if so.
    #[serde(default)]
    pub not_started: Option<NotStarted>,
    /// The recipe a person chose for it; none for the default one.
    #[serde(default)]
    pub recipe_id: Option<RecipeId>,
    /// Who accepts it, if it differs from the settings.
    #[serde(default)]
    pub accept_when: Option<AcceptPolicy>,
    /// The commands that must pass before it lands.
    #[serde(default)]
    pub verify: Vec<NonBlank>,
    /// The agent and the model a person chose for it.
    #[serde(default)]
    pub agent: Option<AgentName>,
    #[serde(default)]
    pub model: Option<NonBlank>,
    /// It waits for its agent instead of going to a fallback.
    #[serde(default)]
    pub no_fallback: bool,
    /// The last run of a recipe or loop that worked on it, or works on it.
    #[serde(default)]
    pub run: Option<RunView>,
    /// What its attempts work with beside the code, if anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<AttemptEnvironment>,
    /// The failure of a background service, if it is the last event of the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<TaskProblem>,
    /// Where its accepted work is on its way into its branch, for those who ask about one task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub landing: Option<TaskLandingView>,
    /// What has changed around its finished work, for those who ask about one task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<WorkStanding>,
}

/// A failure of a background service, which is retried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskProblem {
    pub service: NonBlank,
    pub error: NonBlank,
    pub since: Timestamp,
}

impl TaskSummary {
    /// Why it is not accepted together with all others: a person has to look at it, or answer it.
    pub fn reasons_to_look(&self) -> Vec<String> {
        let asks = self.open_question.iter().map(|asked| format!("its agent still asks: {asked}"));
        self.needs_review.iter().cloned().chain(asks).collect()
    }

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
            re_breakdown_depth: spec.depth.into(),
            replaces_task_id: task.replaces(),
            too_large: reason_to_recycle(task),
            needs_review: reasons_to_review(task),
            open_question: open_question(task),
            left_to_person: left_to_person(task),
            held_because: reason_held(task),
            start_at: task.spec().start_at,
            waits_until: waits_until(task),
            waits_behind: task.waits_behind(),
            added_by: spec.added_by,
            created_at: spec.created_at,
            updated_at: task.updated_at(),
            version: stored.version,
        }
    }
}

fn reasons_to_review(task: &Task) -> Vec<String> {
    match task.state() {
        TaskState::Provisional(Provisional { mark: ReviewMark::NeedsReview { reasons }, .. }) => {
            reasons.clone()
        }
        _ => Vec::new(),
    }
}

fn left_to_person(task: &Task) -> Option<String> {
    match task.ledger().notes.last() {
        Some(TaskNote::NotLanded { reason, .. }) if waits_for_person(task) => Some(reason.headline()),
        _ => None,
    }
}

fn open_question(task: &Task) -> Option<NonBlank> {
    match task.state() {
        TaskState::Provisional(work) => work.question.clone(),
        _ => None,
    }
}

fn reason_held(task: &Task) -> Option<NonBlank> {
    let why = task.ledger().held_because.clone();
    match task.state() {
        TaskState::Held => {}
        TaskState::Breakdown { released: false } => return why,
        _ => return None,
    }
    why.or_else(|| NonBlank::new("you left it out in the loop, or the loop has not come to it").ok())
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
        let events = tasks.store.task_events(id, 0, EVENTS_MAX).await?;
        let run = find_run(tasks, task, &events).await?;
        let environment = environment_of(&events, task.state().live_attempt().map(|live| live.id));
        Ok(Self {
            summary: TaskSummary::of(&stored),
            description: task.spec().description.clone(),
            role: Some(task.spec().role.clone()),
            state: task.state().clone(),
            output: task.ledger().output.clone(),
            depends_on: dependencies.iter().map(|edge| edge.on).collect(),
            waiting_on,
            rests_on: task.ledger().rests_on.clone(),
            dead_edges,
            attempts,
            reported: last_end.map(|end| end.reported.clone()),
            verified: last_end.map(|end| end.verified.clone()),
            notes: task.ledger().notes.clone(),
            came_of: task.derived_from(),
            asked_by: task.asker().cloned(),
            not_started: None,
            recipe_id: task.spec().recipe.clone().or_else(|| run.as_ref().map(|run| run.recipe().clone())),
            accept_when: task.spec().accept_when,
            agent: task.spec().agent.clone(),
            model: task.spec().model.clone(),
            no_fallback: task.spec().no_fallback,
            verify: task.spec().verify.clone(),
            run: match &run {
                Some(run) => Some(RunView::load(tasks, run).await?),
                None => None,
            },
            environment: Some(environment).filter(|environment| !environment.is_empty()),
            problem: events.last().and_then(find_problem),
            landing: None,
            standing: None,
        })
    }
}

/// A failure of a background service, if the last event is one.
fn find_problem(last: &StoredEvent) -> Option<TaskProblem> {
    match &last.event.body {
        EventBody::ItemFailed { service, error, .. } => {
            Some(TaskProblem { service: service.clone(), error: error.clone(), since: last.event.at })
        }
        _ => None,
    }
}

/// The last run of a recipe that people were told of; for a task of the loop, the loop's.
async fn find_run(
    tasks: &TaskService,
    task: &Task,
    events: &[StoredEvent],
) -> Result<Option<Run>, EngineError> {
    if Role::loop_phases().contains(&task.spec().role) {
        let latest = SessionRuns::new(tasks).latest(&task.spec().session_id).await?;
        return Ok(latest.filter(is_loop));
    }
    let last = events.iter().rev().find_map(|recorded| match &recorded.event.body {
        EventBody::RunStarted { run, .. } | EventBody::RunBound { run, .. } => Some(*run),
        _ => None,
    });
    let Some(id) = last else { return Ok(None) };
    Ok(tasks.store.run(id).await?.map(|stored| stored.value).filter(is_told))
}

/// A task that could be claimed, and why it does not start, if so.
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
