use baton_core::base::text::{OutcomeName, Role};
use baton_core::recipe::outcome::closing_block;
use baton_core::recipe::{
    GUARDRAIL_MAX, OUTCOMES_PER_STEP_MAX, PROMPT_BYTES_MAX, Recipe, RecipeError, RecipeErrorKind,
    RecipeErrors, STEPS_MAX, StepTransition,
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::recipes::fixture::{
    draft, implement_and_review, implement_and_review_json, loop_json, recipe, restarting_json, step,
};

fn faults(json: Value) -> Vec<RecipeError> {
    Recipe::check(draft(json)).unwrap_err()
}

/// The single error of the recipe after `change`: its kind and its message.
fn only_fault(change: impl FnOnce(&mut Value)) -> (RecipeErrorKind, String) {
    let mut json = implement_and_review_json();
    change(&mut json);
    let faults = faults(json);
    assert_eq!(faults.len(), 1, "{}", RecipeErrors(faults));
    (faults[0].kind, faults[0].to_string())
}

#[test]
fn the_recipe_keeps_what_the_file_says() {
    // As text, because a JSON value sorts its keys and the file's order counts.
    let text = r#"{"id": "two", "label": "Two", "description": "Two steps", "initial_step": "zeta",
        "steps": {
            "zeta": {"prompt": "Do it.", "outcomes": ["z", "a"],
                     "on_outcome": {"a": {"next_step": "alpha"}, "z": {"exit": "work-complete"}}},
            "alpha": {"prompt": "Check it.", "outcomes": ["again"], "on_outcome": {"again": {"restart_new_session": true}},
                      "fresh": true, "role": "review", "model": "small"}}}"#;
    let recipe: Recipe = serde_json::from_str(text).unwrap();
    let order: Vec<&str> = recipe.steps().iter().map(|step| step.name().as_str()).collect();
    assert_eq!(order, ["zeta", "alpha"]);
    assert_eq!((recipe.guardrails().max_step_visits(), recipe.guardrails().max_total_steps()), (3, 100));

    let zeta = recipe.step(&step("zeta")).unwrap();
    assert_eq!(zeta.outcomes().iter().map(OutcomeName::as_str).collect::<Vec<_>>(), ["z", "a"]);
    assert_eq!(zeta.full_prompt(), format!("Do it.\n\n{}", closing_block(&zeta.outcomes())));
    assert!(!zeta.is_fresh());

    let alpha = recipe.step(&step("alpha")).unwrap();
    assert!(alpha.is_fresh());
    assert_eq!(alpha.role().map(Role::as_str), Some("review"));
    assert_eq!(alpha.model(), Some("small"));
    assert_eq!(alpha.transitions()[0].1, StepTransition::RestartNewSession);
}

#[test]
fn a_recipe_round_trips() {
    for json in [implement_and_review_json(), restarting_json(), loop_json()] {
        let before = recipe(json);
        let text = serde_json::to_string(&before).unwrap();
        assert_eq!(serde_json::from_str::<Recipe>(&text).unwrap(), before);
    }
}

#[test]
fn reading_a_recipe_runs_the_check() {
    let mut json = implement_and_review_json();
    json["initial_step"] = json!("implment");
    let error = serde_json::from_value::<Recipe>(json).unwrap_err().to_string();
    assert!(
        error.contains("initial_step: there is no step \"implment\" (did you mean implement?)"),
        "{error}"
    );
}

/// Puts each value at its path into a valid recipe, and expects exactly that one error.
fn each_is_the_only_fault<const N: usize>(cases: [(&str, Value, RecipeErrorKind, &str); N]) {
    for (path, value, kind, words) in cases {
        let (found, sentence) = only_fault(|json| {
            let (parent, key) = path.rsplit_once('/').unwrap();
            json.pointer_mut(parent).unwrap()[key] = value;
        });
        assert_eq!(found, kind, "{sentence}");
        assert!(sentence.contains(words), "{sentence}\ndoes not say\n{words}");
    }
}

#[test]
fn recipe_errors_have_a_location() {
    use RecipeErrorKind::{BadName, Blank, Missing, OutOfRange, UnknownKey, UnknownStep, WrongShape};
    each_is_the_only_fault([
        ("/lable", json!("x"), UnknownKey, "lable: \"lable\" is not a key here"),
        ("/lable", json!("x"), UnknownKey, "(did you mean label?)"),
        ("/id", json!("Big Id"), BadName, "id: \"Big Id\" cannot be a recipe's id"),
        ("/id", json!(7), WrongShape, "id: it must be a name, and is a number"),
        ("/label", json!(null), Missing, "label: it is missing"),
        ("/description", json!(" "), Blank, "description: the text is blank"),
        ("/initial_step", json!(""), Blank, "initial_step: it is blank"),
        ("/initial_step", json!("implment"), UnknownStep, "(did you mean implement?)"),
        ("/initial_step", json!("zzz"), UnknownStep, "initial_step: there is no step \"zzz\""),
        ("/steps", json!([]), WrongShape, "steps: it must be a mapping of steps, and is a list"),
        ("/steps", json!({}), Missing, "steps: there is no step"),
        ("/guardrails", json!(3), WrongShape, "guardrails: it must be a mapping"),
        (
            "/guardrails",
            json!({"max_step_visits": 0}),
            OutOfRange,
            "guardrails.max_step_visits: it is 0; write a whole number from 1 to 10000",
        ),
        (
            "/guardrails",
            json!({"max_total_steps": GUARDRAIL_MAX + 1}),
            OutOfRange,
            "guardrails.max_total_steps: it is 10001",
        ),
        ("/guardrails", json!({"max_visits": 2}), UnknownKey, "guardrails.max_visits: "),
    ]);
}

#[test]
fn step_errors_have_a_location() {
    use RecipeErrorKind::{
        BadName, Blank, Duplicate, Missing, TooLong, TransitionWithoutOutcome, UnknownKey, WrongShape,
    };
    let outcomes = "/steps/implement/outcomes";
    each_is_the_only_fault([
        ("/steps/fix", json!(null), WrongShape, "step fix: it must be a mapping"),
        ("/steps/fix/promt", json!(1), UnknownKey, "step fix, promt: \"promt\" is not a key here"),
        ("/steps/fix/promt", json!(1), UnknownKey, "(did you mean prompt?)"),
        ("/steps/fix/prompt", json!("\n"), Blank, "step fix, prompt: "),
        (
            "/steps/fix/prompt",
            json!("x".repeat(PROMPT_BYTES_MAX + 1)),
            TooLong,
            "step fix, prompt: it has 65537 bytes",
        ),
        ("/steps/fix/fresh", json!("perhaps"), WrongShape, "step fix, fresh: it must be true or false"),
        ("/steps/fix/role", json!("--evil"), BadName, "step fix, role: "),
        ("/steps/fix/model", json!(""), Blank, "step fix, model: "),
        (outcomes, json!("complete"), WrongShape, "step implement, outcomes: it must be a list of outcomes"),
        (outcomes, json!(null), Missing, "step implement, outcomes: it is missing"),
        (
            outcomes,
            json!(["complete", "no-tasks", "blocked", "other", "other"]),
            Duplicate,
            "step implement, outcomes.4: the outcome \"other\" is listed twice",
        ),
        (
            outcomes,
            json!(["complete", "no-tasks", "blocked"]),
            TransitionWithoutOutcome,
            "step implement, on_outcome.other: ",
        ),
    ]);
}

#[test]
fn transition_errors_have_a_location() {
    use RecipeErrorKind::{BadExitReason, NotOneForm, UnknownKey, UnknownStep};
    let other = "/steps/implement/on_outcome/other";
    each_is_the_only_fault([
        (
            "/steps/implement/on_outcome/complete/next_step",
            json!("code-reveiw"),
            UnknownStep,
            "step implement, on_outcome.complete.next_step: there is no step \"code-reveiw\" (did you mean code-review?)",
        ),
        (other, json!({}), NotOneForm, "step implement, on_outcome.other: it leads nowhere"),
        (other, json!({"restart_new_session": false}), NotOneForm, "it leads nowhere"),
        (other, json!({"exit": "x", "next_step": "fix"}), NotOneForm, "it leads two ways"),
        (other, json!({"exit": "x", "restart_new_session": true}), NotOneForm, "it leads two ways"),
        (other, json!({"next_step": "fix", "restart_new_session": true}), NotOneForm, "it leads two ways"),
        (other, json!({"exit": "x", "reason": "y"}), UnknownKey, "step implement, on_outcome.other.reason: "),
        (other, json!({"exit": "a\nb"}), BadExitReason, "step implement, on_outcome.other.exit: "),
        (other, json!({"exit": " "}), BadExitReason, "an exit reason cannot be blank"),
        (other, json!({"exit": "internal-error"}), BadExitReason, "name your own"),
        (other, json!({"exit": "max-step-visits-exceeded:x"}), BadExitReason, "name your own"),
    ]);
}

#[test]
fn gate_errors_have_a_location() {
    use RecipeErrorKind::{Blank, Duplicate, Missing, UnknownKey, UnknownOutcome};
    let gate = "/steps/implement/gate";
    each_is_the_only_fault([
        (
            gate,
            json!({"question": "Go?", "yes": "compleet"}),
            UnknownOutcome,
            "step implement, gate.yes: \"compleet\" is not one of the step's outcomes (did you mean complete?)",
        ),
        (gate, json!({"question": "Go?", "yes": "complete", "no": "zzz"}), UnknownOutcome, "gate.no: "),
        (gate, json!({"question": "Go?", "yes": "complete", "no": "complete"}), Duplicate, "gate.no: "),
        (gate, json!({"question": " ", "yes": "complete"}), Blank, "gate.question: "),
        (gate, json!({"question": "Go?"}), Missing, "gate.yes: it is missing"),
        (gate, json!({"question": "Go?", "yes": "complete", "maybe": 1}), UnknownKey, "gate.maybe: "),
    ]);
}

#[test]
fn a_default_outcome_is_one_of_the_steps_own() {
    use RecipeErrorKind::{UnknownOutcome, WrongShape};
    let default = "/steps/implement/default_outcome";
    each_is_the_only_fault([
        (default, json!("compleet"), UnknownOutcome, "did you mean complete?"),
        (default, json!(3), WrongShape, "step implement, default_outcome: "),
        ("/takes_task", json!("maybe"), WrongShape, "takes_task: it must be true or false, and is a text"),
    ]);
    let mut json = implement_and_review_json();
    json["takes_task"] = json!(true);
    json["steps"]["implement"]["default_outcome"] = json!("complete");
    let recipe = recipe(json);
    assert!(recipe.takes_task());
    assert_eq!(
        recipe.step(&"implement".parse().unwrap()).unwrap().default_outcome().unwrap().as_str(),
        "complete"
    );
    let again: Recipe = serde_json::from_value(serde_json::to_value(&recipe).unwrap()).unwrap();
    assert_eq!(again, recipe);
}

#[test]
fn an_outcome_needs_its_transition() {
    let (kind, sentence) = only_fault(|json| {
        json["steps"]["implement"]["on_outcome"].as_object_mut().unwrap().remove("blocked");
    });
    assert_eq!(kind, RecipeErrorKind::OutcomeWithoutTransition);
    assert_eq!(
        sentence,
        "step implement, on_outcome: the outcome \"blocked\" has no transition; say where it leads"
    );
}

#[test]
fn unreachable_steps_and_dead_ends_are_errors() {
    let (kind, sentence) = only_fault(|json| {
        json["steps"]["code-review"]["on_outcome"]["issues-found"] = json!({"exit": "clarification-needed"});
    });
    assert_eq!(kind, RecipeErrorKind::UnreachableStep);
    assert!(sentence.starts_with("step fix: nothing leads here from \"implement\""), "{sentence}");

    let (kind, sentence) = only_fault(|json| {
        json["steps"]["fix"]["outcomes"] = json!(["complete"]);
        json["steps"]["fix"]["on_outcome"] = json!({"complete": {"next_step": "fix"}});
    });
    assert_eq!(kind, RecipeErrorKind::NoWayToExit);
    assert!(sentence.starts_with("step fix: no exit can be reached from here"), "{sentence}");

    let (kind, sentence) = only_fault(|json| {
        for step in json["steps"].as_object_mut().unwrap().values_mut() {
            for transition in step["on_outcome"].as_object_mut().unwrap().values_mut() {
                if transition.get("exit").is_some() {
                    *transition = json!({"restart_new_session": true});
                }
            }
        }
    });
    assert_eq!(kind, RecipeErrorKind::NoWayToExit);
    assert_eq!(sentence, "steps: no step reaches an exit; let one outcome exit");
}

#[test]
fn steps_and_outcomes_are_limited() {
    let chain = |count: usize| {
        let mut json = implement_and_review_json();
        let mut steps = Map::new();
        for n in 0..count {
            let next = if n + 1 == count {
                json!({"exit": "x"})
            } else {
                json!({"next_step": format!("s{}", n + 1)})
            };
            steps.insert(
                format!("s{n}"),
                json!({"prompt": "p", "outcomes": ["ok"], "on_outcome": {"ok": next}}),
            );
        }
        json["initial_step"] = json!("s0");
        json["steps"] = Value::Object(steps);
        json
    };
    assert!(Recipe::check(draft(chain(STEPS_MAX))).is_ok());
    assert_eq!(
        faults(chain(STEPS_MAX + 1))[0].to_string(),
        "steps: there are 65 steps; at most 64 are allowed"
    );

    let wide = |count: usize| {
        let mut json = chain(1);
        let names: Vec<String> = (0..count).map(|n| format!("o{n}")).collect();
        json["steps"]["s0"]["on_outcome"] =
            names.iter().map(|name| (name.clone(), json!({"exit": "x"}))).collect::<Map<_, _>>().into();
        json["steps"]["s0"]["outcomes"] = json!(names);
        json
    };
    assert!(Recipe::check(draft(wide(OUTCOMES_PER_STEP_MAX))).is_ok());
    assert!(
        faults(wide(OUTCOMES_PER_STEP_MAX + 1)).iter().all(|fault| fault.kind == RecipeErrorKind::TooMany)
    );
}

#[test]
fn a_duplicate_key_is_an_error() {
    let step =
        r#"{"prompt": "p", "outcomes": ["ok"], "on_outcome": {"ok": {"exit": "x"}, "ok": {"exit": "y"}}}"#;
    let text = format!(
        r#"{{"id": "r", "label": "l", "description": "d", "initial_step": "s", "steps": {{"s": {step}, "s": {step}}}}}"#
    );
    let kinds: Vec<RecipeErrorKind> = Recipe::check(serde_json::from_str(&text).unwrap())
        .unwrap_err()
        .iter()
        .map(|fault| fault.kind)
        .collect();
    assert_eq!(kinds, [RecipeErrorKind::Duplicate; 3]);
}

#[test]
fn all_errors_are_reported_at_once() {
    let all = faults(json!({
        "id": "Bad Id",
        "label": "",
        "initial_step": "strat",
        "colour": "red",
        "guardrails": {"max_step_visits": -1, "max_total_steps": "many"},
        "steps": {
            "start": {
                "outcomes": ["done", "done", "Nope", "lost"],
                "on_outcome": {"done": {"next_step": "nowhere"}, "extra": {}, "lost": {"exit": "a", "next_step": "start"}},
                "gate": {"yes": "dnoe"}
            },
            "island": {"prompt": "p", "outcomes": ["stay"], "on_outcome": {"stay": {"next_step": "island"}}}
        }
    }));
    insta::assert_snapshot!(RecipeErrors(all), @r#"
    the recipe has errors:
      colour: "colour" is not a key here; the keys are id, label, description, initial_step, takes_task, steps, guardrails
      id: "Bad Id" cannot be a recipe's id: use lower-case letters, digits, - and _, a letter or digit first, at most 64 in all
      label: the text is blank; write at least one visible character
      description: it is missing; write a text
      guardrails.max_step_visits: it is -1; write a whole number from 1 to 10000
      guardrails.max_total_steps: it must be a whole number, and is a text
      initial_step: there is no step "strat" (did you mean start?)
      step start, prompt: it is missing; write a text
      step start, outcomes.1: the outcome "done" is listed twice
      step start, outcomes.2: "Nope" cannot be an outcome: use lower-case letters, digits, - and _, a letter or digit first, at most 64 in all
      step start, on_outcome.done.next_step: there is no step "nowhere"
      step start, on_outcome.extra: "extra" is not among the step's outcomes; list it or drop this
      step start, on_outcome.extra: it leads nowhere; write one of next_step, exit or restart_new_session: true
      step start, on_outcome.lost: it leads two ways; keep one of next_step, exit or restart_new_session: true
      step start, on_outcome: the outcome "Nope" has no transition; say where it leads
      step start, gate.question: it is missing; write a text
      step start, gate.yes: "dnoe" is not one of the step's outcomes (did you mean done?)
      step island: nothing leads here from "start"; lead here or drop the step
      step island: no exit can be reached from here; only a guardrail would end the run
    "#);
}

proptest! {
    /// I11: a recipe whose outcomes and transitions differ is never accepted.
    #[test]
    fn taking_one_entry_away_breaks_the_recipe(which: prop::sample::Index, side: bool, base in 0..3usize) {
        let mut json = [implement_and_review_json(), restarting_json(), loop_json()][base].clone();
        let whole = recipe(json.clone());
        for step in whole.steps() {
            let named: Vec<_> = step.transitions().iter().map(|(name, _)| name.clone()).collect();
            prop_assert_eq!(step.outcomes(), named);
        }
        let entries: Vec<(String, String)> = whole
            .steps()
            .iter()
            .flat_map(|step| step.outcomes().into_iter().map(|name| (step.name().to_string(), name.to_string())))
            .collect();
        let (step, outcome) = which.get(&entries);
        let kind = if side {
            json["steps"][step]["outcomes"].as_array_mut().unwrap().retain(|name| name != outcome);
            if json["steps"][step]["outcomes"].as_array().unwrap().is_empty() {
                RecipeErrorKind::Missing
            } else {
                RecipeErrorKind::TransitionWithoutOutcome
            }
        } else {
            json["steps"][step]["on_outcome"].as_object_mut().unwrap().remove(outcome);
            RecipeErrorKind::OutcomeWithoutTransition
        };
        let faults = faults(json);
        prop_assert!(faults.iter().any(|fault| fault.kind == kind && fault.step.as_ref() == Some(step)));
    }

    #[test]
    fn any_field_value_is_valid_or_an_error_and_never_panics(
        path in prop::sample::select(vec![
            "/id", "/label", "/steps", "/steps/fix", "/steps/fix/outcomes", "/steps/fix/on_outcome",
            "/steps/fix/on_outcome/complete", "/steps/fix/prompt", "/initial_step", "/steps/fix/outcomes/0",
        ]),
        value in prop::sample::select(vec![
            json!(null), json!(true), json!(1.5), json!(""), json!("x"), json!([]), json!([[]]), json!({}), json!({"a": {}}),
        ]),
    ) {
        let mut json = implement_and_review_json();
        *json.pointer_mut(path).unwrap() = value;
        if let Err(faults) = Recipe::check(draft(json)) {
            prop_assert!(!faults.is_empty());
        }
    }
}

#[test]
fn the_fixture_has_the_documented_shape() {
    let recipe = implement_and_review();
    let shape: Vec<String> = recipe
        .steps()
        .iter()
        .flat_map(|step| {
            step.transitions().iter().map(move |(outcome, transition)| match transition {
                StepTransition::NextStep { step: next } => format!("{}: {outcome} → {next}", step.name()),
                StepTransition::Exit { reason } => format!("{}: {outcome} → exit {reason}", step.name()),
                StepTransition::RestartNewSession => format!("{}: {outcome} → restart", step.name()),
            })
        })
        .collect();
    assert!(shape.contains(&"implement: no-tasks → exit no-tasks-available".to_owned()));
    assert!(shape.contains(&"code-review: issues-found → fix".to_owned()));
    assert_eq!(shape.len(), 12);
}
