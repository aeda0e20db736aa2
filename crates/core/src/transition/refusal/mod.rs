//! Why a command was refused. A refusal changes nothing and says what to do instead.

pub mod explained;
use serde::Serialize;

use crate::ask::refusal::AskRefusal;
use crate::base::id::{AttemptId, QuestionId, TaskId};
use crate::task::state::StateName;
use crate::transition::command::CommandName;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum CommandRefusal {
    #[error("{task} is {}: {} is not possible in this state", state.described(), command.asked_for())]
    WrongState { task: TaskId, state: StateName, command: CommandName },
    /// I16: the result of an attempt that is no longer current is discarded.
    #[error("{attempt} is not the current attempt of {task}; what it sends is discarded")]
    Stale { task: TaskId, attempt: AttemptId, current: Option<AttemptId> },
    #[error("{task} still waits on {open_blockers} task(s)")]
    WaitingOn { task: TaskId, open_blockers: u32 },
    #[error("{task} is held and has not been released to an agent")]
    NotReleased { task: TaskId },
    #[error("{task} is the human's to split; no agent plans it")]
    SplitByHand { task: TaskId },
    #[error("{asked} is not the question {task} waits on; that is {pending}")]
    OtherQuestion { task: TaskId, asked: QuestionId, pending: QuestionId },
    #[error("only a human may answer {question}")]
    HumanOnly { question: QuestionId },
    #[error("{limit} automatic answers in a row were given, so {question} waits for a human")]
    AutomationStopped { question: QuestionId, limit: u32 },
    #[error("{question} is no longer pending")]
    NotPending { question: QuestionId },
    /// I6: refused, never queued.
    #[error("an agent of {task} may not ask: {refusal}")]
    MayNotAsk { task: TaskId, refusal: AskRefusal },
    #[error("\"{answer}\" does not answer {question}; the choices are {choices}")]
    UnreadableChoice { question: QuestionId, answer: String, choices: String },
    #[error(
        "{task} used up its attempts or turns with too little to show; it is not accepted unless a human forces it"
    )]
    TooLarge { task: TaskId },
    #[error("{task} needs a closer look: {reasons}")]
    NeedsReview { task: TaskId, reasons: String },
    #[error("a human has to look at {task} before it is accepted")]
    NeedsHuman { task: TaskId },
    #[error("only a human or a policy they set may do this to {task}")]
    NotYours { task: TaskId },
    #[error("{task} is {state}: no agent will read a message to it")]
    NoReader { task: TaskId, state: StateName },
    #[error("{task} is a plan: it is approved or rejected, not accepted or recycled")]
    IsPlan { task: TaskId },
    #[error("{task} has been worked on, and what it waited for stands")]
    HasBegun { task: TaskId },
    #[error("{task} is not a breakdown")]
    NotBreakdown { task: TaskId },
    #[error("{task} shows no sign of being too large; a human may recycle it all the same")]
    NotTooLarge { task: TaskId },
    #[error("{task} can only be replaced by at least one task other than itself")]
    BadReplacement { task: TaskId },
}

impl CommandRefusal {
    /// What to do instead.
    pub fn next(&self) -> String {
        match self {
            Self::WrongState { .. } => "see what it allows now",
            Self::Stale { .. } => "its work is kept",
            Self::WaitingOn { .. } => "see what it waits on",
            Self::NotReleased { .. } => "release it",
            Self::SplitByHand { .. } => "write its plan",
            Self::OtherQuestion { .. } => "answer the pending one",
            Self::HumanOnly { .. } | Self::AutomationStopped { .. } => "answer it yourself",
            Self::NotPending { .. } => "see the open questions",
            Self::MayNotAsk { refusal, .. } => return refusal.next(),
            Self::UnreadableChoice { choices, .. } => return format!("answer it with one of {choices}"),
            Self::TooLarge { .. } => "recycle it, or accept it with force",
            Self::NeedsReview { .. } => "look at it, then reject it or accept it with force",
            Self::NeedsHuman { .. } => "look at it and accept it yourself",
            Self::NotYours { .. } => "leave it to a person",
            Self::NoReader { .. } => "add a task for what is left to do",
            Self::IsPlan { .. } => "approve or reject the plan",
            Self::HasBegun { .. } => "cancel it, and add it again with the dependency",
            Self::NotBreakdown { .. } => "see the breakdowns",
            Self::NotTooLarge { .. } => "recycle it yourself",
            Self::BadReplacement { .. } => "give the plan at least one item",
        }
        .to_owned()
    }
}
