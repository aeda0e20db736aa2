//! A task: one unit of work, what it was asked to be and how it has fared.
//!
//! The specification is the asker's, and only a revision changes it. It, the state and the ledger are changed in one
//! place only, [`Task::apply`] in [`crate::transition`]; their fields are private to make that so.

pub mod attempt;
pub mod attempt_record;
pub mod guard;
pub mod revision;
pub mod state;
pub mod type_detection;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::ask::cycle::AskCycle;
use crate::ask::question::Question;
use crate::base::id::{AttemptId, ProjectId, SessionId, TaskId};
use crate::base::priority::Priority;
use crate::base::task_type::TaskType;
use crate::base::text::{Label, NonBlank, RecipeId, Role};
use crate::base::time::Timestamp;
use crate::graph::Standing;
use crate::recycle::{Depth, RecycleReason};
use crate::schedule::{ClaimRank, Fit, Share, Urgency};
use crate::task::attempt::AttemptEnd;
use crate::task::guard::RequeueReason;
use crate::task::state::{Mark, ReplacedBy, StateName, TaskState};

/// What a task was asked to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskSpec {
    pub id: TaskId,
    /// I4: the session is the task group; there is no other field that could say otherwise.
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
    /// What its worker must have. Empty for most: any will do.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub needs: BTreeSet<Label>,
    #[serde(default)]
    pub purpose: Purpose,
    #[serde(default)]
    pub depth: Depth,
    /// Whose plan it is a part of: a breakdown's, or that of a task a loop planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned_in: Option<TaskId>,
    pub created_at: Timestamp,
}

impl TaskSpec {
    /// Work to be implemented, about which nothing more was said.
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
            created_at,
        }
    }
}

impl Fit {
    /// Whether a worker with this fit can run the task.
    pub fn admits(&self, task: &TaskSpec) -> bool {
        self.reaches(task.project_id) && task.needs.is_subset(&self.labels)
    }
}

/// Whether the task is to be done or to be planned.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "purpose", rename_all = "snake_case")]
pub enum Purpose {
    #[default]
    Work,
    /// Made for a run that found no task to work on: how the run ends is what it delivers.
    Run,
    Breakdown {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        replaces_task_id: Option<TaskId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<RecycleReason>,
        /// The human splits it; no agent may be set on it (I14).
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        by_hand: bool,
    },
}

/// How a task has fared so far.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ledger {
    /// Every attempt ever started.
    pub started: u32,
    /// Attempts that ended, were the task's own and were not accepted. Reset when a human says retry.
    pub tries: u32,
    pub continuations: u32,
    /// Merge conflicts since the last one a human decided.
    pub conflicts: u32,
    /// Nobody may claim it before somebody lets it go.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_held: bool,
    /// A reply or a rejection puts the task ahead of other work.
    pub is_ahead: bool,
    /// The attempt the next one goes on from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resumes: Option<AttemptId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_end: Option<AttemptEnd>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
    /// The one ask cycle of the task's execution (I6). Each attempt takes it over; none before the first agent
    /// was started, and none once nobody can ask any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asking: Option<AskCycle>,
    /// When the agent at work asked its last question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked_at: Option<Timestamp>,
    /// Answers in a row that no human gave. At the limit the automation stops.
    #[serde(skip_serializing_if = "is_zero")]
    pub automatic_in_a_row: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
const fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// Something the next attempt has to know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "note", rename_all = "snake_case")]
pub enum Note {
    Rejected { at: Timestamp, reason: NonBlank },
    Requeued { at: Timestamp, reason: RequeueReason },
    Conflict { at: Timestamp, detail: NonBlank },
}

/// Notes kept on a task. Older ones are still in the event log.
const NOTES_MAX: usize = 20;

impl Ledger {
    pub(crate) fn note(&mut self, note: Note) {
        if self.notes.len() == NOTES_MAX {
            self.notes.remove(0);
        }
        self.notes.push(note);
    }
}

/// A task. Built by [`Task::create`], changed by [`Task::apply`], read by everyone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "StoredTask")]
pub struct Task {
    pub(crate) spec: TaskSpec,
    pub(crate) state: TaskState,
    pub(crate) ledger: Ledger,
    /// The person in whose name it was asked for, by themselves or by an agent that worked for them. What follows from
    /// a task is asked for by the same person.
    #[serde(skip_serializing_if = "Option::is_none")]
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

    /// The same task, asked for by somebody.
    pub fn asked_by(self, person: Option<NonBlank>) -> Self {
        Self { asked_by: person, ..self }
    }

    /// A task that no agent may claim before a human has let it go.
    pub fn create_held(spec: TaskSpec) -> Self {
        let mut task = Self::create(spec);
        task.ledger.is_held = true;
        task
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

    pub const fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The question that waits for an answer: the one the task itself waits on, or one its agent asked while
    /// it is still at work.
    pub fn pending_question(&self) -> Option<&Question> {
        let of_agent = || self.ledger.asking.as_ref().and_then(AskCycle::pending);
        self.state.pending_question().or_else(|| self.state.live_attempt().and_then(|_| of_agent()))
    }

    pub const fn updated_at(&self) -> Timestamp {
        self.updated_at
    }

    /// The task that a breakdown finds the parts of.
    pub const fn replaces(&self) -> Option<TaskId> {
        match self.spec.purpose {
            Purpose::Breakdown { replaces_task_id, .. } => replaces_task_id,
            Purpose::Work | Purpose::Run => None,
        }
    }

    /// What it came of: the task it breaks down, or the one whose plan it is a part of.
    pub fn came_of(&self) -> Option<TaskId> {
        self.replaces().or(self.spec.planned_in)
    }

    pub const fn is_breakdown(&self) -> bool {
        match self.spec.purpose {
            Purpose::Breakdown { .. } => true,
            Purpose::Work | Purpose::Run => false,
        }
    }

    /// Whether an agent may be set on it, as far as the task itself is concerned.
    pub const fn is_claimable(&self) -> bool {
        let by_hand = matches!(self.spec.purpose, Purpose::Breakdown { by_hand: true, .. });
        self.state.is_claimable() && !by_hand && !self.ledger.is_held
    }

    /// Its place in the queue.
    pub fn claim_rank(&self) -> ClaimRank {
        // Half-finished work is warm too: it goes on before new work begins.
        let is_warm = self.ledger.is_ahead || matches!(self.state, TaskState::NeedsContinuation { .. });
        let urgency = if is_warm { Urgency::Resumed } else { Urgency::Normal };
        ClaimRank::of(urgency, self.spec.priority, self.spec.created_at)
    }

    pub const fn asker(&self) -> Option<&NonBlank> {
        self.asked_by.as_ref()
    }

    /// Whose work it is.
    pub fn share(&self) -> Share {
        Share { project: self.spec.project_id, person: self.asked_by.clone() }
    }

    /// What its dependents need to know of it.
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
            | TaskState::Breakdown { .. }
            | TaskState::Claimed { .. }
            | TaskState::NeedsContinuation { .. }
            | TaskState::AwaitingResponse { .. }
            | TaskState::Blocked { .. }
            | TaskState::Provisional(_) => Standing::Open,
        }
    }
}

/// A task as it was written down, before anyone has looked whether it can be one.
#[derive(Deserialize)]
struct StoredTask {
    spec: TaskSpec,
    state: TaskState,
    ledger: Ledger,
    #[serde(default)]
    asked_by: Option<NonBlank>,
    updated_at: Timestamp,
}

/// A stored task that breaks a rule no task made here can break: the row was damaged or written by hand.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImpossibleTask {
    #[error("{task} is {task_type} and Blocked; only DANGEROUS_OP may be (I2)")]
    BlockedWithoutDanger { task: TaskId, task_type: TaskType },
    #[error("{task} is in {state}, which its purpose does not allow")]
    WrongPurpose { task: TaskId, state: StateName },
    #[error("{task} is Recycled and replaced by no task (I13)")]
    ReplacedByNothing { task: TaskId },
}

impl TryFrom<StoredTask> for Task {
    type Error = ImpossibleTask;

    fn try_from(stored: StoredTask) -> Result<Self, ImpossibleTask> {
        let StoredTask { spec, state, ledger, asked_by, updated_at } = stored;
        let task = spec.id;
        let is_breakdown = matches!(spec.purpose, Purpose::Breakdown { .. });
        match &state {
            TaskState::Blocked { .. } if spec.task_type != TaskType::DangerousOp => {
                return Err(ImpossibleTask::BlockedWithoutDanger { task, task_type: spec.task_type });
            }
            TaskState::Recycled { replaced_by: ReplacedBy::Tasks(tasks) } if tasks.is_empty() => {
                return Err(ImpossibleTask::ReplacedByNothing { task });
            }
            TaskState::Breakdown { .. } if !is_breakdown => {
                return Err(ImpossibleTask::WrongPurpose { task, state: state.name() });
            }
            TaskState::Incoming | TaskState::NeedsContinuation { .. } | TaskState::Recycled { .. }
                if is_breakdown =>
            {
                return Err(ImpossibleTask::WrongPurpose { task, state: state.name() });
            }
            TaskState::Provisional(provisional) if (provisional.mark == Mark::Plan) != is_breakdown => {
                return Err(ImpossibleTask::WrongPurpose { task, state: state.name() });
            }
            TaskState::Blocked { .. }
            | TaskState::Recycled { .. }
            | TaskState::Breakdown { .. }
            | TaskState::Incoming
            | TaskState::NeedsContinuation { .. }
            | TaskState::Provisional(_)
            | TaskState::Claimed { .. }
            | TaskState::AwaitingResponse { .. }
            | TaskState::Done { .. }
            | TaskState::Failed { .. }
            | TaskState::Cancelled { .. } => {}
        }
        Ok(Self { spec, state, ledger, asked_by, updated_at })
    }
}
