//! Explanations of loop refusals.

use crate::base::explanation::Explanation;
use crate::explained;
use crate::phase::refusal::LoopRefusal;

explained! { LoopRefusal {
    Self::NoSuchEdge(_) => Explanation {
        code: "no_such_edge",
        means: "The loop cannot go from its current phase to the requested one.",
        cause: "The edges between hub, plan, execute and review are fixed: no phase is skipped, and only review leads \
                back to plan.",
        next: "See which phase may follow which.",
    },
    Self::NotTheGate { .. } => Explanation {
        code: "not_the_gate",
        means: "The question that was answered as a gate is not the gate of this phase.",
        cause: "It is an ordinary question of the phase, or the gate of one that is over.",
        next: "Answer it as an ordinary question.",
    },
    Self::WrongResults { .. } => Explanation {
        code: "wrong_results",
        means: "A gate was answered with the results of another phase.",
        cause: "The client that drives the loop mixed up two phases. This is a bug, not a mistake in your answer.",
        next: "Check the current question, answer again, and report it if it happens again.",
    },
    Self::NotFresh => Explanation {
        code: "not_fresh",
        means: "The next phase would have started with an id or a secret of an earlier one.",
        cause: "Nothing said in one phase may reach the next, so each has its own. This is a bug.",
        next: "Try again, and report it if it happens again.",
    },
    Self::IterationLimit => Explanation {
        code: "iteration_limit",
        means: "The loop has reached its maximum number of iterations.",
        cause: "\"Continue loop?\" was answered with YES that many times.",
        next: "Answer NO to see the summary, then start a new loop.",
    },
} else {
    Self::Answer(refusal) => refusal.explained(),
} }
