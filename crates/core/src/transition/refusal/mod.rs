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
    #[error("{task} is {state}: {command} is not possible in this state")]
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
    #[error("a human has to look at {task} before it is accepted")]
    NeedsHuman { task: TaskId },
    #[error("only a human or a policy they set may do this to {task}")]
    NotYours { task: TaskId },
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
    /// What to do instead, as a command if there is one.
    pub fn hint(&self) -> String {
        match self {
            Self::WrongState { task, .. } => format!("see what it allows now: baton task show {task}"),
            Self::Stale { task, .. } => format!("its work is kept; see baton task show {task}"),
            Self::WaitingOn { task, .. } => format!("see what it waits on: baton task show {task}"),
            Self::NotReleased { task } => {
                format!("release it: baton breakdown run {task}, or say YES to it in baton loop")
            }
            Self::SplitByHand { task } => format!("write its plan: baton breakdown edit {task}"),
            Self::OtherQuestion { pending, .. } => {
                format!("answer the pending one: baton answer {pending} TEXT")
            }
            Self::HumanOnly { question } => format!("answer it yourself: baton answer {question} TEXT"),
            Self::AutomationStopped { question, .. } => {
                format!("answer it yourself: baton answer {question} TEXT")
            }
            Self::NotPending { .. } => "see the open questions: baton questions".to_owned(),
            Self::MayNotAsk { refusal, .. } => refusal.next(),
            Self::UnreadableChoice { question, choices, .. } => {
                format!("baton answer {question} with one of {choices}")
            }
            Self::TooLarge { task } => format!("baton recycle {task}, or baton accept {task} --force"),
            Self::NeedsHuman { task } => format!("look at it and accept it yourself: baton accept {task}"),
            Self::NotYours { task } => format!("see baton task show {task}"),
            Self::IsPlan { task } => {
                format!("baton breakdown approve {task}, or baton breakdown reject {task}")
            }
            Self::HasBegun { .. } => "cancel it, and add it again with --after".to_owned(),
            Self::NotBreakdown { .. } => "see the breakdowns: baton breakdown list".to_owned(),
            Self::NotTooLarge { task } => format!("baton recycle {task}, as a human"),
            Self::BadReplacement { .. } => "give the plan at least one item".to_owned(),
        }
    }
}
