//! The exits a person did not wish for, explained: guardrails and errors. A recipe's own ends explain themselves.

use crate::base::explanation::Explanation;
use crate::recipe::exit_reason::{
    ERROR, ExitReason, INTERNAL_ERROR, MAX_STEP_VISITS_EXCEEDED, MAX_TOTAL_STEPS, NO_PROMPT,
    ORCHESTRATION_ERROR,
};

impl ExitReason {
    pub const EXPLAINED: [Explanation; 6] = [
        Explanation {
            code: MAX_TOTAL_STEPS,
            means: "The run took as many steps as its recipe allows, and was stopped.",
            cause: "Steps send the work to one another without coming to an end, or the work is larger than the recipe \
                    was made for.",
            next: "Read what the steps reported (`baton task show TASK`). `guardrails: { max_total_steps: N }` in the \
                   recipe allows more; a smaller task needs fewer.",
        },
        Explanation {
            code: MAX_STEP_VISITS_EXCEEDED,
            means: "One step was entered more often than its recipe allows, and the run was stopped. The step's name \
                    stands behind the colon.",
            cause: "Usually a review that finds something every time, and a fix that does not mend it.",
            next: "Read the last review (`baton task log TASK`) and decide: `baton task retry TASK` after saying more, \
                   or `guardrails: { max_step_visits: N }` in the recipe.",
        },
        Explanation {
            code: ORCHESTRATION_ERROR,
            means: "The agent did not say in a usable way how its step ended, also after it was reminded.",
            cause: "It neither called `report_outcome` nor ended with one of the lines its prompt lists. Often its \
                    tools did not reach it, or its model is too weak for the format.",
            next: "`baton task log TASK` shows what it said; `baton doctor` says whether the agent works.",
        },
        Explanation {
            code: ERROR,
            means: "The agent's process or its provider failed for good.",
            cause: "The program crashed, could not be started, or was refused by its provider in a way that waiting \
                    does not mend.",
            next: "`baton task log TASK` has its last words, `baton doctor` looks at the agent, `baton task retry TASK` \
                   tries again.",
        },
        Explanation {
            code: INTERNAL_ERROR,
            means: "Baton itself could not go on with the run.",
            cause: "Something that cannot happen did, or a file or the store was in the way.",
            next: "`baton task show TASK` and the output of `baton up` say what it was. Please report it; the work is \
                   kept.",
        },
        Explanation {
            code: NO_PROMPT,
            means: "The step has nothing to say to its agent.",
            cause: "The recipe's prompt for the step is blank once it is put together.",
            next: "Mend the file and look at it: `baton recipe check`.",
        },
    ];
}
