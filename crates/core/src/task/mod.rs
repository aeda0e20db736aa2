//! Tasks: one unit of work, its states, its attempts, and how an attempt's end is judged.
//!
//! Only [`Task::apply`] in [`crate::transition`] changes a task's specification, state and ledger; the fields are
//! private to ensure it. Dependencies between tasks are in [`graph`](crate::graph), the order of work in
//! [`schedule`](crate::schedule).

pub mod attempt;
pub mod attempt_record;
pub mod environment;
pub mod fence;
pub mod finding;
mod follow_up;
pub mod guard;
mod label;
pub mod ledger;
pub mod messages;
pub mod met_commits;
pub mod not_landed;
mod not_landed_text;
mod ownership;
pub mod revision;
pub mod state;
pub mod stored;
pub mod type_detection;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::ask::question::Question;
use crate::base::accept_policy::AcceptPolicy;
use crate::base::id::{AttemptId, ProjectId, SessionId, TaskId};
use crate::base::priority::Priority;
use crate::base::task_type::TaskType;
use crate::base::text::{AgentName, Label, NonBlank, RecipeId, Role};
use crate::base::time::Timestamp;
use crate::graph::Standing;
use crate::recycle::{Depth, RecycleReason, TRIES_MAX};
use crate::schedule::{ClaimRank, RouteWish, Share, Urgency, WorkerFit};
use crate::task::ledger::{Ledger, TakenOver, TaskNote};
use crate::task::state::{ReplacedBy, TaskState};
use crate::task::stored::StoredTask;

/// What a task is asked to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskSpec {
    pub id: TaskId,
    /// I4: the session is the task group; no other field could disagree.
    pub session_id: SessionId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
    pub task_type: TaskType,
    pub title: NonBlank,
    #[serde(default)]
    pub description: String,
    #[serde(default)]
    pub priority: Priority,
    pub role: Role,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipe: Option<RecipeId>,
    /// Labels its worker must have. Usually empty: any worker will do.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub needs: BTreeSet<Label>,
    #[serde(default)]
    pub purpose: Purpose,
    #[serde(default)]
    pub depth: Depth,
    /// The breakdown, or the task planned by a loop, whose plan it is part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned_in: Option<TaskId>,
    /// Who accepts it; without one, what the settings say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accept_when: Option<AcceptPolicy>,
    /// Shell commands that must pass before it lands, and that should fail without it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub verify: Vec<NonBlank>,
    /// It does not start before this moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_at: Option<Timestamp>,
    /// The task of an earlier message of its conversation that was not through when this one came: it starts after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follows: Option<TaskId>,
    /// The attempt whose agent added it; none for a task of a person's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added_by: Option<AttemptId>,
    /// The agent a person chose for it; without one, that of its role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// The model a person chose for it; without one, what its step or its agent says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<NonBlank>,
    /// It waits for its agent, however long that gets no work.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_fallback: bool,
    /// An account it must not use: the one its author worked on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_on: Option<AgentName>,
    pub created_at: Timestamp,
}

impl TaskSpec {
    /// Implementation work, with defaults for everything else.
    pub fn new(
        id: TaskId,
        session_id: SessionId,
        task_type: TaskType,
        title: NonBlank,
        created_at: Timestamp,
    ) -> Self {
        Self {
            id,
            session_id,
            project_id: None,
            task_type,
            title,
            description: String::new(),
            priority: Priority::default(),
            role: Role::implement(),
            recipe: None,
            needs: BTreeSet::new(),
            purpose: Purpose::Work,
            depth: Depth::Original,
            planned_in: None,
            accept_when: None,
            verify: Vec::new(),
            start_at: None,
            follows: None,
            added_by: None,
            agent: None,
            model: None,
            no_fallback: false,
            not_on: None,
            created_at,
        }
    }
}

impl WorkerFit {
    /// Whether a worker with this fit can run the task. Here, because `schedule` knows no tasks.
    pub fn admits(&self, task: &Task) -> bool {
        let spec = task.spec();
        self.reaches(spec.project_id)
            && spec.needs.is_subset(&self.labels)
            && self.owned.owner_of(task).is_none()
            && (self.routes.agents.is_empty() || self.agent_for(task).is_some())
    }

    /// The agent that takes the task now, if the worker chooses among agents.
    pub fn agent_for(&self, task: &Task) -> Option<AgentName> {
        self.routes.choose(&task.route_wish(&task.spec.role)).ok().map(|place| place.agent)
    }
}

impl Task {
    /// What it asks of the agent that works on it in this role.
    pub fn route_wish<'a>(&'a self, role: &'a Role) -> RouteWish<'a> {
        let is_own = *role == self.spec.role;
        RouteWish {
            role,
            agent: self.spec.agent.as_ref().filter(|_| is_own),
            no_fallback: self.spec.no_fallback && is_own,
            session: self.ledger.session_place.as_ref(),
            not_on: self.spec.not_on.as_ref(),
        }
    }
}

fn reason_behind(earlier: TaskId) -> NonBlank {
    NonBlank::led_by("it starts after the message before it in this conversation: ", &earlier.to_string())
}

/// Whether the task is to be done or to be planned.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "purpose", rename_all = "snake_case")]
pub enum Purpose {
    #[default]
    Work,
    /// Created for a run that found no task to work on; its deliverable is how the run ends.
    Run,
    Breakdown {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        replaces_task_id: Option<TaskId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<RecycleReason>,
        /// The human splits it; no agent may plan it (I14).
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        by_hand: bool,
    },
}

/// A task. Created by [`Task::create`], changed only by [`Task::apply`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "StoredTask", into = "StoredTask")]
pub struct Task {
    pub(crate) spec: TaskSpec,
    pub(crate) state: TaskState,
    pub(crate) ledger: Ledger,
    /// The person it was requested for, directly or through an agent. Follow-up tasks inherit it.
    pub(crate) asked_by: Option<NonBlank>,
    pub(crate) updated_at: Timestamp,
}

impl Task {
    pub fn create(spec: TaskSpec) -> Self {
        let state = match spec.purpose {
            Purpose::Work | Purpose::Run => TaskState::Incoming,
            Purpose::Breakdown { .. } => TaskState::Breakdown { released: false },
        };
        let updated_at = spec.created_at;
        Self { spec, state, ledger: Ledger::default(), asked_by: None, updated_at }
    }

    /// The same task, requested by this person.
    pub fn with_requester(self, person: Option<NonBlank>) -> Self {
        Self { asked_by: person, ..self }
    }

    /// A task no agent may claim until a human releases it.
    pub fn create_held(spec: TaskSpec) -> Self {
        let mut task = Self::create(spec);
        // A breakdown that nobody released is held anyway.
        if task.state == TaskState::Incoming {
            task.state = TaskState::Held;
        }
        task
    }

    /// The same, with the reason.
    pub fn create_held_for(spec: TaskSpec, reason: NonBlank) -> Self {
        let mut task = Self::create_held(spec);
        task.ledger.held_because = Some(reason);
        task
    }

    /// A task that starts when nobody works on the earlier message's task any more.
    pub fn create_behind(spec: TaskSpec, earlier: TaskId) -> Self {
        Self::create_held_for(TaskSpec { follows: Some(earlier), ..spec }, reason_behind(earlier))
    }

    /// The task of an earlier message that it is held for, and for nothing else.
    pub fn waits_behind(&self) -> Option<TaskId> {
        let is_reason =
            |earlier: &TaskId| self.ledger.held_because.as_ref() == Some(&reason_behind(*earlier));
        self.spec.follows.filter(|earlier| self.state == TaskState::Held && is_reason(earlier))
    }

    /// Whether somebody works on it, or will by itself or with the answer that it waits for.
    pub fn is_under_way(&self) -> bool {
        self.is_claimable()
            || matches!(self.state, TaskState::Incoming | TaskState::Claimed { .. })
            || self.pending_question().is_some()
            || self.waits_behind().is_some()
    }

    pub const fn id(&self) -> TaskId {
        self.spec.id
    }

    pub const fn spec(&self) -> &TaskSpec {
        &self.spec
    }

    pub const fn state(&self) -> &TaskState {
        &self.state
    }

    /// The person who works on it in the place of an agent.
    pub fn taken(&self) -> Option<&TakenOver> {
        self.ledger.taken.as_ref().filter(|_| self.state == TaskState::Held)
    }

    pub const fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The pending question: the one the task itself waits on, or one its running agent asked.
    pub fn pending_question(&self) -> Option<&Question> {
        let of_agent = || self.ledger.asking.pending();
        self.state.pending_question().or_else(|| self.state.live_attempt().and_then(|_| of_agent()))
    }

    pub const fn updated_at(&self) -> Timestamp {
        self.updated_at
    }

    /// The task a breakdown replaces.
    pub const fn replaces(&self) -> Option<TaskId> {
        match self.spec.purpose {
            Purpose::Breakdown { replaces_task_id, .. } => replaces_task_id,
            Purpose::Work | Purpose::Run => None,
        }
    }

    /// The task it was derived from: the one it breaks down, or the one whose plan it is part of.
    pub fn derived_from(&self) -> Option<TaskId> {
        self.replaces().or(self.spec.planned_in)
    }

    pub const fn is_breakdown(&self) -> bool {
        match self.spec.purpose {
            Purpose::Breakdown { .. } => true,
            Purpose::Work | Purpose::Run => false,
        }
    }

    /// Whether it was made for a run that nobody told what to do, and means nothing without that run.
    pub fn is_for_run_alone(&self) -> bool {
        self.spec.purpose == Purpose::Run && self.spec.description.trim().is_empty()
    }

    /// Whether its last attempt left work.
    pub fn shows_work(&self) -> bool {
        self.ledger.last_end.as_ref().is_some_and(|end| end.verified.shows_work())
    }

    /// Whether a person has sent its last plan back, and it may be planned again.
    pub fn has_rejected_plan(&self) -> bool {
        // Its attempts end `is_ahead`, so a plan that was stopped later is not taken for a rejected one.
        let is_rejected = matches!(self.ledger.notes.last(), Some(TaskNote::Rejected { .. }));
        self.is_breakdown() && is_rejected && self.ledger.is_ahead && self.ledger.tries < TRIES_MAX
    }

    /// Whether an agent may claim it, as far as the task itself is concerned.
    pub const fn is_claimable(&self) -> bool {
        let by_hand = matches!(self.spec.purpose, Purpose::Breakdown { by_hand: true, .. });
        self.state.is_claimable() && !by_hand
    }

    /// Its position in the queue.
    pub fn claim_rank(&self) -> ClaimRank {
        // Half-finished work counts as resumed too: it continues before new work begins.
        let is_warm = self.ledger.is_ahead || matches!(self.state, TaskState::NeedsContinuation { .. });
        let urgency = if is_warm { Urgency::Resumed } else { Urgency::Normal };
        ClaimRank::new(urgency, self.spec.priority, self.spec.created_at)
    }

    pub const fn asker(&self) -> Option<&NonBlank> {
        self.asked_by.as_ref()
    }

    /// Who it belongs to.
    pub fn share(&self) -> Share {
        Share { project: self.spec.project_id, person: self.asked_by.clone() }
    }

    /// What its dependents need to know about it.
    pub fn standing(&self) -> Standing {
        match &self.state {
            TaskState::Done { .. } => Standing::Done,
            TaskState::Cancelled { .. } => Standing::Cancelled,
            TaskState::Failed { .. } => Standing::Failed,
            TaskState::Recycled { replaced_by: ReplacedBy::Planning(planning) } => {
                Standing::Recycled { planning: *planning }
            }
            TaskState::Recycled { replaced_by: ReplacedBy::Tasks(by) } => {
                Standing::Replaced { by: by.clone() }
            }
            TaskState::Incoming
            | TaskState::Held
            | TaskState::Breakdown { .. }
            | TaskState::Claimed { .. }
            | TaskState::NeedsContinuation { .. }
            | TaskState::AwaitingResponse { .. }
            | TaskState::Blocked { .. }
            | TaskState::Provisional(_)
            | TaskState::Landing(_) => Standing::Open,
        }
    }
}
