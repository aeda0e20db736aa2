//! The recipes the tests run.

use baton_core::base::id::{RunId, SessionId};
use baton_core::base::text::{NonBlank, OutcomeName, StepName};
use baton_core::recipe::outcome::Outcome;
use baton_core::recipe::run::{Advance, Run, RunObservation, StepReport};
use baton_core::recipe::{Recipe, RecipeDraft};
use serde_json::{Value, json};

pub(super) fn implement_and_review_json() -> Value {
    json!({
        "id": "implement-and-review",
        "label": "Implement & Review",
        "description": "Implement task, review code, fix issues, and commit",
        "initial_step": "implement",
        "steps": {
            "implement": {
                "prompt": "Take the next task with `get_next_task` and implement it.",
                "outcomes": ["complete", "no-tasks", "blocked", "other"],
                "on_outcome": {
                    "complete": {"next_step": "code-review"},
                    "no-tasks": {"exit": "no-tasks-available"},
                    "blocked": {"exit": "implementation-blocked"},
                    "other": {"exit": "user-provided-other"}
                }
            },
            "code-review": {
                "prompt": "Review the change.",
                "outcomes": ["no-issues", "issues-found", "other"],
                "on_outcome": {
                    "no-issues": {"next_step": "commit"},
                    "issues-found": {"next_step": "fix"},
                    "other": {"exit": "user-provided-other"}
                },
                "fresh": true,
                "role": "review",
                "model": "small"
            },
            "fix": {
                "prompt": "Fix what the review found.",
                "outcomes": ["complete", "other"],
                "on_outcome": {
                    "complete": {"next_step": "code-review"},
                    "other": {"exit": "user-provided-other"}
                }
            },
            "commit": {
                "prompt": "Commit the change.",
                "outcomes": ["committed", "nothing-to-commit", "other"],
                "on_outcome": {
                    "committed": {"exit": "task-committed"},
                    "nothing-to-commit": {"exit": "no-changes-to-commit"},
                    "other": {"exit": "user-provided-other"}
                }
            }
        }
    })
}

/// The same, but for one task after the other.
pub(super) fn restarting_json() -> Value {
    let mut recipe = implement_and_review_json();
    recipe["steps"]["commit"]["on_outcome"]["committed"] = json!({"restart_new_session": true});
    recipe
}

/// Three phases with a gate each.
pub(super) fn loop_json() -> Value {
    json!({
        "id": "loop",
        "label": "Loop",
        "description": "Plan, execute, review",
        "initial_step": "plan",
        "guardrails": {"max_step_visits": 2, "max_total_steps": 6},
        "steps": {
            "plan": {
                "prompt": "Plan.", "outcomes": ["planned", "other"],
                "on_outcome": {"planned": {"next_step": "execute"}, "other": {"exit": "user-provided-other"}},
                "gate": {"question": "Ready to execute? [YES/NO]", "yes": "planned"}
            },
            "execute": {
                "prompt": "Execute.", "outcomes": ["executed"],
                "on_outcome": {"executed": {"next_step": "review"}},
                "gate": {"question": "Ready for review? [YES/NO]", "yes": "executed"}
            },
            "review": {
                "prompt": "Review.", "outcomes": ["continue", "stop", "replan"],
                "on_outcome": {
                    "continue": {"next_step": "plan"},
                    "stop": {"exit": "loop-complete"},
                    "replan": {"next_step": "plan"}
                },
                "gate": {"question": "Continue loop? [YES/NO]", "yes": "continue", "no": "stop"}
            }
        }
    })
}

pub(super) fn recipe(json: Value) -> Recipe {
    Recipe::check(draft(json)).unwrap()
}

pub(super) fn draft(json: Value) -> RecipeDraft {
    serde_json::from_value(json).unwrap()
}

pub(super) fn implement_and_review() -> Recipe {
    recipe(implement_and_review_json())
}

pub(super) fn started(recipe: &Recipe) -> Run {
    Run::start(RunId::from_bits(1), recipe, "s".parse::<SessionId>().unwrap(), None)
}

pub(super) fn step(name: &str) -> StepName {
    name.parse().unwrap()
}

pub(super) fn names(names: &[&str]) -> Vec<OutcomeName> {
    names.iter().map(|name| name.parse().unwrap()).collect()
}

pub(super) fn report(name: &str) -> StepReport {
    StepReport::Outcome(Outcome {
        name: name.parse().unwrap(),
        description: (name == "other").then(|| NonBlank::new("something else").unwrap()),
    })
}

/// Reports the outcomes in turn; returns the last action and the run.
pub(super) fn after(
    recipe: &Recipe,
    run: Run,
    outcomes: &[&str],
    observed: &RunObservation,
) -> (Run, Advance) {
    let mut run = run;
    let mut last = Advance::StayInPhase;
    for outcome in outcomes {
        (run, last) = run.advance(recipe, &report(outcome), observed).unwrap();
    }
    (run, last)
}
