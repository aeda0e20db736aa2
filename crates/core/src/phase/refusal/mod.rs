//! Why a loop refused to move. The loop is unchanged.

pub mod explained;
use serde::Serialize;

use crate::ask::refusal::{AnswerRefusal, RefusalForm};
use crate::base::id::QuestionId;
use crate::phase::{ITERATIONS_MAX, InvalidPhaseMove, Phase};

/// Why a loop refused to move.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize)]
#[serde(into = "RefusalForm")]
pub enum LoopRefusal {
    #[error(transparent)]
    NoSuchEdge(#[from] InvalidPhaseMove),
    #[error(transparent)]
    Answer(#[from] AnswerRefusal),
    #[error("question {id} is not the gate of the {phase} phase")]
    NotTheGate { id: QuestionId, phase: Phase },
    #[error("these are not the results of the {phase} phase")]
    WrongResults { phase: Phase },
    #[error("the next cycle must have an id and an owner of its own, and one of them was used before")]
    NotFresh,
    #[error("the loop has had its {ITERATIONS_MAX} iterations")]
    IterationLimit,
}

impl LoopRefusal {
    pub const fn code(&self) -> &'static str {
        self.explained().code
    }

    pub fn next(&self) -> String {
        match self {
            Self::NoSuchEdge(_) => "Look at the phase the loop is in, and choose what it allows.".to_owned(),
            Self::Answer(refusal) => refusal.next(),
            Self::NotTheGate { .. } => "Answer it as an ordinary question.".to_owned(),
            Self::WrongResults { .. } => "Answer the gate with the results of the phase it ends.".to_owned(),
            Self::NotFresh => "Make a new cycle id and a new secret for the next phase.".to_owned(),
            Self::IterationLimit => "Answer NO to see the summary, then start a new loop.".to_owned(),
        }
    }
}

impl From<LoopRefusal> for RefusalForm {
    fn from(refusal: LoopRefusal) -> Self {
        Self { code: refusal.code(), message: refusal.to_string(), next: refusal.next() }
    }
}
