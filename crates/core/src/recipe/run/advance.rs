//! What a run returns: the next action, or why it did not move.

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
    /// The human said NO and the gate has no outcome for it: the agent continues in the same step.
    StayInPhase,
    /// Ask the agent again. `error` is for people, `text` for the agent.
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

/// What to do with a run that was loaded from the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunResume {
    /// Send this step's prompt again, in the same agent session if it can be resumed.
    Dispatch {
        step: StepName,
    },
    /// The gate's question is pending; wait for its answer.
    AwaitGate {
        question: NonBlank,
    },
    /// Settle its task with this reason, then exit.
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
    #[error("the run is not at a gate; its step \"{step}\" is still running")]
    NotAtGate { step: StepName },
    #[error("the run belongs to recipe {wanted}, not {given}")]
    OtherRecipe { wanted: RecipeId, given: RecipeId },
    /// The recipe changed during the run.
    #[error(
        "the recipe no longer has the step \"{step}\" as the run knows it; exit the recipe and start again"
    )]
    StepChanged { step: StepName },
}
