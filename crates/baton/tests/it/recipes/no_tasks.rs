//! The outcome `no-tasks`, criterion by criterion, and recipes that run until the queue is empty.

use baton_core::records::event::EventBody;
use serde_json::json;

use super::fixture::{RecipeFixture, good_agent, outcome, script};

#[test]
fn no_tasks_criterion_1_the_implement_step_has_the_outcome() {
    let fixture = RecipeFixture::scripted(&script(&good_agent()));
    let recipe = fixture.json(&["recipe", "show", "implement-and-review"]);
    let implement = &recipe["steps"]["implement"];
    assert_eq!(implement["outcomes"], json!(["complete", "no-tasks", "blocked", "other"]));
    assert_eq!(implement["on_outcome"]["no-tasks"], json!({ "exit": "no-tasks-available" }));
}

#[test]
fn no_tasks_criteria_2_to_5_the_run_exits_as_completed_and_says_so() {
    let mut fixture = RecipeFixture::scripted(&script(&good_agent()));
    let task = fixture.start("implement-and-review");
    fixture.up();
    let mut exit = fixture.exit_message();
    exit.as_object_mut().unwrap().remove("seq").unwrap();
    assert_eq!(
        exit,
        json!({
            "type": "recipe_exited",
            "session_id": "cli",
            "reason": "no-tasks-available",
            "category": "completed",
            "message": "No tasks available to implement"
        })
    );
    let view = fixture.wait_for_queue(&task, "done");
    assert_eq!(view["output"], "No tasks available to implement");
}

/// What a person wants done is the task of the run, also while other tasks are ready, and `no-tasks` does not end it.
#[test]
fn a_message_with_the_start_is_what_the_run_does() {
    let nothing = json!({ "step": "implement", "steps": [outcome("no-tasks")] });
    let mut fixture = RecipeFixture::scripted(&script(&[nothing]));
    let other = fixture.json(&["task", "add", "Fix the footer"])["task_id"].as_str().unwrap().to_owned();
    fixture.json(&["task", "hold", &other]);
    let started = fixture.json(&["recipe", "start", "implement-and-review", "--message", "Add a login page"]);
    let task = started["task_id"].as_str().unwrap().to_owned();
    assert_ne!(task, other);
    assert_eq!(fixture.task(&task)["title"], "Add a login page");
    fixture.up();
    fixture.wait_for_question(&task);
    let asked = fixture.task(&task)["question"]["text"].as_str().unwrap().to_owned();
    assert!(asked.starts_with("What should become of this task?"), "{asked}");
    let (_, prompt) = &fixture.prompts(&task)[0];
    assert!(prompt.contains("Add a login page") && !prompt.contains("no task is described here"), "{prompt}");
}

#[test]
fn a_message_with_the_start_comes_before_the_queue() {
    let fixture = RecipeFixture::scripted(&script(&good_agent()));
    let other = fixture.json(&["task", "add", "Fix the footer"])["task_id"].as_str().unwrap().to_owned();
    let started = fixture.json(&["recipe", "start", "implement-and-review", "--message", "Add a login page"]);
    assert_ne!(started["task_id"], other.as_str());
    assert_eq!(fixture.task(started["task_id"].as_str().unwrap())["title"], "Add a login page");
}

#[test]
fn no_tasks_criterion_6_the_other_outcomes_lead_where_they_did() {
    let mut fixture = RecipeFixture::scripted(&script(&good_agent()));
    let added = fixture.json(&["task", "add", "Fix the login"]);
    let task = fixture.start("implement-and-review");
    assert_eq!(added["task_id"], task.as_str(), "the run is bound to the task that is ready");
    fixture.up();
    fixture.wait_for_queue(&task, "provisional");
    insta::assert_snapshot!(fixture.summary(), @"
    started implement-and-review
      implement (1)
      implement → code-review
      code-review (2)
      code-review → commit
      commit (3)
    exited task-committed [completed]: Task implementation committed successfully
    ");
    assert_eq!(fixture.task(&task)["verified"]["commits"], 1);
}

#[test]
fn all_ready_tasks_are_done_one_by_one_until_none_is_left() {
    let mut fixture = RecipeFixture::scripted(&script(&good_agent()));
    let tasks: Vec<String> = ["First", "Second"]
        .iter()
        .map(|title| fixture.json(&["task", "add", title])["task_id"].as_str().unwrap().to_owned())
        .collect();
    fixture.start("implement-and-review-all");
    fixture.up();
    assert_eq!(fixture.exit_message()["reason"], "no-tasks-available");
    for task in &tasks {
        assert_eq!(fixture.wait_for_queue(task, "provisional")["verified"]["commits"], 1);
    }
    let bound = fixture
        .history()
        .into_iter()
        .filter(|recorded| matches!(recorded.event.body, EventBody::RunBound { .. }));
    assert_eq!(bound.count(), 2, "to the second task, and to one made for the last look");
    let exits = fixture.run_messages().into_iter().filter(|value| value["type"] == "recipe_exited").count();
    assert_eq!(exits, 1);
}

#[test]
fn every_ready_task_is_reviewed_although_other_agents_are_free() {
    let mut fixture = RecipeFixture::scripted(&script(&good_agent()));
    let settings = fixture.folder.join(".agent/baton.toml");
    let text = std::fs::read_to_string(&settings).unwrap().replace("max_agents = 1", "max_agents = 4");
    std::fs::write(&settings, text).unwrap();
    let tasks: Vec<String> = ["Alpha", "Beta", "Gamma"]
        .iter()
        .map(|title| fixture.json(&["task", "add", title])["task_id"].as_str().unwrap().to_owned())
        .collect();
    fixture.start("implement-and-review-all");
    fixture.up();
    assert_eq!(fixture.exit_message()["reason"], "no-tasks-available");
    for task in &tasks {
        let names: Vec<String> = fixture.prompts(task).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["001-implement.md", "002-code-review.md", "003-commit.md"], "{task}");
    }
}
