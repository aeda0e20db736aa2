//! What can be done to a task. Each command is the input of one transition; nothing else changes a task.

use serde::{Deserialize, Serialize};

use crate::ask::answer_source::AnsweredBy;
use crate::ask::question::Draft;
use crate::base::id::{AttemptId, CycleId, QuestionId, TaskId};
use crate::base::text::{AgentName, NonBlank};
use crate::base::time::Timestamp;
use crate::people::actor::Actor;
use crate::people::owner_token::OwnerToken;
use crate::recycle::RecycleReason;
use crate::task::attempt::{AgentSession, AttemptEnd};
use crate::task::revision::Revision;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// An agent takes the task. `open_blockers` is what the store counted in the same transaction.
    Claim {
        attempt: AttemptId,
        agent: AgentName,
        open_blockers: u32,
        /// The machine it runs on, where that is known by a name.
        worker: Option<String>,
    },
    /// The attempt's agent is about to start, and may ask by the secret that `owner` is the digest of.
    Start {
        attempt: AttemptId,
        cycle: CycleId,
        owner: OwnerToken,
    },
    /// The agent named the session it works in, or it is known now that nobody can go on in it.
    NoteSession {
        attempt: AttemptId,
        session: AgentSession,
    },
    /// The agent asks the human. I6: only the owner of the open cycle may, and one question at a time.
    Ask {
        owner: OwnerToken,
        question: Draft,
    },
    /// The attempt ended; the guard decides what that means.
    Settle {
        attempt: AttemptId,
        end: AttemptEnd,
    },
    /// The attempt's process is gone or out of reach. Nobody's fault.
    ExpireLease {
        attempt: AttemptId,
    },
    Reply {
        question: QuestionId,
        answer: NonBlank,
        answered_by: AnsweredBy,
    },
    /// Nobody answers and the policy is to fail rather than to guess.
    FailClosed {
        question: QuestionId,
        reason: NonBlank,
    },
    Accept {
        force: bool,
    },
    Reject {
        reason: NonBlank,
    },
    Recycle {
        reason: RecycleReason,
    },
    /// Merging the accepted work failed.
    ReportConflict {
        detail: NonBlank,
    },
    /// A human, or a policy they set, lets an agent plan a breakdown, or work on a task that was held back.
    Release,
    /// Nobody may claim the task until it is released: somebody is deciding about it.
    Hold,
    /// A human says that the work has failed and is not to go on.
    MarkFailed {
        reason: NonBlank,
    },
    /// A human wrote the plan of a breakdown.
    SubmitPlan,
    /// The human approved the plan of a breakdown.
    ApprovePlan,
    /// The approved subtasks stand in for a recycled task.
    Replace {
        by: Vec<TaskId>,
    },
    Retry,
    Cancel {
        reason: Option<NonBlank>,
    },
    /// Somebody wants it to say something else, while nobody works on it.
    Revise {
        revision: Revision,
    },
}

/// A command without its contents; the columns of the transition table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandName {
    Claim,
    Start,
    Ask,
    Settle,
    ExpireLease,
    Reply,
    FailClosed,
    Accept,
    Reject,
    Recycle,
    ReportConflict,
    Release,
    Hold,
    MarkFailed,
    SubmitPlan,
    ApprovePlan,
    Replace,
    Retry,
    Cancel,
    NoteSession,
    Revise,
}

impl CommandName {
    pub const ALL: [Self; 21] = [
        Self::Claim,
        Self::Start,
        Self::Ask,
        Self::Settle,
        Self::ExpireLease,
        Self::Reply,
        Self::FailClosed,
        Self::Accept,
        Self::Reject,
        Self::Recycle,
        Self::ReportConflict,
        Self::Release,
        Self::Hold,
        Self::MarkFailed,
        Self::SubmitPlan,
        Self::ApprovePlan,
        Self::Replace,
        Self::Retry,
        Self::Cancel,
        Self::NoteSession,
        Self::Revise,
    ];

    /// As a person would say it; used in refusals and on diagrams.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Claim => "claim",
            Self::Start => "start",
            Self::NoteSession => "note session",
            Self::Ask => "ask",
            Self::Settle => "settle",
            Self::ExpireLease => "expire lease",
            Self::Reply => "reply",
            Self::FailClosed => "fail closed",
            Self::Accept => "accept",
            Self::Reject => "reject",
            Self::Recycle => "recycle",
            Self::ReportConflict => "report conflict",
            Self::Release => "release",
            Self::Hold => "hold",
            Self::MarkFailed => "mark failed",
            Self::SubmitPlan => "submit plan",
            Self::ApprovePlan => "approve plan",
            Self::Replace => "replace",
            Self::Retry => "retry",
            Self::Cancel => "cancel",
            Self::Revise => "revise",
        }
    }
}

impl std::fmt::Display for CommandName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Command {
    pub const fn name(&self) -> CommandName {
        match self {
            Self::Claim { .. } => CommandName::Claim,
            Self::Start { .. } => CommandName::Start,
            Self::NoteSession { .. } => CommandName::NoteSession,
            Self::Ask { .. } => CommandName::Ask,
            Self::Settle { .. } => CommandName::Settle,
            Self::ExpireLease { .. } => CommandName::ExpireLease,
            Self::Reply { .. } => CommandName::Reply,
            Self::FailClosed { .. } => CommandName::FailClosed,
            Self::Accept { .. } => CommandName::Accept,
            Self::Reject { .. } => CommandName::Reject,
            Self::Recycle { .. } => CommandName::Recycle,
            Self::ReportConflict { .. } => CommandName::ReportConflict,
            Self::Release => CommandName::Release,
            Self::Hold => CommandName::Hold,
            Self::MarkFailed { .. } => CommandName::MarkFailed,
            Self::SubmitPlan => CommandName::SubmitPlan,
            Self::ApprovePlan => CommandName::ApprovePlan,
            Self::Replace { .. } => CommandName::Replace,
            Self::Retry => CommandName::Retry,
            Self::Cancel { .. } => CommandName::Cancel,
            Self::Revise { .. } => CommandName::Revise,
        }
    }
}

/// Everything a transition may need from the world, handed in: the time, who asks, and unused ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    pub now: Timestamp,
    pub actor: Actor,
    pub fresh: Fresh,
}

/// Ids nobody has used yet. A transition that needs none leaves them unused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fresh {
    pub question: QuestionId,
    pub breakdown: TaskId,
}
