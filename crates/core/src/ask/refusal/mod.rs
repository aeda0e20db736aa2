//! Why a question or an answer was refused.
//!
//! A refusal has a stable code to branch on and says what to do next. Nothing refused is kept: the state is
//! unchanged.

pub mod explained;
use serde::Serialize;

use crate::ask::choice::UnreadableAnswer;
use crate::base::id::{CycleId, QuestionId};

/// The wire form of every refusal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RefusalForm {
    pub code: &'static str,
    pub message: String,
    /// What to do next.
    pub next: String,
}

/// Why an agent may not ask this now. I6: refused, never queued.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize)]
#[serde(into = "RefusalForm")]
pub enum AskRefusal {
    /// Checked first, so that a stranger learns nothing about the cycle.
    #[error("this agent does not own the open ask cycle")]
    NotOwner,
    #[error("no phase is running, so no agent may ask")]
    NoCycle,
    #[error("ask cycle {cycle} is closed")]
    CycleClosed { cycle: CycleId },
    #[error("the gate of ask cycle {cycle} was passed, and a gate is the last question of its cycle")]
    GatePassed { cycle: CycleId },
    #[error("question {pending} is still pending, and a cycle has at most one pending question")]
    QuestionPending { pending: QuestionId },
    #[error("this cycle has asked its {limit} questions")]
    LimitReached { limit: u32 },
    #[error("the id {id} was already used in this cycle")]
    IdTaken { id: QuestionId },
}

impl AskRefusal {
    pub const fn code(&self) -> &'static str {
        self.explained().code
    }

    pub fn next(&self) -> String {
        match self {
            Self::NotOwner => {
                "Do not ask. Give what you need to know to the agent that started you, or end your turn."
            }
            Self::NoCycle => "Start a phase from the hub first.",
            Self::CycleClosed { .. } => "You may no longer ask. Report your outcome and end your turn.",
            Self::GatePassed { .. } => "The next phase has taken over. End your turn without asking.",
            Self::QuestionPending { .. } => {
                "Wait for that answer, or end your turn: you are resumed with it. Then ask again."
            }
            Self::LimitReached { .. } => {
                "Continue with what you know, note your assumptions, and ask the gate when you are done."
            }
            Self::IdTaken { .. } => "Ask again under a new id.",
        }
        .to_owned()
    }
}

impl From<AskRefusal> for RefusalForm {
    fn from(refusal: AskRefusal) -> Self {
        Self { code: refusal.code(), message: refusal.to_string(), next: refusal.next() }
    }
}

/// Why an answer was not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize)]
#[serde(into = "RefusalForm")]
pub enum AnswerRefusal {
    #[error("question {id} is already answered")]
    AlreadyAnswered { id: QuestionId },
    #[error("question {id} was withdrawn when its phase ended")]
    Withdrawn { id: QuestionId },
    #[error("unknown question {id}")]
    UnknownQuestion { id: QuestionId },
    #[error("only a human may answer question {id}")]
    HumanOnly { id: QuestionId },
    #[error("{limit} automatic answers in a row were given, so question {id} waits for a human")]
    AutomationStopped { id: QuestionId, limit: u32 },
    #[error("invalid answer to question {id}: {why}")]
    Unreadable { id: QuestionId, why: UnreadableAnswer },
    /// The answer to a gate must carry the phase's results, and this path has no place for them.
    #[error("question {id} is the phase's gate, and its answer hands the phase's results on")]
    IsGate { id: QuestionId },
}

impl AnswerRefusal {
    pub const fn code(&self) -> &'static str {
        self.explained().code
    }

    pub fn next(&self) -> String {
        match self {
            Self::AlreadyAnswered { .. } => "The first answer counts. Check the pending questions.",
            Self::Withdrawn { .. } => "No answer is needed any more. Check the pending questions.",
            Self::UnknownQuestion { .. } => "Check the id against the pending questions.",
            Self::HumanOnly { .. } | Self::AutomationStopped { .. } => "Answer it in person.",
            Self::Unreadable { .. } => "Answer with one of the offered words.",
            Self::IsGate { .. } => "Answer it as the gate, with the results of the phase.",
        }
        .to_owned()
    }
}

impl From<AnswerRefusal> for RefusalForm {
    fn from(refusal: AnswerRefusal) -> Self {
        Self { code: refusal.code(), message: refusal.to_string(), next: refusal.next() }
    }
}
