//! Why a run did not move, explained.

use crate::base::explanation::Explanation;
use crate::explained;
use crate::recipe::run::RunRefusal;

explained! { RunRefusal {
    Self::Exited { .. } => Explanation {
        code: "exited",
        means: "The run has come to its end already.",
        cause: "It exited, or somebody ended it, before this came.",
        next: "Start a new one: `baton recipe start RECIPE`.",
    },
    Self::AwaitsGate { .. } => Explanation {
        code: "awaits_gate",
        means: "The run waits for your answer to its gate, and does nothing else until then.",
        cause: "Its step ended with a question that only a person decides.",
        next: "Answer it (`baton questions`), or end the run: `baton recipe exit`.",
    },
    Self::NotAtGate { .. } => Explanation {
        code: "not_at_gate",
        means: "A gate was answered, but the run is at none: its step is still at work.",
        cause: "The answer came twice, or for an earlier visit of the step.",
        next: "Wait for the question; `baton questions` shows it when it comes.",
    },
    Self::OtherRecipe { .. } => Explanation {
        code: "other_recipe",
        means: "The run belongs to another recipe than the one it was to be moved with.",
        cause: "A recipe file was given another id while the run was under way.",
        next: "Give the file its old id back, or end the run: `baton recipe exit`.",
    },
    Self::StepChanged { .. } => Explanation {
        code: "step_changed",
        means: "The recipe no longer has the step the run is in, or not as the run knows it.",
        cause: "The recipe file was changed while the run was under way.",
        next: "End it and start again: `baton recipe exit`, then `baton recipe start RECIPE`.",
    },
} }
