//! Guardrails stop runs that would not end.

use serde_json::json;

use super::fixture::{RecipeFixture, good_agent, looping, outcome, script};

#[test]
fn the_fourth_visit_of_a_step_is_refused_and_a_person_is_asked() {
    let mut scenes = good_agent();
    scenes.retain(|scene| scene["step"] != "code-review");
    scenes.push(json!({ "step": "code-review", "steps": [
        { "outcome": { "outcome": "issues-found", "description": "login.rs:3: it is still wrong" } }] }));
    scenes.push(json!({ "step": "fix", "steps": [
        { "append": { "path": "{{task}}.txt", "text": "more\n" } }, outcome("complete")] }));
    let mut fixture = RecipeFixture::scripted(&script(&scenes));
    fixture.json(&["task", "add", "Fix the login"]);
    let task = fixture.start("implement-and-review");
    fixture.up();
    let exit = fixture.exit_message();
    assert_eq!(
        (exit["reason"].as_str(), exit["category"].as_str()),
        (Some("max-step-visits-exceeded:code-review"), Some("guardrail"))
    );
    let visits = fixture
        .run_messages()
        .iter()
        .filter(|value| value["type"] == "recipe_step_started" && value["step"] == "code-review")
        .count();
    assert_eq!(visits, 3);
    let view = fixture.wait_for_question(&task);
    let asked = view["question"]["text"].as_str().unwrap();
    assert!(asked.contains("entered too many times"), "{view}");
    // What the reviewer found last, although another step came after it.
    assert!(asked.contains("login.rs:3: it is still wrong"), "{asked}");
    // Nothing is lost: the files are kept.
    assert_eq!(view["verified"]["uncommitted_changes"], true);
}

#[test]
fn too_many_steps_end_the_run() {
    let mut fixture =
        RecipeFixture::scripted(&script(&[json!({ "step": "one", "steps": [outcome("again")] })]));
    fixture.recipe(
        "round.yml",
        &looping("round", "{ max_step_visits: 50, max_total_steps: 4 }", "{ next_step: one }"),
    );
    let task = fixture.start("round");
    fixture.up();
    fixture.wait_for_question(&task);
    insta::assert_snapshot!(fixture.summary(), @"
    started round
      one (1)
      one → one
      one (2)
      one → one
      one (3)
      one → one
      one (4)
    exited max-total-steps [guardrail]: Stopped: the run took too many steps
    ");
}

#[test]
fn restarts_without_progress_end_the_run() {
    let mut fixture =
        RecipeFixture::scripted(&script(&[json!({ "step": "one", "steps": [outcome("again")] })]));
    fixture.recipe("round.yml", &looping("round", "{ max_step_visits: 3 }", "{ restart_new_session: true }"));
    let task = fixture.start("round");
    fixture.up();
    assert_eq!(fixture.exit_message()["reason"], "max-step-visits-exceeded:one");
    fixture.wait_for_question(&task);
    assert_eq!(fixture.prompts(&task).len(), 3);
}
