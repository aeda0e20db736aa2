//! The faults of recipe files, explained. `baton recipe check` names each with file, line and column.

use crate::base::explanation::Explanation;
use crate::explained;
use crate::recipe::FaultKind;

explained! { FaultKind {
    Self::UnknownKey => Explanation {
        code: "unknown_key",
        means: "The file has a key that recipes do not have.",
        cause: "Usually a slip of the pen; the nearest known key is named.",
        next: "Correct or remove it. `baton recipe schema` gives your editor all keys.",
    },
    Self::Missing => Explanation {
        code: "missing",
        means: "A key that every recipe, or every step, must have is not there.",
        cause: "A recipe needs id, label, description, initial_step and steps; a step needs prompt, outcomes and \
                on_outcome.",
        next: "Add it, then look again: `baton recipe check`.",
    },
    Self::Blank => Explanation {
        code: "blank",
        means: "A text is empty or only white space.",
        cause: "Somebody has to be able to read it: a label, a prompt, a question.",
        next: "Write at least one visible character.",
    },
    Self::TooLong => Explanation {
        code: "too_long",
        means: "A text is longer than its place allows.",
        cause: "Names, texts and prompts have limits, so that pages and prompts stay readable.",
        next: "Shorten it; a long explanation can live in a file of the repository that the prompt names.",
    },
    Self::TooMany => Explanation {
        code: "too_many",
        means: "There are more steps or outcomes than a recipe may have.",
        cause: "A limit keeps recipes small enough to be drawn and understood.",
        next: "Split it into several recipes.",
    },
    Self::WrongShape => Explanation {
        code: "wrong_shape",
        means: "A list stands where a text should, a text where a number should, or the like.",
        cause: "In YAML often an indentation, or a colon in a text without quotes.",
        next: "Correct it at the place that is named; `baton recipe schema` knows every shape.",
    },
    Self::BadName => Explanation {
        code: "bad_name",
        means: "An id, a step, an outcome or a role is not a name.",
        cause: "Names are lower-case letters, digits, - and _, a letter or digit first, at most 64.",
        next: "Choose another name, and change it wherever it is used.",
    },
    Self::Duplicate => Explanation {
        code: "duplicate",
        means: "The same name is there twice where each may come once.",
        cause: "A step or an outcome was copied and not renamed.",
        next: "Rename or remove one of them.",
    },
    Self::OutOfRange => Explanation {
        code: "out_of_range",
        means: "A guardrail is zero or larger than Baton allows.",
        cause: "A run without a limit could go on for ever.",
        next: "Choose a number from 1 up to the limit that is named.",
    },
    Self::UnknownStep => Explanation {
        code: "unknown_step",
        means: "initial_step or next_step names a step the recipe does not have.",
        cause: "The step was renamed, removed or mistyped; the nearest one is named.",
        next: "Name a step of the recipe.",
    },
    Self::OutcomeWithoutTransition => Explanation {
        code: "outcome_without_transition",
        means: "The agent may report this outcome, and nothing says what follows.",
        cause: "It is in outcomes and not in on_outcome.",
        next: "Add it to on_outcome with next_step, exit or restart_new_session.",
    },
    Self::TransitionWithoutOutcome => Explanation {
        code: "transition_without_outcome",
        means: "Something follows from an outcome the agent may not report.",
        cause: "It is in on_outcome and not in outcomes.",
        next: "Add it to outcomes, or take the transition out.",
    },
    Self::NotOneForm => Explanation {
        code: "not_one_form",
        means: "A transition has none of its three forms, or more than one.",
        cause: "It is exactly one of next_step, exit and restart_new_session: true.",
        next: "Keep one of them.",
    },
    Self::BadExitReason => Explanation {
        code: "bad_exit_reason",
        means: "An exit reason is blank, too long or not one line.",
        cause: "It is a label in lists and logs.",
        next: "Write a short one such as task-committed.",
    },
    Self::UnknownOutcome => Explanation {
        code: "unknown_outcome",
        means: "A gate or a default names an outcome the step does not have.",
        cause: "The outcome was renamed, removed or mistyped; the nearest one is named.",
        next: "Name one of the step's outcomes.",
    },
    Self::UnreachableStep => Explanation {
        code: "unreachable_step",
        means: "No way leads to this step.",
        cause: "Nothing from the initial step on names it as next_step.",
        next: "Lead to it, or remove it. `baton recipe show RECIPE` draws the ways there are.",
    },
    Self::NoWayToExit => Explanation {
        code: "no_way_to_exit",
        means: "From this step a run could only be ended by a guardrail.",
        cause: "None of the ways from it comes to an exit.",
        next: "Give one of its outcomes an exit, or lead it to a step that has one.",
    },
    Self::NotTheLoop => Explanation {
        code: "not_the_loop",
        means: "A file with the id plan-execute-review has other phases, gates or ways than the loop.",
        cause: "That id words the loop's prompts; phases and gates are Baton's own and stay as they are.",
        next: "Change the prompts alone, or choose another id. `baton recipe show plan-execute-review` shows the loop.",
    },
} }
