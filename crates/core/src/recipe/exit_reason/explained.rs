//! Explanations of every exit reason that Baton or a built-in recipe uses.

use crate::base::explanation::Explanation;
use crate::recipe::exit_reason::{
    ERROR, ExitReason, INTERNAL_ERROR, MAX_STEP_VISITS_EXCEEDED, MAX_TOTAL_STEPS, NO_PROMPT,
    NO_TASKS_AVAILABLE, ORCHESTRATION_ERROR, UNANSWERED, USER_REQUESTED,
};

impl ExitReason {
    pub const EXPLAINED: [Explanation; 27] = [
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
        Explanation {
            code: "task-committed",
            means: "The task was implemented, reviewed and committed.",
            cause: "The last step of the recipe reported its commit.",
            next: "Look at the change and accept it.",
        },
        Explanation {
            code: "design-committed",
            means: "The design document was written and committed.",
            cause: "The last step of the recipe reported its commit.",
            next: "Read the document and accept it.",
        },
        Explanation {
            code: "tasks-committed",
            means: "The implementation tasks were created and committed.",
            cause: "The last step of the recipe reported its commit.",
            next: "Read the tasks; those that are ready can be started.",
        },
        Explanation {
            code: "no-changes-to-commit",
            means: "The run ended without a change.",
            cause: "When it was to be committed, nothing differed from the branch it started from.",
            next: "Read what the agent said. If something is missing, say so and retry the task.",
        },
        Explanation {
            code: "clarification-needed",
            means: "The agent could not continue without an answer.",
            cause: "Something in the task or the document is open, and the agent did not guess.",
            next: "Answer the question that the task asks.",
        },
        Explanation {
            code: "implementation-blocked",
            means: "The agent could not implement the task.",
            cause: "It needs a decision, an access or a tool that it does not have.",
            next: "Answer the question that the task asks; the recipe then continues.",
        },
        Explanation {
            code: "no-design-document-found",
            means: "The design document that the step needs does not exist.",
            cause: "The task names none, or the file is not in the repository.",
            next: "Write it, or name it in the task, and start the recipe again.",
        },
        Explanation {
            code: NO_TASKS_AVAILABLE,
            means: "There was no ready task to work on. This is a normal end.",
            cause: "The queue is empty, or every task in it waits, is held or is being worked on.",
            next: "Add a task, or look at what the others wait for.",
        },
        Explanation {
            code: "user-provided-other",
            means: "The agent ended a step with an outcome that the recipe does not list, and explained it.",
            cause: "Something happened that the recipe has no way for.",
            next: "Read the agent's explanation, which is part of the task, and decide.",
        },
        Explanation {
            code: "work-complete",
            means: "The agent says that the task is done.",
            cause: "It is the usual end of a task without a recipe of its own.",
            next: "Look at the change and accept it.",
        },
        Explanation {
            code: "no-changes-needed",
            means: "The agent found nothing to change.",
            cause: "What the task asks for exists already, as the agent explains.",
            next: "Accept its explanation, or reject it and say what is missing.",
        },
        Explanation {
            code: "changes-committed",
            means: "The changes were reviewed and committed.",
            cause: "The last step of the recipe reported its commit.",
            next: "Look at the change and accept it.",
        },
        Explanation {
            code: "design-refined",
            means: "The design document was refined and committed.",
            cause: "The last step of the recipe reported its commit.",
            next: "Read the document and accept it.",
        },
        Explanation {
            code: "rebase-complete",
            means: "The branch was rebased.",
            cause: "The last step of the recipe reported it.",
            next: "Look at the branch and accept it.",
        },
        Explanation {
            code: "rebase-conflict",
            means: "The rebase stopped at conflicts.",
            cause: "Both sides changed the same lines in ways that the agent could not combine.",
            next: "Decide what should remain, and retry the task with that.",
        },
        Explanation {
            code: "merge-complete",
            means: "The branch was merged.",
            cause: "The last step of the recipe reported it.",
            next: "Look at the result and accept it.",
        },
        Explanation {
            code: "merge-conflict",
            means: "The merge stopped at conflicts.",
            cause: "Both sides changed the same lines in ways that the agent could not combine.",
            next: "Decide what should remain, and retry the task with that.",
        },
        Explanation {
            code: "retrospective-complete",
            means: "The retrospective was written.",
            cause: "The last step of the recipe reported it.",
            next: "Read it in the output of the task.",
        },
        Explanation {
            code: "loop-complete",
            means: "The Plan, Execute and Review loop ended.",
            cause: "You answered NO to the question whether to continue.",
            next: "Its summary lists what was done; start a new loop for more.",
        },
        Explanation {
            code: USER_REQUESTED,
            means: "A person stopped the run.",
            cause: "It was stopped by a command, on a page, or by cancelling its task.",
            next: "What it worked on is held until you release it.",
        },
        Explanation {
            code: UNANSWERED,
            means: "The run was stopped because nobody answered a question.",
            cause: "The policy for unattended questions is to stop.",
            next: "Answer it yourself the next time, or choose another policy. What the run worked on is held until you release it.",
        },
    ];
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_named_reason_is_explained_once() {
        let explained: Vec<&str> = ExitReason::EXPLAINED.iter().map(|one| one.code).collect();
        let named: BTreeSet<&str> = ExitReason::named().collect();
        assert_eq!(explained.iter().copied().collect::<BTreeSet<_>>(), named);
        assert_eq!(explained.len(), named.len(), "none twice");
    }
}
