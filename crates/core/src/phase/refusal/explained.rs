//! Why a loop does not move, explained.

use crate::base::explanation::Explanation;
use crate::explained;
use crate::phase::refusal::LoopRefusal;

explained! { LoopRefusal {
    Self::NoSuchEdge(_) => Explanation {
        code: "no_such_edge",
        means: "The loop cannot go from the phase it is in to the one that was asked for.",
        cause: "The ways between hub, plan, execute and review are fixed: no phase is skipped, and only review leads \
                back to plan.",
        next: "`baton explain phases` shows the ways there are.",
    },
    Self::NotTheGate { .. } => Explanation {
        code: "not_the_gate",
        means: "The question that was answered as a gate is not the gate of this phase.",
        cause: "It is an ordinary question of the phase, or the gate of one that is over.",
        next: "Answer it as what it is: `baton answer QUESTION TEXT`.",
    },
    Self::WrongResults { .. } => Explanation {
        code: "wrong_results",
        means: "A gate was answered with the results of another phase.",
        cause: "Whoever drives the loop mixed two phases up. This is a mistake in a program, not in your answer.",
        next: "Read where the loop stands (`baton questions`), answer again, and report it if it comes back.",
    },
    Self::NotFresh => Explanation {
        code: "not_fresh",
        means: "The next phase was to begin with an id or a secret that an earlier one had.",
        cause: "What was said in one phase must not reach the next, so each has its own. This is a mistake in a program.",
        next: "Try again, and report it if it comes back.",
    },
    Self::IterationLimit => Explanation {
        code: "iteration_limit",
        means: "The loop has gone round as often as one may.",
        cause: "\"Continue loop?\" was answered with YES that many times.",
        next: "Answer NO to see the summary, then start a new one: `baton loop`.",
    },
} else {
    Self::Answer(refusal) => refusal.explained(),
} }
