//! Explanations of unintended exits: guardrails and errors. A recipe's own exits explain themselves.

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
            cause: "The steps keep sending the work to one another, or the work is too large for the recipe.",
            next: "Read what the steps reported. `guardrails: { max_total_steps: N }` in the recipe allows more; a \
                   smaller task needs fewer.",
        },
        Explanation {
            code: MAX_STEP_VISITS_EXCEEDED,
            means: "One step was entered more often than its recipe allows, and the run was stopped. The step's name \
                    follows the colon.",
            cause: "Usually a review that finds something every time, and a fix that does not resolve it.",
            next: "Read the last review and decide: retry the task after saying more, or write `guardrails: { \
                   max_step_visits: N }` in the recipe.",
        },
        Explanation {
            code: ORCHESTRATION_ERROR,
            means: "The agent reported no usable outcome for its step, even after a reminder.",
            cause: "It neither called `report_outcome` nor ended with one of the lines its prompt lists. Often its \
                    tools were not available, or its model cannot follow the format.",
            next: "Read what the agent said, and check whether the agent works.",
        },
        Explanation {
            code: ERROR,
            means: "The agent's process or its provider failed permanently.",
            cause: "The program crashed, could not be started, or was rejected by its provider in a way that waiting \
                    does not fix.",
            next: "Read its last output, check the agent, and retry the task.",
        },
        Explanation {
            code: INTERNAL_ERROR,
            means: "Baton itself could not continue the run.",
            cause: "An internal error, or a problem with a file or the store.",
            next: "The task and the output of the server say what it was. Please report it; the work is kept.",
        },
        Explanation {
            code: NO_PROMPT,
            means: "The step has no prompt.",
            cause: "The prompt of the step is blank after assembly.",
            next: "Fix the file and check it.",
        },
    ];
}
