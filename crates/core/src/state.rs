//! The states of a task, and the two faces they show outside: `queue` and `status`.

use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::attempt::Attempt;
use crate::id::{AttemptId, TaskId};
use crate::question::{DangerQuestion, Question, QuestionKind};
use crate::text::NonBlank;
use crate::time::Timestamp;

/// Where a task stands. What a state needs to be true, it holds: an awaiting task its question, a claimed
/// one its attempt, a recycled one its replacement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "snake_case")]
pub enum TaskState {
    /// Put here by creation, a reply, a rejection, a retry or a lost attempt; taken out by a claim.
    Incoming,
    /// A task that is to be planned, not done. Agents may claim it once it is released.
    Breakdown { released: bool },
    /// An agent is at work. I16: the one live attempt is the one held here.
    Claimed { attempt: Attempt },
    /// The turns ran out with work done; the next claim goes on where `after` stopped.
    NeedsContinuation { after: AttemptId },
    /// Nobody works on it until the question is answered (I1).
    AwaitingResponse { waiting: Waiting<Question> },
    /// A dangerous operation waits for a go-ahead (I1, I2).
    Blocked { waiting: Waiting<DangerQuestion> },
    /// The work is there and waits for someone to accept it.
    Provisional(Provisional),
    /// Too big as it was. Its dependents wait for what replaces it (I13).
    Recycled { replaced_by: ReplacedBy },
    /// Nothing ever leaves here (I16).
    Done { accepted_by: AcceptedBy },
    /// An error retrying cannot mend. Only a human's retry leads out.
    Failed { error: NonBlank },
    /// Nothing but the record is left; a late result changes nothing.
    Cancelled { by: Actor, reason: Option<NonBlank> },
}

/// A pending question and what to go on with once it is answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting<Q> {
    pub question: Q,
    pub asked_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<AttemptId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provisional {
    /// None where a human wrote the plan by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<AttemptId>,
    pub mark: Mark,
    /// What the agent still asked, shown beside the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<NonBlank>,
}

/// What a provisional task is marked with. It decides who may accept it, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "mark", rename_all = "snake_case")]
pub enum Mark {
    Ready,
    /// The agent says there was nothing to do. A human must agree.
    NoChanges {
        reason: String,
    },
    /// Turns used up, nothing to show. Recycled, or accepted by a human with force.
    BurnedOut,
    /// Tried or continued too often without being accepted. As burned out.
    NotConverging,
    /// A breakdown's plan, to be approved rather than accepted.
    Plan,
}

impl Mark {
    /// The marks that `accept --all` reports instead of accepting.
    pub const fn is_too_large(&self) -> bool {
        match self {
            Self::BurnedOut | Self::NotConverging => true,
            Self::Ready | Self::NoChanges { .. } | Self::Plan => false,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplacedBy {
    /// The breakdown task that is to find the replacements. Dependents cannot start (I13).
    Planning(TaskId),
    /// The approved subtasks. Dependents may start when all are done (I13).
    Tasks(Vec<TaskId>),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum AcceptedBy {
    /// The output was the deliverable and it was there.
    Output,
    Actor {
        actor: Actor,
    },
    /// A breakdown whose plan was approved.
    PlanApproved {
        actor: Actor,
    },
}

/// A state without its contents; the rows of the transition table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StateName {
    Incoming,
    Breakdown,
    Claimed,
    NeedsContinuation,
    AwaitingResponse,
    Blocked,
    Provisional,
    Recycled,
    Done,
    Failed,
    Cancelled,
}

impl StateName {
    pub const ALL: [Self; 11] = [
        Self::Incoming,
        Self::Breakdown,
        Self::Claimed,
        Self::NeedsContinuation,
        Self::AwaitingResponse,
        Self::Blocked,
        Self::Provisional,
        Self::Recycled,
        Self::Done,
        Self::Failed,
        Self::Cancelled,
    ];

    /// As messages and diagrams name it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Incoming => "Incoming",
            Self::Breakdown => "Breakdown",
            Self::Claimed => "Claimed",
            Self::NeedsContinuation => "NeedsContinuation",
            Self::AwaitingResponse => "AwaitingResponse",
            Self::Blocked => "Blocked",
            Self::Provisional => "Provisional",
            Self::Recycled => "Recycled",
            Self::Done => "Done",
            Self::Failed => "Failed",
            Self::Cancelled => "Cancelled",
        }
    }
}

impl std::fmt::Display for StateName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The face towards people who think in queues.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Queue {
    Incoming,
    Breakdown,
    Claimed,
    NeedsContinuation,
    Escalated,
    Provisional,
    Recycled,
    Done,
    Failed,
    Rejected,
}

/// The face towards people who think in conversations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Status {
    Queued,
    Running,
    AwaitingResponse,
    Blocked,
    WaitingChildren,
    Complete,
    Error,
    Cancelled,
}

impl Queue {
    pub const ALL: [Self; 10] = [
        Self::Incoming,
        Self::Breakdown,
        Self::Claimed,
        Self::NeedsContinuation,
        Self::Escalated,
        Self::Provisional,
        Self::Recycled,
        Self::Done,
        Self::Failed,
        Self::Rejected,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Incoming => "incoming",
            Self::Breakdown => "breakdown",
            Self::Claimed => "claimed",
            Self::NeedsContinuation => "needs_continuation",
            Self::Escalated => "escalated",
            Self::Provisional => "provisional",
            Self::Recycled => "recycled",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Rejected => "rejected",
        }
    }
}

impl Status {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "QUEUED",
            Self::Running => "RUNNING",
            Self::AwaitingResponse => "AWAITING_RESPONSE",
            Self::Blocked => "BLOCKED",
            Self::WaitingChildren => "WAITING_CHILDREN",
            Self::Complete => "COMPLETE",
            Self::Error => "ERROR",
            Self::Cancelled => "CANCELLED",
        }
    }

    /// The reply box is shown exactly then.
    pub const fn shows_reply_ui(self) -> bool {
        match self {
            Self::AwaitingResponse | Self::Blocked => true,
            Self::Queued
            | Self::Running
            | Self::WaitingChildren
            | Self::Complete
            | Self::Error
            | Self::Cancelled => false,
        }
    }
}

impl TaskState {
    pub const fn name(&self) -> StateName {
        match self {
            Self::Incoming => StateName::Incoming,
            Self::Breakdown { .. } => StateName::Breakdown,
            Self::Claimed { .. } => StateName::Claimed,
            Self::NeedsContinuation { .. } => StateName::NeedsContinuation,
            Self::AwaitingResponse { .. } => StateName::AwaitingResponse,
            Self::Blocked { .. } => StateName::Blocked,
            Self::Provisional(_) => StateName::Provisional,
            Self::Recycled { .. } => StateName::Recycled,
            Self::Done { .. } => StateName::Done,
            Self::Failed { .. } => StateName::Failed,
            Self::Cancelled { .. } => StateName::Cancelled,
        }
    }

    pub fn queue(&self) -> Queue {
        match self {
            Self::Incoming => Queue::Incoming,
            Self::Breakdown { .. } => Queue::Breakdown,
            Self::Claimed { .. } | Self::Blocked { .. } => Queue::Claimed,
            Self::NeedsContinuation { .. } => Queue::NeedsContinuation,
            Self::AwaitingResponse { waiting } if waiting.question.kind() == QuestionKind::Escalation => {
                Queue::Escalated
            }
            Self::AwaitingResponse { .. } => Queue::Claimed,
            Self::Provisional(_) => Queue::Provisional,
            Self::Recycled { .. } => Queue::Recycled,
            Self::Done { .. } => Queue::Done,
            Self::Failed { .. } => Queue::Failed,
            Self::Cancelled { .. } => Queue::Rejected,
        }
    }

    pub const fn status(&self) -> Status {
        match self {
            Self::Incoming | Self::Breakdown { .. } | Self::NeedsContinuation { .. } => Status::Queued,
            Self::Claimed { .. } | Self::Provisional(_) => Status::Running,
            Self::AwaitingResponse { .. } => Status::AwaitingResponse,
            Self::Blocked { .. } => Status::Blocked,
            Self::Recycled { .. } => Status::WaitingChildren,
            Self::Done { .. } => Status::Complete,
            Self::Failed { .. } => Status::Error,
            Self::Cancelled { .. } => Status::Cancelled,
        }
    }

    /// The question a human can answer now, if there is one.
    pub fn pending_question(&self) -> Option<&Question> {
        match self {
            Self::AwaitingResponse { waiting } => Some(&waiting.question),
            Self::Blocked { waiting } => Some(waiting.question.question()),
            Self::Incoming
            | Self::Breakdown { .. }
            | Self::Claimed { .. }
            | Self::NeedsContinuation { .. }
            | Self::Provisional(_)
            | Self::Recycled { .. }
            | Self::Done { .. }
            | Self::Failed { .. }
            | Self::Cancelled { .. } => None,
        }
    }

    /// The live attempt, if there is one.
    pub const fn live_attempt(&self) -> Option<&Attempt> {
        match self {
            Self::Claimed { attempt } => Some(attempt),
            Self::Incoming
            | Self::Breakdown { .. }
            | Self::NeedsContinuation { .. }
            | Self::AwaitingResponse { .. }
            | Self::Blocked { .. }
            | Self::Provisional(_)
            | Self::Recycled { .. }
            | Self::Done { .. }
            | Self::Failed { .. }
            | Self::Cancelled { .. } => None,
        }
    }

    /// Whether an agent may claim a task in this state, once its dependencies are met.
    pub const fn is_claimable(&self) -> bool {
        match self {
            Self::Incoming | Self::NeedsContinuation { .. } => true,
            Self::Breakdown { released } => *released,
            Self::Claimed { .. }
            | Self::AwaitingResponse { .. }
            | Self::Blocked { .. }
            | Self::Provisional(_)
            | Self::Recycled { .. }
            | Self::Done { .. }
            | Self::Failed { .. }
            | Self::Cancelled { .. } => false,
        }
    }
}
