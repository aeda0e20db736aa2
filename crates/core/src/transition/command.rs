//! The commands on a task. Each is the input of one transition; nothing else changes a task.

use serde::{Deserialize, Serialize};

use crate::ask::answer_source::AnsweredBy;
use crate::ask::question::QuestionDraft;
use crate::base::git_name::CommitId;
use crate::base::id::{AttemptId, CycleId, QuestionId, TaskId};
use crate::base::text::{AgentName, NonBlank};
use crate::base::time::Timestamp;
use crate::landing::evidence::LandingEvidence;
use crate::landing::verified::VerifiedCommand;
use crate::people::actor::Actor;
use crate::people::owner_token::OwnerToken;
use crate::recycle::RecycleReason;
use crate::task::attempt::{AgentSession, AttemptEnd};
use crate::task::not_landed::NotLanded;
use crate::task::revision::Revision;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// An agent takes the task. `open_blockers` was counted by the store in the same transaction.
    Claim {
        attempt: AttemptId,
        agent: AgentName,
        open_blockers: u32,
        /// The worker it runs on, if named.
        worker: Option<String>,
    },
    /// The attempt's agent is about to start, and may ask with the secret whose digest is `owner`.
    Start {
        attempt: AttemptId,
        cycle: CycleId,
        owner: OwnerToken,
    },
    /// The agent reported its session, or the session turned out not to be resumable.
    NoteSession {
        attempt: AttemptId,
        session: AgentSession,
    },
    /// The agent asks the human. I6: only the owner of the open cycle may, one question at a time.
    Ask {
        owner: OwnerToken,
        question: QuestionDraft,
    },
    /// The attempt ended; the guard judges it.
    Settle {
        attempt: AttemptId,
        end: AttemptEnd,
    },
    /// The attempt's process is gone or unreachable. Nobody's fault.
    ExpireLease {
        attempt: AttemptId,
    },
    Reply {
        question: QuestionId,
        answer: NonBlank,
        answered_by: AnsweredBy,
    },
    /// Nobody answers, and the policy is to fail rather than guess.
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
    /// Accepts the work like [`Command::Accept`]; the checks on its branch decide whether it lands. Forced, it is accepted
    /// although it needs a closer look.
    EnterLane {
        force: bool,
    },
    /// The branch stands at a commit that has the work and passed the checks (I18).
    Land {
        commit: CommitId,
        /// The commands that verify it, before and after.
        verified: Vec<VerifiedCommand>,
        /// The run of the checks that this rests on.
        evidence: Option<Box<LandingEvidence>>,
    },
    /// A person merges the work although the checks have not passed (I18). `commit` is where the branch stands now.
    ForceLand {
        commit: Option<CommitId>,
        /// The withdrawn commits that come in with it, each with its subject.
        withdrawn: Vec<String>,
    },
    /// The work stays in its lane: its branch fails the checks without it.
    DelayLanding {
        reason: Box<NotLanded>,
    },
    /// The work could not land.
    SendBack {
        reason: Box<NotLanded>,
    },
    /// A human, or a policy they set, lets an agent plan a breakdown or work on a held task.
    Release,
    /// Nobody may claim the task until it is released (I22): somebody is deciding about it, or has stopped it. A running
    /// agent is stopped, a pending question withdrawn.
    Hold {
        reason: NonBlank,
    },
    /// A human says the work has failed and should stop.
    MarkFailed {
        reason: NonBlank,
    },
    /// A human wrote the plan of a breakdown.
    SubmitPlan,
    /// The human approved the plan of a breakdown.
    ApprovePlan,
    /// The approved subtasks replace a recycled task.
    Replace {
        by: Vec<TaskId>,
    },
    Retry,
    Cancel {
        reason: Option<NonBlank>,
    },
    /// Changes the specification while nobody works on the task.
    Revise {
        revision: Revision,
    },
    /// A person says something to the task's agent: the message of this number in the task's session.
    AddMessage {
        number: u32,
        text: NonBlank,
    },
    /// A person works on the task in the place of its agent, which is ended: at once, or when no tool of it runs.
    TakeOver {
        at_once: bool,
    },
    /// The person who took it over hands it back, to be continued or, if it is done, to be judged.
    HandBack {
        is_done: bool,
    },
    /// A person ends the run that waits for an answer: nobody answers any more, and the next claim settles the work as it
    /// is, without an agent.
    LeaveRun,
    /// The attempt's agent got the messages up to this number.
    NoteDelivery {
        attempt: AttemptId,
        number: u32,
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
    EnterLane,
    Land,
    ForceLand,
    DelayLanding,
    SendBack,
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
    AddMessage,
    NoteDelivery,
    TakeOver,
    HandBack,
    LeaveRun,
}

impl CommandName {
    pub const ALL: [Self; 31] = [
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
        Self::EnterLane,
        Self::Land,
        Self::ForceLand,
        Self::DelayLanding,
        Self::SendBack,
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
        Self::AddMessage,
        Self::NoteDelivery,
        Self::TakeOver,
        Self::HandBack,
        Self::LeaveRun,
    ];

    /// As a person would say it; used in refusals and diagrams.
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
            Self::EnterLane => "enter lane",
            Self::Land => "land",
            Self::ForceLand => "force",
            Self::DelayLanding => "delay landing",
            Self::SendBack => "send back",
            Self::Release => "release",
            Self::Hold => "hold",
            Self::MarkFailed => "mark failed",
            Self::SubmitPlan => "submit plan",
            Self::ApprovePlan => "approve plan",
            Self::Replace => "replace",
            Self::Retry => "retry",
            Self::Cancel => "cancel",
            Self::Revise => "revise",
            Self::AddMessage => "add message",
            Self::NoteDelivery => "note delivery",
            Self::TakeOver => "take over",
            Self::HandBack => "hand back",
            Self::LeaveRun => "leave run",
        }
    }
}

impl CommandName {
    /// What a person calls it who asked for it.
    pub const fn asked_for(self) -> &'static str {
        match self {
            Self::EnterLane => "accept",
            Self::HandBack => "give",
            Self::TakeOver => "take",
            other => other.as_str(),
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
            Self::EnterLane { .. } => CommandName::EnterLane,
            Self::Land { .. } => CommandName::Land,
            Self::ForceLand { .. } => CommandName::ForceLand,
            Self::DelayLanding { .. } => CommandName::DelayLanding,
            Self::SendBack { .. } => CommandName::SendBack,
            Self::Release => CommandName::Release,
            Self::Hold { .. } => CommandName::Hold,
            Self::MarkFailed { .. } => CommandName::MarkFailed,
            Self::SubmitPlan => CommandName::SubmitPlan,
            Self::ApprovePlan => CommandName::ApprovePlan,
            Self::Replace { .. } => CommandName::Replace,
            Self::Retry => CommandName::Retry,
            Self::Cancel { .. } => CommandName::Cancel,
            Self::Revise { .. } => CommandName::Revise,
            Self::AddMessage { .. } => CommandName::AddMessage,
            Self::NoteDelivery { .. } => CommandName::NoteDelivery,
            Self::TakeOver { .. } => CommandName::TakeOver,
            Self::HandBack { .. } => CommandName::HandBack,
            Self::LeaveRun => CommandName::LeaveRun,
        }
    }
}

/// Everything a transition needs from outside: the time, the actor, and unused ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandContext {
    pub now: Timestamp,
    pub actor: Actor,
    pub fresh: FreshIds,
}

/// Ids that are not in use. A transition may leave them unused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreshIds {
    pub question: QuestionId,
    pub breakdown: TaskId,
}
