//! The loop's recipe has fixed phases and gates; a repository may change its texts.

use baton_core::recipe::{Recipe, RecipeDraft, RecipeErrorKind};
use serde_json::{Value, json};

fn phase(question: &str, outcomes: &Value, gate: &Value) -> Value {
    let names: Vec<&String> = outcomes.as_object().unwrap().keys().collect();
    let mut gate = gate.clone();
    gate["question"] = question.into();
    json!({ "prompt": "Do it.", "fresh": true, "outcomes": names, "on_outcome": outcomes, "gate": gate })
}

fn the_loop() -> Value {
    let plan = json!({ "planned": { "next_step": "execute" }, "no-tasks": { "exit": "no-tasks-available" } });
    let review = json!({ "continue": { "next_step": "plan" }, "stop": { "exit": "loop-complete" } });
    json!({
        "id": "plan-execute-review",
        "label": "Round",
        "description": "Round and round",
        "initial_step": "plan",
        "steps": {
            "plan": phase("Ready to execute? [YES/NO]", &plan, &json!({ "yes": "planned" })),
            "execute": phase("Ready for review? [YES/NO]", &json!({ "done": { "next_step": "review" } }), &json!({ "yes": "done" })),
            "review": phase("Continue loop? [YES/NO]", &review, &json!({ "yes": "continue", "no": "stop" })),
        },
    })
}

fn faults(recipe: Value) -> Vec<String> {
    let draft: RecipeDraft = serde_json::from_value(recipe).unwrap();
    let faults = Recipe::check(draft).err().unwrap_or_default();
    assert!(faults.iter().all(|fault| fault.kind == RecipeErrorKind::NotTheLoop), "{faults:?}");
    faults.iter().map(ToString::to_string).collect()
}

#[test]
fn i8_the_loop_recipe_may_change_texts_but_not_transitions() {
    assert_eq!(faults(the_loop()), Vec::<String>::new());
    let mut other = the_loop();
    other["id"] = "mine".into();
    other["steps"]["plan"]["gate"]["question"] = "Sure?".into();
    assert_eq!(faults(other), Vec::<String>::new(), "a recipe of another name is free");

    let mut bad = the_loop();
    let steps = &mut bad["steps"];
    steps["plan"]["gate"]["question"] = "Shall we?".into();
    steps["plan"]["role"] = "planner".into();
    steps["execute"]["fresh"] = false.into();
    steps["execute"]["outcomes"] = json!(["done", "gone"]);
    steps["execute"]["on_outcome"]["gone"] = json!({ "next_step": "rest" });
    steps["execute"]["gate"]["no"] = "gone".into();
    steps["review"]["on_outcome"]["continue"] = json!({ "next_step": "execute" });
    steps["review"]["gate"].as_object_mut().unwrap().remove("no");
    steps["rest"] =
        json!({ "prompt": "Rest.", "outcomes": ["ok"], "on_outcome": { "ok": { "exit": "rested" } } });
    bad["guardrails"] = json!({ "max_total_steps": 2 });
    insta::assert_snapshot!(faults(bad).join("\n"), @r#"
    step rest: the loop has the steps plan, execute and review alone; drop this one
    guardrails.max_total_steps: one round of the loop has 3 steps; allow at least that many
    step plan, role: who works in this phase is set in baton.toml, as [roles.plan]
    step plan, gate.question: it is asked as "Ready to execute? [YES/NO]"
    step execute, fresh: every phase of the loop has an agent of its own; write true
    step execute, gate.no: NO at this gate stays in the phase; drop it
    step review, on_outcome.continue: YES at this gate leads to plan
    step review, gate: NO at this gate ends the loop; let it lead to an exit
    step review, on_outcome.stop: only its gate ends this phase; drop the outcome
    "#);
}

#[test]
fn i7_a_phase_without_its_gate_is_no_phase() {
    let mut bad = the_loop();
    bad["steps"]["execute"].as_object_mut().unwrap().remove("gate");
    assert_eq!(
        faults(bad),
        ["step execute: this phase ends with the gate \"Ready for review? [YES/NO]\"; write it"]
    );
}
