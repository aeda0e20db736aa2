//! The stored form of a task. It is older than some of the types: what is a state or a variant here is a flag or an
//! option there, and stays one, so that rows written by any version can be read.

use serde::{Deserialize, Serialize};

use crate::ask::cycle::AskCycle;
use crate::base::git_name::CommitId;
use crate::base::id::{AttemptId, TaskId};
use crate::base::task_type::TaskType;
use crate::base::text::NonBlank;
use crate::base::time::Timestamp;
use crate::people::actor::Actor;
use crate::schedule::AgentPlace;
use crate::task::attempt::AttemptEnd;
use crate::task::ledger::{Asking, Ledger, TakenOver, TaskNote};
use crate::task::messages::TaskMessages;
use crate::task::state::{ReplacedBy, ReviewMark, StateName, TaskState};
use crate::task::{Purpose, Task, TaskSpec};

/// A task as stored, before validation.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredTask {
    spec: TaskSpec,
    state: TaskState,
    ledger: StoredLedger,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    asked_by: Option<NonBlank>,
    updated_at: Timestamp,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct StoredLedger {
    started: u32,
    tries: u32,
    continuations: u32,
    conflicts: u32,
    /// [`TaskState::Held`], or failed while held.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_held: bool,
    is_ahead: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    resumes: Option<AttemptId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_place: Option<AgentPlace>,
    #[serde(skip_serializing_if = "Option::is_none")]
    held_because: Option<NonBlank>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    rests_on: Vec<TaskId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_end: Option<AttemptEnd>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<TaskNote>,
    #[serde(skip_serializing_if = "Option::is_none")]
    messages: Option<TaskMessages>,
    #[serde(skip_serializing_if = "Option::is_none")]
    taken: Option<TakenOver>,
    #[serde(skip_serializing_if = "Option::is_none")]
    submitted_by: Option<Actor>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rejected_head: Option<CommitId>,
    /// [`Asking`] is these three.
    #[serde(skip_serializing_if = "Option::is_none")]
    asking: Option<AskCycle>,
    #[serde(skip_serializing_if = "Option::is_none")]
    asked_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "is_zero")]
    automatic_in_a_row: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
const fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// A stored task that breaks a rule no task created here can break: the row is damaged or was edited by hand.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CorruptTask {
    #[error("{task} is {task_type} and Blocked; only DANGEROUS_OP may be (I2)")]
    BlockedWithoutDanger { task: TaskId, task_type: TaskType },
    #[error("{task} is in {state}, which its purpose does not allow")]
    WrongPurpose { task: TaskId, state: StateName },
    #[error("{task} is Recycled and replaced by no task (I13)")]
    ReplacedByNothing { task: TaskId },
}

impl From<Task> for StoredTask {
    fn from(task: Task) -> Self {
        let is_held = matches!(task.state, TaskState::Held | TaskState::Failed { was_held: true, .. });
        Self {
            spec: task.spec,
            state: task.state,
            ledger: StoredLedger::new(task.ledger, is_held),
            asked_by: task.asked_by,
            updated_at: task.updated_at,
        }
    }
}

impl TryFrom<StoredTask> for Task {
    type Error = CorruptTask;

    fn try_from(stored: StoredTask) -> Result<Self, CorruptTask> {
        let StoredTask { spec, state, ledger, asked_by, updated_at } = stored;
        let state = if ledger.is_held { held(state) } else { state };
        check(&spec, &state)?;
        Ok(Self { spec, state, ledger: ledger.into(), asked_by, updated_at })
    }
}

/// The state of a task whose row says that it is held.
fn held(state: TaskState) -> TaskState {
    match state {
        TaskState::Incoming => TaskState::Held,
        TaskState::Breakdown { .. } => TaskState::Breakdown { released: false },
        TaskState::Failed { error, .. } => TaskState::Failed { error, was_held: true },
        other => other,
    }
}

fn check(spec: &TaskSpec, state: &TaskState) -> Result<(), CorruptTask> {
    let task = spec.id;
    let is_breakdown = matches!(spec.purpose, Purpose::Breakdown { .. });
    match state {
        TaskState::Blocked { .. } if spec.task_type != TaskType::DangerousOp => {
            Err(CorruptTask::BlockedWithoutDanger { task, task_type: spec.task_type })
        }
        TaskState::Recycled { replaced_by: ReplacedBy::Tasks(tasks) } if tasks.is_empty() => {
            Err(CorruptTask::ReplacedByNothing { task })
        }
        TaskState::Breakdown { .. } if !is_breakdown => {
            Err(CorruptTask::WrongPurpose { task, state: state.name() })
        }
        TaskState::Incoming
        | TaskState::Held
        | TaskState::NeedsContinuation { .. }
        | TaskState::Recycled { .. }
            if is_breakdown =>
        {
            Err(CorruptTask::WrongPurpose { task, state: state.name() })
        }
        TaskState::Provisional(provisional) if (provisional.mark == ReviewMark::Plan) != is_breakdown => {
            Err(CorruptTask::WrongPurpose { task, state: state.name() })
        }
        TaskState::Landing(_) if is_breakdown => Err(CorruptTask::WrongPurpose { task, state: state.name() }),
        TaskState::Blocked { .. }
        | TaskState::Recycled { .. }
        | TaskState::Breakdown { .. }
        | TaskState::Incoming
        | TaskState::Held
        | TaskState::NeedsContinuation { .. }
        | TaskState::Provisional(_)
        | TaskState::Landing(_)
        | TaskState::Claimed { .. }
        | TaskState::AwaitingResponse { .. }
        | TaskState::Done { .. }
        | TaskState::Failed { .. }
        | TaskState::Cancelled { .. } => Ok(()),
    }
}

impl StoredLedger {
    fn new(ledger: Ledger, is_held: bool) -> Self {
        let automatic_in_a_row = ledger.asking.automatic_in_a_row();
        let (asking, asked_at) = match ledger.asking {
            Asking::Cycle { cycle, asked_at } => (Some(*cycle), asked_at),
            Asking::NotStarted { .. } => (None, None),
        };
        Self {
            started: ledger.started,
            tries: ledger.tries,
            continuations: ledger.continuations,
            conflicts: ledger.conflicts,
            is_held,
            is_ahead: ledger.is_ahead,
            resumes: ledger.resumes,
            held_because: ledger.held_because,
            session_place: ledger.session_place,
            rests_on: ledger.rests_on,
            output: ledger.output,
            last_end: ledger.last_end,
            notes: ledger.notes,
            messages: ledger.messages,
            taken: ledger.taken,
            submitted_by: ledger.submitted_by,
            rejected_head: ledger.rejected_head,
            asking,
            asked_at,
            automatic_in_a_row,
        }
    }
}

impl From<StoredLedger> for Ledger {
    fn from(stored: StoredLedger) -> Self {
        Self {
            started: stored.started,
            tries: stored.tries,
            continuations: stored.continuations,
            conflicts: stored.conflicts,
            is_ahead: stored.is_ahead,
            resumes: stored.resumes,
            held_because: stored.held_because,
            session_place: stored.session_place,
            rests_on: stored.rests_on,
            output: stored.output,
            last_end: stored.last_end,
            notes: stored.notes,
            messages: stored.messages,
            taken: stored.taken,
            submitted_by: stored.submitted_by,
            rejected_head: stored.rejected_head,
            asking: match stored.asking {
                Some(cycle) => Asking::Cycle { cycle: Box::new(cycle), asked_at: stored.asked_at },
                None => Asking::NotStarted { automatic_in_a_row: stored.automatic_in_a_row },
            },
        }
    }
}
