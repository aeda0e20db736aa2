//! Explanations of run refusals.

use crate::base::explanation::Explanation;
use crate::explained;
use crate::recipe::run::RunRefusal;

explained! { RunRefusal {
    Self::Exited { .. } => Explanation {
        code: "exited",
        means: "The run has already ended.",
        cause: "It exited, or somebody ended it, before the command arrived.",
        next: "Start a new one.",
    },
    Self::AwaitsGate { .. } => Explanation {
        code: "awaits_gate",
        means: "The run waits for your answer to its gate.",
        cause: "Its step ended with a question that only a person decides.",
        next: "Answer its question, or end the run.",
    },
    Self::NotAtGate { .. } => Explanation {
        code: "not_at_gate",
        means: "A gate was answered, but the run is not at a gate: its step is still running.",
        cause: "The answer was sent twice, or was for an earlier visit of the step.",
        next: "Wait for the question.",
    },
    Self::OtherRecipe { .. } => Explanation {
        code: "other_recipe",
        means: "The run belongs to a different recipe.",
        cause: "The id in the recipe file was changed during the run.",
        next: "Restore the old id, or end the run.",
    },
    Self::StepChanged { .. } => Explanation {
        code: "step_changed",
        means: "The recipe no longer has the current step of the run, or the step has changed.",
        cause: "The recipe file was changed during the run.",
        next: "End the run and start again.",
    },
} }
