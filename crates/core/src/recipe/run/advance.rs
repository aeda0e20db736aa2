//! What a run answers: the next thing to do, or why it did not move.

use serde::{Deserialize, Serialize};

use crate::base::text::{NonBlank, RecipeId, StepName};
use crate::recipe::exit_reason::ExitReason;

/// What to do next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Advance {
    EnterStep {
        from: StepName,
        to: StepName,
        fresh: bool,
    },
    AskGate {
        question: NonBlank,
    },
    /// The human said NO and the gate has no outcome for it: the agent goes on in the same step.
    StayInPhase,
    /// Ask the agent once more. `error` is for people, `text` for the agent.
    Remind {
        error: String,
        text: String,
    },
    /// Enter the initial step with a new agent session.
    Restart {
        from: StepName,
        to: StepName,
    },
    Exit {
        reason: ExitReason,
    },
}

/// The human's answer to a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateAnswer {
    Yes,
    No,
}

/// What a run that was read back wants done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resume {
    /// Send this step's prompt again, in the agent session it had where that can be resumed.
    Dispatch {
        step: StepName,
    },
    /// The gate's question stands; wait for its answer.
    AwaitGate {
        question: NonBlank,
    },
    /// Settle its task by this reason, and exit.
    Settle {
        reason: ExitReason,
    },
    Nothing,
}

/// Why a run did not move.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum RunRefusal {
    #[error("the run has ended ({reason}); start a new one")]
    Exited { reason: ExitReason },
    #[error("the run waits for the answer to \"{question}\"; answer it or exit the recipe")]
    AwaitsGate { question: NonBlank },
    #[error("the run waits at no gate; its step \"{step}\" is still at work")]
    NotAtGate { step: StepName },
    #[error("the run belongs to the recipe {wanted}, not to {given}")]
    OtherRecipe { wanted: RecipeId, given: RecipeId },
    /// The recipe was changed under the run.
    #[error(
        "the recipe no longer has the step \"{step}\" as the run knows it; exit the recipe and start again"
    )]
    StepChanged { step: StepName },
}
