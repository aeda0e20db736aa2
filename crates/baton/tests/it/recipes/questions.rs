//! Questions of a step, and gates.

use serde_json::json;

use super::fixture::{RecipeFixture, good_agent, looping, outcome, script};

#[test]
fn an_answer_continues_the_step_that_asked() {
    let mut fixture = RecipeFixture::scripted(&script(&[
        json!({ "step": "one", "resumed": true, "steps": [{ "read_answer": "The answer (" },
            { "outcome": { "outcome": "stop", "description": "{{answer}}" } }] }),
        json!({ "step": "one", "steps": [{ "ask": { "question": "Which door?" } }] }),
    ]));
    fixture.recipe("round.yml", &looping("round", "{}", "{ next_step: one }"));
    let task = fixture.start("round");
    fixture.up();
    fixture.wait_for_question(&task);
    assert!(fixture.run(&["task", "reply", &task, "The red one"]).status.success());
    let view = fixture.wait_for_queue(&task, "done");
    assert!(view["output"].as_str().unwrap().contains("The red one"), "{view}");
    assert_eq!(fixture.run_messages().len(), 3, "one start, one step, one exit:\n{}", fixture.summary());
}

#[test]
fn blocked_asks_in_the_agents_words_and_the_recipe_continues() {
    let mut scenes = vec![
        json!({ "step": "implement", "when": "Use the test key.", "steps": [
            { "write": { "path": "login.txt", "text": "fixed\n" } }, outcome("complete") ] }),
        json!({ "step": "implement", "steps": [
            { "outcome": { "outcome": "blocked", "description": "The signing key is missing" } }] }),
    ];
    scenes.extend(good_agent());
    let mut fixture = RecipeFixture::scripted(&script(&scenes));
    fixture.json(&["task", "add", "Fix the login"]);
    let task = fixture.start("implement-and-review");
    fixture.up();
    let view = fixture.wait_for_question(&task);
    assert_eq!(view["question"]["text"], "The signing key is missing");
    assert_eq!(fixture.exit_message()["message"], "Implementation blocked - cannot proceed");
    fixture.run(&["task", "reply", &task, "Use the test key."]);
    fixture.wait_for_queue(&task, "provisional");
    assert!(
        fixture
            .summary()
            .ends_with("exited task-committed [completed]: Task implementation committed successfully\n")
    );
}

/// Three steps with a gate each. `yes` and `no` are strings here, not booleans.
const GATED: &str = r#"
id: gated
label: Gated
description: Three steps, each with a gate
initial_step: plan
steps:
  plan:
    fresh: true
    prompt: Plan it.
    outcomes: [planned]
    on_outcome:
      planned: { next_step: execute }
    gate: { question: "Ready to execute? [YES/NO]", yes: planned }
  execute:
    fresh: true
    prompt: Do it.
    outcomes: [executed]
    on_outcome:
      executed: { next_step: review }
    gate:
      question: "Ready for review? [YES/NO]"
      yes: executed
  review:
    fresh: true
    prompt: Look at it.
    outcomes: [yes, no]
    on_outcome:
      yes: { next_step: plan }
      no: { exit: enough }
    gate: { question: "Continue loop? [YES/NO]", yes: yes, no: no }
"#;

#[test]
fn a_gate_waits_for_a_person_and_passes_no_question_on() {
    let scenes = vec![
        json!({ "step": "plan", "resumed": true, "when": "Mondays", "steps": [
            { "outcome": { "outcome": "planned", "description": "First the door, then the lock." } }] }),
        json!({ "step": "plan", "steps": [{ "ask": { "question": "On which days does it fail?" } }] }),
        json!({ "step": "execute", "steps": [{ "write": { "path": "door.txt", "text": "open\n" } },
            { "commit": "Open the door" },
            { "outcome": { "outcome": "executed", "description": "The door is done." } }] }),
        json!({ "step": "review", "steps": [{ "outcome": { "outcome": "no", "description": "All is well." } }] }),
    ];
    let mut fixture = RecipeFixture::scripted(&script(&scenes));
    fixture.recipe("gated.yml", GATED);
    let task = fixture.start("gated");
    fixture.up();
    fixture.wait_for_question(&task);
    fixture.run(&["task", "reply", &task, "Only on Mondays"]);
    let gate = |fixture: &RecipeFixture, printed: &str| {
        fixture.wait(printed, || {
            let view = fixture.task(&task);
            let text = view["question"]["text"].as_str().unwrap_or_default().to_owned();
            text.starts_with(printed).then_some(text)
        })
    };
    let asked = gate(&fixture, "Ready to execute? [YES/NO]");
    assert!(asked.contains("First the door, then the lock."), "{asked}");
    assert!(asked.contains("- YES: the step \"execute\" follows"), "{asked}");
    assert!(asked.contains("- NO: the agent goes on in this step"), "{asked}");
    assert_eq!(
        fixture.run(&["task", "reply", &task, "perhaps"]).status.code(),
        Some(2),
        "neither YES nor NO"
    );
    assert!(fixture.run(&["task", "reply", &task, "yes"]).status.success());
    gate(&fixture, "Ready for review? [YES/NO]");
    fixture.run(&["task", "reply", &task, "YES"]);
    gate(&fixture, "Continue loop? [YES/NO]");
    fixture.run(&["task", "reply", &task, "NO"]);
    assert_eq!(fixture.exit_message()["reason"], "enough");
    fixture.wait_for_queue(&task, "provisional");
    let prompts = fixture.prompts(&task);
    let execute = prompts.iter().find(|(name, _)| name.ends_with("execute.md")).unwrap();
    assert!(execute.1.contains("First the door, then the lock."), "the result is handed over");
    for hidden in ["On which days", "Mondays", "Ready to execute"] {
        assert!(!execute.1.contains(hidden), "{hidden} is of the phase before");
    }
}
