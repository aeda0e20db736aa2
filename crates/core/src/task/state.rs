//! The states of a task, and their two public views: `queue` and `status`.

use serde::{Deserialize, Serialize};

use crate::ask::question::{DangerQuestion, Question, QuestionKind};
use crate::base::id::{AttemptId, TaskId};
use crate::base::text::NonBlank;
use crate::base::time::Timestamp;
use crate::people::actor::Actor;
use crate::task::attempt::Attempt;

/// The state of a task. A state holds what must be true of it: an awaiting task its question, a claimed one its
/// attempt, a recycled one its replacement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "snake_case")]
pub enum TaskState {
    /// Entered by creation, a reply, a rejection, a retry or a lost attempt; left by a claim.
    Incoming,
    /// To do, and nobody may claim it until somebody releases it. Outside it is `incoming`, like any task to do.
    #[serde(rename(serialize = "incoming"), skip_deserializing)]
    Held,
    /// A task to plan, not to do. Agents may claim it once it is released.
    Breakdown { released: bool },
    /// An agent is running. I16: this is the only live attempt.
    Claimed { attempt: Attempt },
    /// The turns ran out with work done; the next claim continues after `after`.
    NeedsContinuation { after: AttemptId },
    /// Nobody works on it until the question is answered (I1).
    AwaitingResponse { waiting: AwaitedAnswer<Question> },
    /// A dangerous operation waits for approval (I1, I2).
    Blocked { waiting: AwaitedAnswer<DangerQuestion> },
    /// The work is done and waits for acceptance.
    Provisional(Provisional),
    /// Accepted, and in the lane of its branch: it is done once the branch moves to a commit that passed the checks
    /// with it (I18).
    Landing(LaneEntry),
    /// Too large. Its dependents wait for its replacements (I13).
    Recycled { replaced_by: ReplacedBy },
    /// Final (I16).
    Done { accepted_by: AcceptedBy },
    /// An error that retrying cannot fix. Only a human's retry leads out.
    Failed {
        error: NonBlank,
        /// It was held when it was marked as failed, so a retry leads back to [`TaskState::Held`].
        #[serde(skip)]
        was_held: bool,
    },
    /// Only the record is left; a late result changes nothing.
    Cancelled { by: Actor, reason: Option<NonBlank> },
}

/// A pending question, and the attempt to continue once it is answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AwaitedAnswer<Q> {
    pub question: Q,
    pub asked_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<AttemptId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provisional {
    /// `None` if a human wrote the plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<AttemptId>,
    pub mark: ReviewMark,
    /// What the agent still asked, shown next to the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<NonBlank>,
}

/// Accepted work on its way into its branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneEntry {
    /// What was accepted, as it was.
    pub work: Provisional,
    pub accepted_by: Actor,
    pub since: Timestamp,
}

/// How a provisional task is marked. It decides who may accept it, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "mark", rename_all = "snake_case")]
pub enum ReviewMark {
    Ready,
    /// The agent says there was nothing to do. A human must agree.
    NoChanges {
        reason: String,
    },
    /// Turns used up without work. Recycled, or accepted by a human with force.
    BurnedOut,
    /// Tried or continued too often without acceptance. Treated as burned out.
    NotConverging,
    /// Something about the work is odd: conflict markers, an unfinished merge, a file that is too large. Accepted by a human
    /// with force.
    NeedsReview {
        reasons: Vec<String>,
    },
    /// A breakdown's plan, to be approved rather than accepted.
    Plan,
}

impl ReviewMark {
    /// Whether it is accepted only by a person who says that they have looked.
    pub const fn needs_force(&self) -> bool {
        match self {
            Self::BurnedOut | Self::NotConverging | Self::NeedsReview { .. } => true,
            Self::Ready | Self::Plan | Self::NoChanges { .. } => false,
        }
    }

    /// The marks that `accept --all` reports instead of accepting.
    pub const fn is_too_large(&self) -> bool {
        match self {
            Self::BurnedOut | Self::NotConverging => true,
            Self::Ready | Self::NoChanges { .. } | Self::NeedsReview { .. } | Self::Plan => false,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplacedBy {
    /// The breakdown that plans the replacements. Dependents cannot start (I13).
    Planning(TaskId),
    /// The approved subtasks. Dependents may start once all are done (I13).
    Tasks(Vec<TaskId>),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum AcceptedBy {
    /// The output was the deliverable, and it was there.
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
    Held,
    Breakdown,
    Claimed,
    NeedsContinuation,
    AwaitingResponse,
    Blocked,
    Provisional,
    Landing,
    Recycled,
    Done,
    Failed,
    Cancelled,
}

impl StateName {
    pub const ALL: [Self; 13] = [
        Self::Incoming,
        Self::Held,
        Self::Breakdown,
        Self::Claimed,
        Self::NeedsContinuation,
        Self::AwaitingResponse,
        Self::Blocked,
        Self::Provisional,
        Self::Landing,
        Self::Recycled,
        Self::Done,
        Self::Failed,
        Self::Cancelled,
    ];

    /// As named in messages and diagrams.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Incoming => "Incoming",
            Self::Held => "Held",
            Self::Breakdown => "Breakdown",
            Self::Claimed => "Claimed",
            Self::NeedsContinuation => "NeedsContinuation",
            Self::AwaitingResponse => "AwaitingResponse",
            Self::Blocked => "Blocked",
            Self::Provisional => "Provisional",
            Self::Landing => "Landing",
            Self::Recycled => "Recycled",
            Self::Done => "Done",
            Self::Failed => "Failed",
            Self::Cancelled => "Cancelled",
        }
    }
}

impl StateName {
    /// In a sentence for people: "it is …".
    pub const fn described(self) -> &'static str {
        match self {
            Self::Incoming => "queued",
            Self::Held => "held",
            Self::Breakdown => "waiting for a plan",
            Self::Claimed => "being worked on",
            Self::NeedsContinuation => "unfinished and queued",
            Self::AwaitingResponse | Self::Blocked => "waiting for an answer",
            Self::Provisional => "ready for review",
            Self::Landing => "being checked before it lands",
            Self::Recycled => "split into smaller tasks",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

impl std::fmt::Display for StateName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The view by queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueName {
    Incoming,
    Breakdown,
    Claimed,
    NeedsContinuation,
    Escalated,
    Provisional,
    Landing,
    Recycled,
    Done,
    Failed,
    Rejected,
}

/// The view by conversation status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum TaskStatus {
    Queued,
    Running,
    AwaitingResponse,
    Blocked,
    WaitingChildren,
    Complete,
    Error,
    Cancelled,
}

impl QueueName {
    pub const ALL: [Self; 11] = [
        Self::Incoming,
        Self::Breakdown,
        Self::Claimed,
        Self::NeedsContinuation,
        Self::Escalated,
        Self::Provisional,
        Self::Landing,
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
            Self::Landing => "landing",
            Self::Recycled => "recycled",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Rejected => "rejected",
        }
    }
}

impl TaskStatus {
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

    /// Whether the reply box is shown.
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
            Self::Held => StateName::Held,
            Self::Breakdown { .. } => StateName::Breakdown,
            Self::Claimed { .. } => StateName::Claimed,
            Self::NeedsContinuation { .. } => StateName::NeedsContinuation,
            Self::AwaitingResponse { .. } => StateName::AwaitingResponse,
            Self::Blocked { .. } => StateName::Blocked,
            Self::Provisional(_) => StateName::Provisional,
            Self::Landing(_) => StateName::Landing,
            Self::Recycled { .. } => StateName::Recycled,
            Self::Done { .. } => StateName::Done,
            Self::Failed { .. } => StateName::Failed,
            Self::Cancelled { .. } => StateName::Cancelled,
        }
    }

    pub fn queue(&self) -> QueueName {
        match self {
            Self::Incoming | Self::Held => QueueName::Incoming,
            Self::Breakdown { .. } => QueueName::Breakdown,
            Self::Claimed { .. } | Self::Blocked { .. } => QueueName::Claimed,
            Self::NeedsContinuation { .. } => QueueName::NeedsContinuation,
            Self::AwaitingResponse { waiting } if waiting.question.kind() == QuestionKind::Escalation => {
                QueueName::Escalated
            }
            Self::AwaitingResponse { .. } => QueueName::Claimed,
            Self::Provisional(_) => QueueName::Provisional,
            Self::Landing(_) => QueueName::Landing,
            Self::Recycled { .. } => QueueName::Recycled,
            Self::Done { .. } => QueueName::Done,
            Self::Failed { .. } => QueueName::Failed,
            Self::Cancelled { .. } => QueueName::Rejected,
        }
    }

    pub const fn status(&self) -> TaskStatus {
        match self {
            Self::Incoming | Self::Held | Self::Breakdown { .. } | Self::NeedsContinuation { .. } => {
                TaskStatus::Queued
            }
            Self::Claimed { .. } | Self::Provisional(_) | Self::Landing(_) => TaskStatus::Running,
            Self::AwaitingResponse { .. } => TaskStatus::AwaitingResponse,
            Self::Blocked { .. } => TaskStatus::Blocked,
            Self::Recycled { .. } => TaskStatus::WaitingChildren,
            Self::Done { .. } => TaskStatus::Complete,
            Self::Failed { .. } => TaskStatus::Error,
            Self::Cancelled { .. } => TaskStatus::Cancelled,
        }
    }

    /// The question a human can answer now, if any.
    pub fn pending_question(&self) -> Option<&Question> {
        match self {
            Self::AwaitingResponse { waiting } => Some(&waiting.question),
            Self::Blocked { waiting } => Some(waiting.question.question()),
            Self::Incoming
            | Self::Held
            | Self::Breakdown { .. }
            | Self::Claimed { .. }
            | Self::NeedsContinuation { .. }
            | Self::Provisional(_)
            | Self::Landing(_)
            | Self::Recycled { .. }
            | Self::Done { .. }
            | Self::Failed { .. }
            | Self::Cancelled { .. } => None,
        }
    }

    /// The live attempt, if any.
    pub const fn live_attempt(&self) -> Option<&Attempt> {
        match self {
            Self::Claimed { attempt } => Some(attempt),
            Self::Incoming
            | Self::Held
            | Self::Breakdown { .. }
            | Self::NeedsContinuation { .. }
            | Self::AwaitingResponse { .. }
            | Self::Blocked { .. }
            | Self::Provisional(_)
            | Self::Landing(_)
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
            Self::Held
            | Self::Claimed { .. }
            | Self::AwaitingResponse { .. }
            | Self::Blocked { .. }
            | Self::Provisional(_)
            | Self::Landing(_)
            | Self::Recycled { .. }
            | Self::Done { .. }
            | Self::Failed { .. }
            | Self::Cancelled { .. } => false,
        }
    }
}
