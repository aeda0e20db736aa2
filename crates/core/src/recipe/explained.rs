//! Explanations of recipe errors. `baton recipe check` reports each with file, line and column.

use crate::base::explanation::Explanation;
use crate::explained;
use crate::recipe::RecipeErrorKind;

explained! { RecipeErrorKind {
    Self::UnknownKey => Explanation {
        code: "unknown_key",
        means: "The file has an unknown key.",
        cause: "Usually a typo; the message names the most similar key.",
        next: "Correct or remove it. The schema of recipes gives your editor all keys.",
    },
    Self::Missing => Explanation {
        code: "missing",
        means: "A required key of the recipe or of a step is missing.",
        cause: "A recipe needs id, label, description, initial_step and steps; a step needs prompt, outcomes and \
                on_outcome.",
        next: "Add it, then check again.",
    },
    Self::Blank => Explanation {
        code: "blank",
        means: "A text is empty or only white space.",
        cause: "Labels, prompts and questions need visible text.",
        next: "Write at least one visible character.",
    },
    Self::TooLong => Explanation {
        code: "too_long",
        means: "A text is too long.",
        cause: "Names, texts and prompts have limits, so that pages and prompts stay readable.",
        next: "Shorten it; put a long explanation into a file of the repository and name it in the prompt.",
    },
    Self::TooMany => Explanation {
        code: "too_many",
        means: "There are more steps or outcomes than a recipe may have.",
        cause: "The limit keeps recipes small enough to draw and understand.",
        next: "Split it into several recipes.",
    },
    Self::WrongShape => Explanation {
        code: "wrong_shape",
        means: "A value has the wrong type, such as a list instead of a text.",
        cause: "In YAML often wrong indentation, or an unquoted colon in a text.",
        next: "Fix it at the location shown; the schema of recipes defines every value.",
    },
    Self::BadName => Explanation {
        code: "bad_name",
        means: "An id, a step, an outcome or a role is not a valid name.",
        cause: "Names are lower-case letters, digits, - and _, a letter or digit first, at most 64.",
        next: "Choose another name, and change it wherever it is used.",
    },
    Self::Duplicate => Explanation {
        code: "duplicate",
        means: "The same name is used twice.",
        cause: "A step or an outcome was copied and not renamed.",
        next: "Rename or remove one of them.",
    },
    Self::OutOfRange => Explanation {
        code: "out_of_range",
        means: "A guardrail is zero or larger than Baton allows.",
        cause: "A run without a limit could run forever.",
        next: "Choose a number from 1 up to the limit shown.",
    },
    Self::UnknownStep => Explanation {
        code: "unknown_step",
        means: "initial_step or next_step names a step the recipe does not have.",
        cause: "The step was renamed, removed or misspelled; the message names the most similar one.",
        next: "Use the name of a step in the recipe.",
    },
    Self::OutcomeWithoutTransition => Explanation {
        code: "outcome_without_transition",
        means: "The agent may report this outcome, but it has no transition.",
        cause: "It is in outcomes but not in on_outcome.",
        next: "Add it to on_outcome with next_step, exit or restart_new_session.",
    },
    Self::TransitionWithoutOutcome => Explanation {
        code: "transition_without_outcome",
        means: "There is a transition for an outcome the agent may not report.",
        cause: "It is in on_outcome but not in outcomes.",
        next: "Add it to outcomes, or remove the transition.",
    },
    Self::NotOneForm => Explanation {
        code: "not_one_form",
        means: "A transition has none of its three forms, or more than one.",
        cause: "A transition is exactly one of next_step, exit and restart_new_session: true.",
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
        cause: "The outcome was renamed, removed or misspelled; the message names the most similar one.",
        next: "Use one of the step's outcomes.",
    },
    Self::UnreachableStep => Explanation {
        code: "unreachable_step",
        means: "This step cannot be reached.",
        cause: "No step reachable from the initial one names it as next_step.",
        next: "Add a transition to it, or remove it.",
    },
    Self::NoWayToExit => Explanation {
        code: "no_way_to_exit",
        means: "From this step only a guardrail could end the run.",
        cause: "No path from it reaches an exit.",
        next: "Give one of its outcomes an exit, or lead it to a step that has one.",
    },
    Self::NotTheLoop => Explanation {
        code: "not_the_loop",
        means: "A file with the id plan-execute-review has other phases, gates or transitions than the loop.",
        cause: "A file with that id may change the loop's prompts; its phases and gates are fixed.",
        next: "Change only the prompts, or choose another id.",
    },
} }
