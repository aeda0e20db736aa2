//! What a loop leaves behind is true on every surface: where it is, how it ended, and what it found.

use serde_json::{Value, json};

use super::fixture::{LoopFixture, ONE_ROUND, discovered, script, stderr};
use super::stopping::{answer, busy_server, start};
use crate::engine::test_repo::TestRepo;
use crate::server::client;
use crate::server::test_server::TestServer;
use crate::server::websocket::Socket;

const LOOP: &str = "plan-execute-review";

/// Starts the loop with the form of the recipes page.
fn start_on_page(server: &TestServer, body: &str) {
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let path = format!("/recipes/{LOOP}/start");
    let started = client::send(&server.address, "POST", &path, &form, Some(body.as_bytes()));
    assert_eq!(started.status, 303, "{started:?}");
}

#[test]
fn the_end_of_a_loop_that_found_no_task_is_shown_as_that() {
    let server = busy_server(&[], "");
    start_on_page(&server, "session=mine");
    let mut listener = Socket::connected(&server.address);
    listener.send(&json!({ "type": "subscribe", "session_id": "mine", "last_seq": 0 }));
    let hub =
        listener.find(|message| message["type"] == "phase_changed" && message["to_phase"] == "hub").unwrap();
    assert_eq!(hub["decision"], "no_tasks", "{hub}");
    assert_eq!(hub["results"]["summary"]["iterations"], 0, "nothing was planned: {hub}");
    let run = server.read("/api/sessions/mine/recipe");
    assert_eq!((&run["reason"], &run["summary"]["iterations"]), (&json!("no-tasks-available"), &json!(0)));
    for path in ["/chat/mine", "/recipes"] {
        let page = server.get(path).body;
        assert!(page.contains("No tasks available to implement"), "{path}: {page}");
    }
}

#[test]
fn iterations_and_steps_are_counted_over_the_whole_loop() {
    let server = busy_server(&[], "");
    let mut listener = start(&server, "Build it");
    for question in [
        "Ready to execute?",
        "Execute: First part?",
        "Done: First part?",
        "Execute: Second part?",
        "Done: Second part?",
        "Ready for review?",
        "Add discovered tasks?",
        "Continue loop?",
    ] {
        answer(&server, &mut listener, question, "YES");
    }
    let asked = listener.find(|message| message["type"] == "question_asked").unwrap();
    assert!(asked["question"]["text"].as_str().unwrap().starts_with("Ready to execute?"), "{asked}");
    let run = server.read("/api/sessions/mine/recipe");
    assert_eq!((&run["iteration"], &run["step_count"]), (&json!(2), &json!(4)), "{run}");
    let page = server.get("/chat/mine").body;
    assert!(page.contains("iteration 2"), "{page}");
    let mut all = Socket::connected(&server.address);
    all.send(&json!({ "type": "subscribe", "session_id": "mine", "last_seq": 0 }));
    let steps = all.filter(|message| message["type"] == "recipe_step_started").take(4);
    let steps: Vec<(String, Value, Value)> = steps
        .map(|step| {
            (step["step"].as_str().unwrap().to_owned(), step["step_count"].clone(), step["iteration"].clone())
        })
        .collect();
    let wanted = [("plan", 1, 1), ("execute", 2, 1), ("review", 3, 1), ("plan", 4, 2)];
    assert_eq!(
        steps,
        wanted.map(|(step, count, iteration)| (step.to_owned(), json!(count), json!(iteration)))
    );
}

#[test]
fn a_loop_whose_planners_crash_says_how() {
    let repo = TestRepo::with_agent("exit 7\n", "");
    repo.add("Build it", &[]);
    let output = repo.output(&["loop"]);
    let printed = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert!(printed.contains("exited with code 7"), "{printed}");
    let run = repo.json(&["recipe", "runs"])["runs"][0].clone();
    assert_eq!((&run["reason"], &run["category"]), (&json!("orchestration-error"), &json!("error")), "{run}");
    assert!(run["error"].as_str().unwrap().contains("exited with code 7"), "{run}");
}

#[test]
fn discovered_tasks_that_are_open_already_are_skipped_by_name() {
    let mut all = script();
    let mut scenes = vec![json!({ "when": "# Review:", "steps": [
        { "say": discovered(&["Wash the dishes"]) },
        { "result": { "status": "COMPLETE", "output": "One thing." } },
    ] })];
    scenes.extend(all["scripts"].as_array().unwrap().clone());
    all["scripts"] = Value::Array(scenes);
    let fixture = LoopFixture::with(&all, "");
    fixture.add("Build it");
    fixture.add("Wash the dishes");
    let mut answers = ONE_ROUND[..6].to_vec();
    answers.push("NO");
    let output = fixture.run_with_answers(&[], &answers);
    let printed = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{printed}");
    assert!(printed.contains("Proposed, and open already: Wash the dishes"), "{printed}");
    assert!(printed.contains("(duplicates skipped: 1)"), "{printed}");
    assert!(!printed.contains("Add discovered tasks?"), "{printed}");
    assert_eq!(fixture.task_titled("Wash the dishes")["queue"], "incoming");
}

#[test]
fn a_loop_may_start_with_any_phase_on_every_surface() {
    let server = busy_server(&[], "");
    for phase in ["execute", "review"] {
        let rest = format!("rest-{phase}");
        let body = json!({ "recipe_id": LOOP, "from": phase });
        assert_eq!(server.post(&format!("/api/sessions/{rest}/recipe"), &body).status, 201);
        let socket = format!("socket-{phase}");
        let started = Socket::connected(&server.address).ask(json!({
            "type": "start_recipe", "session_id": socket, "recipe_id": LOOP, "from": phase,
            "working_directory": server.folder.display().to_string(),
        }));
        assert_eq!(started["type"], "ack", "{started}");
        let page = format!("page-{phase}");
        start_on_page(&server, &format!("session={page}&from={phase}"));
        for session in [rest, socket, page] {
            let run = server.read(&format!("/api/sessions/{session}/recipe"));
            assert_eq!(run["current_step"], phase, "{run}");
        }
    }
    let page = server.get("/recipes").body;
    assert!(page.contains("Start with"), "{page}");
    let refused = json!({ "recipe_id": "implement-and-review", "from": "review" });
    assert_eq!(server.post("/api/sessions/other/recipe", &refused).status, 400);
}
