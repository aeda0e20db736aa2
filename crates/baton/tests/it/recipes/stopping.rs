//! I22: an exit is an end. Work that was stopped is kept and marked, and nothing continues by itself.

use std::fs;

use serde_json::json;

use super::fixture::{RecipeFixture, looping, outcome, script};

fn with_other(id: &str) -> String {
    looping(id, "{}", "{ next_step: one }").replace("[again, stop]", "[again, stop, other]")
        + "      other: { exit: user-provided-other }\n"
}

fn other(words: &str) -> serde_json::Value {
    json!({ "outcome": { "outcome": "other", "description": words } })
}

#[test]
fn i22_work_that_was_stopped_is_marked_and_left_out_of_accept_all() {
    let mut fixture = RecipeFixture::shell("");
    let flags = fixture.folder.join("flags").display().to_string();
    let agent = format!("cat > /dev/null\necho half > half.txt\ntouch {flags}/started\ntail -f /dev/null\n");
    fs::write(fixture.folder.join("agent.sh"), agent).unwrap();
    fixture.recipe("round.yml", &with_other("round"));
    let task = fixture.json(&["task", "add", "Write it", "--recipe", "round"])["task_id"]
        .as_str()
        .unwrap()
        .to_owned();
    fixture.up();
    fixture.wait("the agent works", || fixture.flag("started").exists().then_some(()));
    fixture.json(&["recipe", "exit"]);
    let view = fixture.wait_for_queue(&task, "provisional");
    assert_eq!(view["reported"]["result"], "STOPPED");
    assert_eq!(view["needs_review"], json!(["stopped, not finished", "stopped by you"]));
    let left = fixture.json(&["accept", "--all"]);
    assert_eq!((&left["accepted"], &left["left_out"]), (&json!([]), &json!([task])));
    let refused = fixture.run(&["accept", &task]);
    assert_eq!(refused.status.code(), Some(4), "{}", String::from_utf8_lossy(&refused.stderr));
    assert_eq!(fixture.json(&["accept", &task, "--force"])["accepted"], json!([task]));
}

#[test]
fn i22_other_with_commits_ends_once_and_tells_the_agents_words() {
    let mut fixture = RecipeFixture::scripted(&script(&[json!({ "step": "one", "steps": [
        { "write": { "path": "a.txt", "text": "a\n" } }, { "commit": "Half of it" }, other("do not merge") ] })]));
    fixture.recipe("round.yml", &with_other("round"));
    let task = fixture.json(&["task", "add", "Write it", "--recipe", "round"])["task_id"]
        .as_str()
        .unwrap()
        .to_owned();
    fixture.up();
    let view = fixture.wait_for_queue(&task, "provisional");
    assert_eq!(view["needs_review"], json!(["stopped, not finished", "do not merge"]));
    assert_eq!(view["attempts"].as_array().unwrap().len(), 1);
    let shown = String::from_utf8(fixture.run(&["task", "show", &task]).stdout).unwrap();
    assert!(shown.contains("do not merge") && !shown.contains("Reported: complete"), "{shown}");
}

#[test]
fn i22_an_exit_without_commits_asks_and_is_not_run_again() {
    let mut fixture = RecipeFixture::scripted(&script(&[
        json!({ "when": "Ask about it", "steps": [other("The server is down.")] }),
        json!({ "when": "Look at it", "steps": [outcome("stop")] }),
    ]));
    fixture.recipe("round.yml", &with_other("round"));
    for (title, expected) in
        [("Ask about it", "The server is down."), ("Look at it", "ended without a commit")]
    {
        let task = fixture.json(&["task", "add", title, "--recipe", "round"])["task_id"]
            .as_str()
            .unwrap()
            .to_owned();
        if title == "Ask about it" {
            fixture.up();
        }
        let view = fixture.wait_for_question(&task);
        let text = view["question"]["text"].as_str().unwrap();
        assert!(text.contains(expected) && text.contains("What should become of this task?"), "{text}");
        assert_eq!(view["attempts"].as_array().unwrap().len(), 1, "{title}");
    }
}

#[test]
fn i22_no_tasks_for_a_task_that_names_the_recipe_asks_a_person() {
    let mut fixture = RecipeFixture::scripted(&script(&[json!({ "step": "implement", "steps": [
        { "outcome": { "outcome": "no-tasks", "description": "I looked; nothing there." } } ] })]));
    let task = fixture.json(&["task", "add", "Write it", "--recipe", "implement-and-review"]);
    let task = task["task_id"].as_str().unwrap().to_owned();
    fixture.up();
    let view = fixture.wait_for_question(&task);
    let text = view["question"]["text"].as_str().unwrap();
    assert!(text.contains("What should become of this task?"), "{text}");
    assert!(text.contains("I looked; nothing there."), "{text}");
    // NO starts nothing.
    fixture.json(&["task", "reply", &task, "NO"]);
    assert_eq!(fixture.task(&task)["held_because"], "stopped by you");
    let view = fixture.task(&task);
    assert_eq!(view["attempts"].as_array().unwrap().len(), 1);
}

#[test]
fn i22_a_run_stopped_before_it_began_leaves_its_task_held() {
    let fixture = RecipeFixture::scripted(&script(&[]));
    let task = fixture.json(&["task", "add", "Fix the login"])["task_id"].as_str().unwrap().to_owned();
    fixture.start("implement-and-review");
    fixture.json(&["recipe", "exit"]);
    assert_eq!(fixture.task(&task)["held_because"], "stopped by you");
    assert_eq!(fixture.json(&["task", "ready"])["tasks"], json!([]));
    fixture.json(&["task", "release", &task]);
    assert_eq!(fixture.json(&["task", "ready"])["tasks"][0]["task_id"], json!(task));
    fixture.json(&["task", "hold", &task, "--reason", "Not this week"]);
    assert_eq!(fixture.task(&task)["held_because"], "Not this week");
}

const GATED: &str = "id: gated\nlabel: Gated\ndescription: One gate\ninitial_step: one\nsteps:\n  one:\n    prompt: Go.\n    \
                     outcomes: [ready]\n    on_outcome: { ready: { exit: published } }\n    \
                     gate: { question: \"Publish it? [YES/NO]\", yes: ready }\n";

/// A run of its own whose agent has committed, if it is to, and waits at the gate.
fn at_gate(fixture: &mut RecipeFixture, text: &str) -> String {
    fixture.recipe("gated.yml", GATED);
    let started = fixture.json(&["recipe", "start", "gated", "--message", text]);
    let task = started["task_id"].as_str().unwrap().to_owned();
    fixture.up();
    fixture.wait_for_question(&task);
    task
}

#[test]
fn i22_work_of_a_run_stopped_at_its_gate_waits_for_review_marked_as_stopped() {
    for stop in
        [&["recipe", "exit"][..], &["task", "reply", "TASK", "stop"], &["task", "reply", "TASK", "Not now"]]
    {
        let mut fixture = RecipeFixture::scripted(&script(&[json!({ "step": "one", "steps": [
            { "write": { "path": "a.txt", "text": "a\n" } }, { "commit": "Half of it" }, outcome("ready") ] })]));
        let task = at_gate(&mut fixture, "Write the notes");
        let asked = fixture.task(&task)["question"]["text"].as_str().unwrap().to_owned();
        assert!(asked.contains("answer \"stop\""), "{asked}");
        let words: Vec<&str> =
            stop.iter().map(|word| if *word == "TASK" { task.as_str() } else { word }).collect();
        let stopped = fixture.run(&words);
        assert!(stopped.status.success(), "{stop:?}: {}", String::from_utf8_lossy(&stopped.stderr));
        let view = fixture.wait_for_queue(&task, "provisional");
        assert_eq!(view["needs_review"], json!(["stopped, not finished", "stopped by you"]), "{stop:?}");
        assert_eq!(view["verified"]["commits"], 1, "{stop:?}");
        assert_eq!(fixture.exit_message()["reason"], "user-requested", "{stop:?}");
        assert_eq!(fixture.prompts(&task).len(), 1, "no agent was started again: {stop:?}");
    }
}

#[test]
fn i22_a_run_stopped_at_its_gate_without_work_leaves_its_task_held() {
    for stop in [&["recipe", "exit"][..], &["task", "reply", "TASK", "stop"]] {
        let mut fixture =
            RecipeFixture::scripted(&script(&[json!({ "step": "one", "steps": [outcome("ready")] })]));
        let task = at_gate(&mut fixture, "Write the notes");
        let words: Vec<&str> =
            stop.iter().map(|word| if *word == "TASK" { task.as_str() } else { word }).collect();
        assert!(fixture.run(&words).status.success());
        let held = fixture.wait("the task is held", || {
            let view = fixture.task(&task);
            view["held_because"].is_string().then_some(view)
        });
        assert_eq!(held["held_because"], "stopped by you", "{stop:?}");
        assert!(held["question"].is_null(), "{stop:?}: {held}");
    }
}

#[test]
fn i22_a_run_told_what_to_do_and_stopped_in_its_first_step_leaves_its_task_held() {
    let mut fixture = RecipeFixture::shell("");
    let flags = fixture.folder.join("flags").display().to_string();
    fs::write(
        fixture.folder.join("agent.sh"),
        format!("cat > /dev/null\ntouch {flags}/started\ntail -f /dev/null\n"),
    )
    .unwrap();
    fixture.recipe("gated.yml", GATED);
    let started = fixture.json(&["recipe", "start", "gated", "--message", "Write the notes"]);
    let task = started["task_id"].as_str().unwrap().to_owned();
    fixture.up();
    fixture.wait("the agent works", || fixture.flag("started").exists().then_some(()));
    fixture.json(&["recipe", "exit"]);
    fixture
        .wait("the task is held", || (fixture.task(&task)["held_because"] == "stopped by you").then_some(()));
}

#[test]
fn a_run_without_a_message_that_is_stopped_while_no_server_runs_leaves_no_empty_task() {
    let mut fixture = RecipeFixture::shell("");
    let flags = fixture.folder.join("flags").display().to_string();
    fs::write(
        fixture.folder.join("agent.sh"),
        format!("cat > /dev/null\ntouch {flags}/started\ntail -f /dev/null\n"),
    )
    .unwrap();
    fixture.recipe("gated.yml", GATED);
    let task = fixture.start("gated");
    fixture.up();
    fixture.wait("the agent works", || fixture.flag("started").exists().then_some(()));
    fixture.end();
    fixture.json(&["recipe", "exit"]);
    assert_eq!(fixture.task(&task)["queue"], "rejected", "there is nothing to release");
}
