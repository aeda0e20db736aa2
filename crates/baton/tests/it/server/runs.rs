//! Runs of recipes and loops, as clients see them.

use serde_json::{Value, json};

use super::test_server::TestServer;
use super::websocket::Socket;

fn reports(outcome: &str, words: &str) -> Value {
    json!([{ "say": "I had a look." }, { "outcome": { "outcome": outcome, "description": words } }])
}

/// A server whose agent implements and finds nothing to do.
fn no_tasks() -> TestServer {
    let words = "I looked; nothing there.";
    TestServer::new(&json!([{ "step": "implement", "steps": reports("no-tasks", words) }])).start()
}

fn start(server: &TestServer, session: &str, more: &Value) -> Value {
    let mut body = json!({ "type": "start_recipe", "session_id": session, "recipe_id": "implement-and-review",
                           "working_directory": server.folder.display().to_string() });
    for (key, value) in more.as_object().unwrap() {
        body[key] = value.clone();
    }
    body
}

/// Waits until the session's run has ended; returns it.
fn ended(server: &TestServer, session: &str) -> Value {
    let mut listener = Socket::connected(&server.address);
    listener.send(&json!({ "type": "subscribe", "session_id": session, "last_seq": 0 }));
    listener.find(|message| message["type"] == "recipe_exited").unwrap();
    server.read(&format!("/api/sessions/{session}/recipe"))
}

fn printed(server: &TestServer, arguments: &[&str]) -> String {
    let output = server.command().args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn whoever_starts_a_recipe_gets_its_messages_without_subscribing() {
    let server = no_tasks();
    let mut person = Socket::connected(&server.address);
    let ack = person.ask(start(&server, "abc123", &json!({})));
    assert_eq!(ack["type"], "ack", "{ack}");
    let all: Vec<Value> = person.by_ref().take_while(|message| message["type"] != "recipe_exited").collect();
    let started = all.iter().find(|message| message["type"] == "recipe_started").unwrap();
    assert_eq!(
        (&started["run_id"], &started["iteration"], &started["task_id"]),
        (&ack["run_id"], &json!(1), &ack["task_id"])
    );
    assert!(all.iter().any(|message| message["type"] == "recipe_step_started"), "{all:?}");
    // Subscribed to another session, it still gets the messages of the one it starts.
    person.send(&json!({ "type": "subscribe", "session_id": "other", "last_seq": 0 }));
    assert_eq!(person.ask(start(&server, "second", &json!({})))["type"], "ack");
    let second = person.find(|message| message["type"] == "recipe_exited").unwrap();
    assert_eq!(second["session_id"], "second");
}

#[test]
fn a_start_over_the_socket_takes_a_message() {
    let server = no_tasks();
    let mut person = Socket::connected(&server.address);
    let ack = person.ask(start(&server, "abc123", &json!({ "message": "Greet everybody" })));
    let task = server.task(ack["task_id"].as_str().unwrap());
    assert_eq!(task["description"], "Greet everybody");
    let blank = person.ask(start(&server, "xyz", &json!({ "message": "  " })));
    assert_eq!((&blank["type"], &blank["error"]), (&json!("error"), &json!("INVALID_INPUT")));
}

#[test]
fn an_error_returns_the_id_of_its_request() {
    let server = TestServer::without_agents().start();
    let mut person = Socket::connected(&server.address);
    for (wrong, id) in [
        (json!({ "type": "start_recipe", "request_id": "a" }), json!("a")),
        (json!({ "type": "no_such_type", "request_id": 7 }), json!(7)),
        (json!({ "type": "exit_recipe", "session_id": "none", "request_id": "b" }), json!("b")),
    ] {
        person.send(&wrong);
        let error = person.next().unwrap();
        assert_eq!((&error["type"], &error["request_id"]), (&json!("error"), &id), "{error}");
    }
}

#[test]
fn a_run_and_its_end_are_visible_on_every_surface() {
    let server = no_tasks();
    let body = json!({ "recipe_id": "implement-and-review" });
    let started = server.post("/api/sessions/abc/recipe", &body).json();
    let run = ended(&server, "abc");
    let about = |run: &Value| {
        ["run_id", "recipe_id", "state", "reason", "category", "message", "iteration"]
            .map(|key| run[key].to_string())
    };
    assert_eq!(
        about(&run),
        about(&json!({
            "run_id": started["run_id"], "recipe_id": "implement-and-review", "state": "exited",
            "reason": "no-tasks-available", "category": "completed",
            "message": "No tasks available to implement", "iteration": 1,
        }))
    );
    assert_eq!(run["last_outcome"]["words"], "I looked; nothing there.");
    let id = run["run_id"].as_str().unwrap();
    assert_eq!(server.read(&format!("/api/runs/{id}")), run);
    assert_eq!(server.read("/api/runs?session_id=abc")["runs"], json!([run]));
    assert_eq!(server.read("/api/runs?state=open")["runs"], json!([]));
    assert_eq!(server.get("/api/runs/RUN-00000000").status, 404);
    assert_eq!(server.get("/api/sessions/never/recipe").status, 404);
    let task = run["task_id"].as_str().unwrap();
    assert_eq!(server.task(task)["run"], run);
    assert_eq!(server.task(task)["recipe_id"], "implement-and-review");
    let listed: Value = serde_json::from_str(&printed(&server, &["--json", "recipe", "runs"])).unwrap();
    assert_eq!(listed["runs"], json!([run]));
    for text in [
        printed(&server, &["recipe", "runs"]),
        printed(&server, &["task", "show", task]),
        server.get(&format!("/tasks/{task}")).body,
        server.get("/recipes").body,
        server.get("/chat/abc").body,
    ] {
        assert!(text.contains("No tasks available to implement"), "{text}");
    }
    for text in [printed(&server, &["task", "show", task]), server.get("/recipes").body] {
        assert!(text.contains("I looked; nothing there."), "{text}");
    }
}

#[test]
fn a_run_can_be_followed_to_its_end() {
    let server = no_tasks();
    let follow = server.command().args(["recipe", "start", "implement-and-review", "--follow"]).output();
    let follow = follow.unwrap();
    let (out, told) = (String::from_utf8(follow.stdout).unwrap(), String::from_utf8(follow.stderr).unwrap());
    assert!(follow.status.success(), "{told}");
    assert_eq!(out, "No tasks available to implement\n");
    assert!(told.contains("Step 1: implement") && told.contains("baton recipe follow"), "{told}");
    assert_eq!(printed(&server, &["recipe", "follow"]), "No tasks available to implement\n");
    let lines = printed(&server, &["--json", "recipe", "follow"]);
    let last: Value = serde_json::from_str(lines.trim()).unwrap();
    assert_eq!(last["run"]["reason"], "no-tasks-available");
}

#[test]
fn following_a_run_that_fails_is_a_failure() {
    let script = json!([{ "step": "implement", "steps": [{ "say": "{\"outcome\": \"finished\"}" }] }]);
    let server = TestServer::new(&script).start();
    let follow =
        server.command().args(["recipe", "start", "implement-and-review", "--follow"]).output().unwrap();
    let told = String::from_utf8(follow.stderr).unwrap();
    assert_eq!(follow.status.code(), Some(1), "{told}");
    assert!(
        told.contains("The agent did not report a usable outcome") && told.contains("finished"),
        "{told}"
    );
}

#[test]
fn a_recipe_tells_the_outcomes_of_its_steps() {
    let server = TestServer::without_agents().start();
    let recipe = server.read("/api/recipes/implement-and-review");
    assert_eq!((&recipe["id"], &recipe["recipe_id"]), (&recipe["recipe_id"], &json!("implement-and-review")));
    let of = |outcome: &str| {
        let all = recipe["outcomes"].as_array().unwrap();
        all.iter().find(|one| one["step"] == "implement" && one["outcome"] == outcome).unwrap().clone()
    };
    assert_eq!(of("complete")["next_step"], "code-review");
    let no_tasks = of("no-tasks");
    assert_eq!(
        (&no_tasks["exit"], &no_tasks["category"]),
        (&json!("no-tasks-available"), &json!("completed"))
    );
    let mut client = Socket::connected(&server.address);
    let listed = client.ask(json!({ "type": "get_available_recipes" }));
    let same = listed["recipes"].as_array().unwrap().iter().find(|one| one["id"] == recipe["id"]).unwrap();
    assert_eq!(*same, recipe);
    let missing = server.get("/api/recipes/implement-and-revue");
    assert_eq!(missing.status, 404);
    assert!(missing.body.contains("did you mean implement-and-review?"), "{missing:?}");
}

#[test]
fn a_broken_recipe_file_is_reported_on_every_surface() {
    let server = TestServer::without_agents();
    let recipes = server.folder.join(".agent/recipes");
    std::fs::create_dir_all(&recipes).unwrap();
    std::fs::write(recipes.join("iar.yml"), "id: implement-and-review\nsteps: [\n").unwrap();
    std::fs::write(recipes.join("tidy.yml"), "id: tidy\nlabel: [\n").unwrap();
    let server = server.start();
    let listed = server.read("/api/recipes");
    let faults = listed["faults"].to_string();
    assert!(faults.contains("iar.yml:") && faults.contains("tidy.yml:"), "{faults}");
    let overridden = server.read("/api/recipes/implement-and-review")["faults"].to_string();
    assert!(overridden.contains("iar.yml:"), "{overridden}");
    let page = server.get("/recipes").body;
    assert!(page.contains("iar.yml:") && page.contains("tidy.yml:"), "{page}");
    let doctor = server.command().args(["doctor"]).output().unwrap();
    let doctor = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(doctor.contains("iar.yml:") && doctor.contains("tidy.yml:"), "{doctor}");
    let started = server.command().args(["recipe", "start", "implement-and-review"]).output().unwrap();
    let told = String::from_utf8(started.stderr).unwrap();
    assert!(started.status.success() && told.contains("iar.yml:"), "{told}");
    let missing = server.command().args(["recipe", "start", "tidy"]).output().unwrap();
    let told = String::from_utf8(missing.stderr).unwrap();
    assert!(
        !missing.status.success() && told.contains("its file has an error") && told.contains("tidy.yml:"),
        "{told}"
    );
}

#[test]
fn answered_questions_can_be_listed_by_that_word() {
    let server = TestServer::without_agents().start();
    assert_eq!(server.read("/api/questions?state=answered")["questions"], json!([]));
}

#[test]
fn a_run_that_found_no_task_is_not_shown_as_complete_work() {
    let server = no_tasks();
    server.post("/api/sessions/abc/recipe", &json!({ "recipe_id": "implement-and-review" }));
    let task = ended(&server, "abc")["task_id"].as_str().unwrap().to_owned();
    let view = server.wait_for_queue(&task, "done");
    assert_eq!(view["reported"]["result"], "NO_CHANGES", "{view:#}");
    assert_eq!(view["reported"]["reason"], "I looked; nothing there.", "its own words: {view:#}");
    let shown = printed(&server, &["task", "show", &task]);
    assert!(shown.contains("Reported: no changes") && !shown.contains("Reported: complete"), "{shown}");
    let page = server.get(&format!("/tasks/{task}")).body;
    assert!(page.contains("I looked; nothing there."), "{page}");
    let board = server.get("/board").body;
    assert!(!board.contains(&task), "it was nobody's work: {board}");
}

#[test]
fn an_ended_run_whose_task_waits_for_an_answer_is_for_you_on_the_recipes_page() {
    let server = no_tasks();
    let body = json!({ "title": "Fix the login", "recipe": "implement-and-review" });
    let task = server.post("/api/tasks", &body).json()["task_id"].as_str().unwrap().to_owned();
    server.wait_for_status(&task, "AWAITING_RESPONSE");
    let page = server.get("/recipes").body;
    let ended = page.split("id=\"recent-runs\"").nth(1).unwrap_or_else(|| panic!("{page}"));
    let ended = ended.split("</section>").next().unwrap();
    assert!(ended.contains(&task) && ended.contains("for you") && !ended.contains("completed"), "{ended}");
}
