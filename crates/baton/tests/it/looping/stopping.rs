//! I22: what a person stopped or left open in a loop stays theirs, although agents are free to take work.

use std::time::Duration;

use serde_json::{Value, json};

use super::fixture::script;
use crate::server::client;
use crate::server::test_server::TestServer;
use crate::server::websocket::Socket;

/// A server with agents for the loop and for the queue.
pub(crate) fn busy_server(scripts: &[Value], settings: &str) -> TestServer {
    let all = script();
    let mut all_scripts = scripts.to_vec();
    all_scripts.extend(all["scripts"].as_array().unwrap().clone());
    all_scripts.push(json!({ "steps": all["otherwise"].clone() }));
    let server = TestServer::new(&Value::Array(all_scripts));
    let path = server.folder.join(".agent/baton.toml");
    let own = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, own + settings).unwrap();
    server.start()
}

/// Starts the loop on the session `mine`; returns a listener to its messages.
pub(crate) fn start(server: &TestServer, goal: &str) -> Socket {
    let body = json!({ "recipe_id": "plan-execute-review", "message": goal });
    assert_eq!(server.post("/api/sessions/mine/recipe", &body).status, 201);
    let mut listener = Socket::connected(&server.address);
    listener.send(&json!({ "type": "subscribe", "session_id": "mine", "last_seq": 0 }));
    listener
}

fn stop(server: &TestServer) {
    let ended = client::send(&server.address, "DELETE", "/api/sessions/mine/recipe", &[], None);
    assert_eq!(ended.status, 200, "{ended:?}");
}

/// Answers the next question, which must begin like this.
pub(crate) fn answer(server: &TestServer, listener: &mut Socket, question: &str, answer: &str) {
    let asked = listener.find(|message| message["type"] == "question_asked").unwrap();
    let text = asked["question"]["text"].as_str().unwrap();
    assert!(text.starts_with(question), "{text}");
    let id = asked["question"]["id"].as_str().unwrap();
    let answered = server.post(&format!("/api/questions/{id}/answer"), &json!({ "answer": answer }));
    assert_eq!(answered.status, 200, "{answered:?}");
}

pub(crate) fn titled(server: &TestServer, title: &str) -> Value {
    let tasks = server.read("/api/tasks?session_id=mine");
    let all = tasks["tasks"].as_array().unwrap();
    all.iter().find(|task| task["title"] == title).unwrap_or_else(|| panic!("{title}: {tasks}")).clone()
}

/// Runs another task to its end, so that the agents had every chance to take the first one.
fn let_agents_work(server: &TestServer) {
    let added = server.post("/api/tasks", &json!({ "title": "Something else", "session_id": "other" }));
    server.wait_for_queue(added.json()["task_id"].as_str().unwrap(), "provisional");
}

#[test]
fn i22_a_loop_stopped_at_its_gate_holds_the_task_until_it_is_released() {
    let server = busy_server(&[], "");
    let mut listener = start(&server, "Build it");
    listener.find(|message| message["type"] == "question_asked").unwrap();
    stop(&server);
    let_agents_work(&server);
    let held = titled(&server, "Build it");
    assert_eq!((&held["queue"], &held["held_because"]), (&json!("incoming"), &json!("stopped by you")));
    let id = held["task_id"].as_str().unwrap();
    assert_eq!(server.task(id)["attempts"], json!([]));
    // The command line and the page say how it continues.
    let shown = server.command().args(["task", "show", id]).output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains(&format!("Held: stopped by you. Release it: baton task release {id}")), "{shown}");
    let page = server.get(&format!("/tasks/{id}"));
    let page = page.body;
    assert!(page.contains("stopped by you") && page.contains(&format!("/tasks/{id}/do/release")), "{page}");
    assert!(server.command().args(["task", "release", id]).status().unwrap().success());
    server.wait_for_queue(id, "provisional");
}

#[test]
fn i22_a_task_whose_planning_fails_is_held() {
    let silent = json!({ "when": "# Plan:", "steps": [
        { "result": { "status": "COMPLETE", "output": "I do not know." } } ] });
    let server = busy_server(&[silent], "");
    let mut listener = start(&server, "Build it");
    let exited = listener.find(|message| message["type"] == "recipe_exited").unwrap();
    assert_eq!(exited["reason"], "orchestration-error");
    let_agents_work(&server);
    let held = titled(&server, "Build it");
    let why = held["held_because"].as_str().unwrap_or_default();
    assert!(why.starts_with("the loop ended: the planning agents submitted no rubric"), "{held}");
}

#[test]
fn i22_a_loop_that_nobody_answers_holds_the_task() {
    let server = busy_server(&[], "[asking]\nunattended = \"fail\"\n");
    let mut listener = start(&server, "Build it");
    let exited = listener.find(|message| message["type"] == "recipe_exited").unwrap();
    assert_eq!((&exited["reason"], &exited["category"]), (&json!("unanswered"), &json!("completed")));
    let_agents_work(&server);
    let held = titled(&server, "Build it");
    assert_eq!(held["held_because"], "the loop ended: Stopped: nobody answered a question");
}

#[test]
fn i22_stopping_a_loop_ends_the_agent_of_its_subtask() {
    let hangs = json!({ "when": "First part", "steps": ["hang"] });
    let server =
        busy_server(&[json!({ "when": "# Plan:", "steps": script()["scripts"][2]["steps"] }), hangs], "");
    let mut listener = start(&server, "Build it");
    answer(&server, &mut listener, "Ready to execute?", "YES");
    answer(&server, &mut listener, "Execute: First part?", "YES");
    let first = titled(&server, "First part")["task_id"].as_str().unwrap().to_owned();
    server.wait_for_queue(&first, "claimed");
    stop(&server);
    let held = server.wait_for_queue(&first, "incoming");
    assert_eq!(held["held_because"], "stopped by you");
    let second = titled(&server, "Second part");
    assert_eq!(second["held_because"], "stopped by you");
    let_agents_work(&server);
    assert_eq!(server.task(&first)["attempts"].as_array().unwrap().len(), 1);
}

#[test]
fn i22_stopping_a_planner_ends_it_and_its_loop_for_good() {
    let server = busy_server(&[json!({ "when": "# Plan:", "steps": ["hang"] })], "");
    let _listener = start(&server, "Build it");
    let claimed = || server.read("/api/tasks?queue=claimed");
    let is_planned = || claimed()["tasks"].to_string().contains("Plan: Build it");
    crate::wait::until(Duration::from_mins(2), is_planned, || claimed().to_string());
    let planner = titled(&server, "Plan: Build it")["task_id"].as_str().unwrap().to_owned();
    let held = server.post(&format!("/api/tasks/{planner}/hold"), &json!({ "reason": "stopped by you" }));
    assert_eq!(held.status, 200, "{held:?}");
    // What it would hand in has nobody to take it.
    server.wait_for_queue(&planner, "rejected");
    assert_eq!(server.task(&planner)["role"], "plan");
    let_agents_work(&server);
    assert_eq!(server.task(&planner)["attempts"].as_array().unwrap().len(), 1);
}

#[test]
fn planners_that_failed_leave_nothing_to_retry_behind() {
    let fails =
        json!({ "when": "# Plan:", "steps": [{ "result": { "status": "ERROR", "output": "It broke." } }] });
    let server = busy_server(&[fails], "");
    let mut listener = start(&server, "Build it");
    let exited = listener.find(|message| message["type"] == "recipe_exited").unwrap();
    assert_eq!(exited["reason"], "orchestration-error");
    let planners = || {
        let tasks = server.read("/api/tasks?session_id=mine")["tasks"].clone();
        let of = |task: &&Value| task["title"] == "Plan: Build it";
        let queues = tasks.as_array().unwrap().iter().filter(of).map(|task| task["queue"].clone());
        queues.collect::<Vec<Value>>()
    };
    let are_over = || planners().len() == 3 && planners().iter().all(|queue| *queue == "rejected");
    crate::wait::until(Duration::from_mins(2), are_over, || format!("{:?}", planners()));
    let inbox = server.command().args(["questions"]).output().unwrap();
    let inbox = String::from_utf8(inbox.stdout).unwrap();
    assert!(!inbox.contains("Plan: Build it"), "{inbox}");
}

#[test]
fn a_subtask_that_a_person_holds_keeps_their_reason() {
    let hangs = json!({ "when": "First part", "steps": ["hang"] });
    let server =
        busy_server(&[json!({ "when": "# Plan:", "steps": script()["scripts"][2]["steps"] }), hangs], "");
    let mut listener = start(&server, "Build it");
    answer(&server, &mut listener, "Ready to execute?", "YES");
    answer(&server, &mut listener, "Execute: First part?", "YES");
    let first = titled(&server, "First part")["task_id"].as_str().unwrap().to_owned();
    server.wait_for_queue(&first, "claimed");
    let held = server.post(&format!("/api/tasks/{first}/hold"), &json!({ "reason": "not this week" }));
    assert_eq!(held.status, 200, "{held:?}");
    let held = server.wait_for_queue(&first, "incoming");
    assert_eq!(held["held_because"], "not this week", "{held}");
    let asked = listener.find(|message| message["type"] == "question_asked").unwrap();
    let text = asked["question"]["text"].as_str().unwrap();
    assert!(text.starts_with("Done: First part?") && text.contains("not this week"), "{text}");
}

#[test]
fn i22_a_loop_owns_the_tasks_it_discovered() {
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
    ] {
        answer(&server, &mut listener, question, "YES");
    }
    let_agents_work(&server);
    assert_eq!(titled(&server, "Add docs")["held_because"], "the loop discovered it");
    // YES plans one of them in the next iteration.
    answer(&server, &mut listener, "Continue loop?", "YES");
    let asked = listener.find(|message| message["type"] == "question_asked").unwrap();
    let text = asked["question"]["text"].as_str().unwrap();
    // All were discovered at the same moment, so any may come first.
    let is_discovered = ["Add docs", "Wash the dishes"].iter().any(|title| text.contains(title));
    assert!(text.starts_with("Ready to execute?") && is_discovered, "{text}");
}

#[test]
fn the_hub_shows_the_summary_of_a_loop_that_ended() {
    let server = busy_server(&[], "");
    let mut listener = start(&server, "Build it");
    answer(&server, &mut listener, "Ready to execute?", "YES");
    for part in ["First part", "Second part"] {
        answer(&server, &mut listener, &format!("Execute: {part}?"), "YES");
        answer(&server, &mut listener, &format!("Done: {part}?"), "YES");
    }
    answer(&server, &mut listener, "Ready for review?", "YES");
    answer(&server, &mut listener, "Add discovered tasks?", "YES");
    answer(&server, &mut listener, "Continue loop?", "NO");
    let hub =
        listener.find(|message| message["type"] == "phase_changed" && message["to_phase"] == "hub").unwrap();
    assert_eq!((&hub["decision"], &hub["iteration"]), (&json!("no"), &json!(1)));
    assert_eq!(hub["results"]["summary"]["tasks_completed"], 2);
    assert_eq!(hub["options"], json!(["new_session", "view_results", "edit_tasks"]));
    let run = server.read("/api/sessions/mine/recipe");
    assert_eq!((&run["reason"], &run["summary"]), (&json!("loop-complete"), &hub["results"]["summary"]));
    let page = server.get("/chat/mine").body;
    for shown in ["Build it", "New session", "View results", "Edit tasks", "Tasks completed"] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    // The page's button starts a new loop on the same session, which plans what this one discovered.
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let again = client::send(
        &server.address,
        "POST",
        "/recipes/plan-execute-review/start",
        &form,
        Some(b"session=mine"),
    );
    assert_eq!(again.status, 303, "{again:?}");
    answer(&server, &mut listener, "Ready to execute?", "DONE");
    assert_eq!(server.read("/api/sessions/mine/recipe")["reason"], "user-requested");
}

#[test]
fn i22_stop_to_an_agent_of_the_loop_ends_the_loop() {
    let asks = json!({ "when": "# Plan:", "resumed": false, "steps": [{ "ask": { "question": "Which secret colour?" } }] });
    let server = busy_server(&[asks], "");
    let mut listener = start(&server, "Build it");
    answer(&server, &mut listener, "Which secret colour?", "stop");
    let exited = listener.find(|message| message["type"] == "recipe_exited").unwrap();
    assert_eq!(exited["reason"], "user-requested", "{exited}");
    let_agents_work(&server);
    let held = titled(&server, "Build it");
    assert_eq!(held["held_because"], "stopped by you", "{held}");
    let planners = server.read("/api/tasks?session_id=mine");
    let planners = planners["tasks"].as_array().unwrap();
    let planners = planners.iter().filter(|task| task["title"].as_str().unwrap().starts_with("Plan:"));
    assert_eq!(planners.count(), 1, "no other planner");
}

#[test]
fn i22_the_next_iteration_leaves_what_a_person_holds() {
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
    ] {
        answer(&server, &mut listener, question, "YES");
    }
    for title in ["Add docs", "Wash the dishes"] {
        let id = titled(&server, title)["task_id"].as_str().unwrap().to_owned();
        let held =
            server.command().args(["task", "hold", &id, "--reason", "I do this one"]).output().unwrap();
        assert!(held.status.success(), "{held:?}");
    }
    answer(&server, &mut listener, "Continue loop?", "YES");
    let exited = listener.find(|message| message["type"] == "recipe_exited").unwrap();
    assert_eq!(exited["reason"], "no-tasks-available", "{exited}");
    assert_eq!(titled(&server, "Add docs")["held_because"], "I do this one");
}

#[test]
fn i22_a_new_loop_leaves_what_a_person_holds() {
    let server = busy_server(&[], "");
    let added = server.post("/api/tasks", &json!({ "title": "Not this one", "session_id": "mine" }));
    let id = added.json()["task_id"].as_str().unwrap().to_owned();
    let held = server.command().args(["task", "hold", &id, "--reason", "Next week"]).status().unwrap();
    assert!(held.success());
    let body = json!({ "recipe_id": "plan-execute-review" });
    assert_eq!(server.post("/api/sessions/mine/recipe", &body).status, 201);
    let mut listener = Socket::connected(&server.address);
    listener.send(&json!({ "type": "subscribe", "session_id": "mine", "last_seq": 0 }));
    let exited = listener.find(|message| message["type"] == "recipe_exited").unwrap();
    assert_eq!(exited["reason"], "no-tasks-available", "{exited}");
    assert_eq!(titled(&server, "Not this one")["held_because"], "Next week");
}

/// Two ready tasks and a run that works through them, the first at work.
fn working_through() -> (TestServer, [String; 2]) {
    let hangs = json!({ "when": "First", "steps": ["hang"] });
    let server = TestServer::new(&json!([hangs]));
    let add = |title: &str| {
        let added = server.command().args(["--json", "task", "add", title]).output().unwrap();
        let added: Value = serde_json::from_slice(&added.stdout).unwrap();
        added["task_id"].as_str().unwrap().to_owned()
    };
    let tasks = [add("First"), add("Second")];
    let start = ["recipe", "start", "implement-and-review-all", "--session", "mine"];
    let started = server.command().args(start).output().unwrap();
    assert!(started.status.success(), "{started:?}");
    let server = server.start();
    server.wait_for_queue(&tasks[0], "claimed");
    (server, tasks)
}

#[test]
fn i22_stopping_a_run_that_owns_the_queue_starts_nothing_else_of_it() {
    for how in ["hold", "cancel", "exit"] {
        let (server, [first, second]) = working_through();
        match how {
            "exit" => stop(&server),
            verb => {
                let stopped = server.post(&format!("/api/tasks/{first}/{verb}"), &json!({}));
                assert_eq!(stopped.status, 200, "{stopped:?}");
            }
        }
        let why = || server.task(&second)["held_because"].clone();
        let is_held = || why() == "the run that was to take it was stopped by you";
        crate::wait::until(Duration::from_mins(2), is_held, || format!("{how}: {}", why()));
        assert_eq!(server.task(&second)["attempts"], json!([]), "{how}");
        // A run that is started again takes it up.
        let body = json!({ "recipe_id": "implement-and-review-all" });
        let again = || server.post("/api/sessions/again/recipe", &body).status == 201;
        crate::wait::until(Duration::from_mins(2), again, || how.to_owned());
        let has_begun = || server.task(&second)["attempts"].as_array().unwrap().len() == 1;
        crate::wait::until(Duration::from_mins(2), has_begun, || format!("{how}: {}", server.task(&second)));
    }
}
