//! The loop is the same whether it is started by its command, as a recipe, over REST or over the WebSocket.

use serde_json::{Value, json};

use super::fixture::{LoopFixture, one_round, script, stderr};
use crate::server::client;
use crate::server::test_server::TestServer;
use crate::server::websocket::Socket;

/// The phases, questions and exit in the messages of a session.
fn summarize(messages: &[Value]) -> Vec<String> {
    let line = |message: &Value| {
        let field = |key: &str| message[key].as_str().unwrap_or_default().to_owned();
        match message["type"].as_str().unwrap() {
            "recipe_started" => Some(format!("started {} at {}", field("recipe_id"), field("current_step"))),
            "recipe_step_transition" => Some(format!("{} → {}", field("from_step"), field("to_step"))),
            "question_asked" => {
                let text = message["question"]["text"].as_str().unwrap_or_default();
                Some(format!("? {}", text.lines().next().unwrap_or_default()))
            }
            "recipe_exited" => Some(format!("exited {} [{}]", field("reason"), field("category"))),
            _ => None,
        }
    };
    messages.iter().filter_map(line).collect()
}

/// Everything sent to the session until its recipe exits. Each question is answered over the socket.
fn answered_over_the_socket(server: &TestServer, session: &str, answers: &[&str]) -> Vec<Value> {
    let mut answers = answers.iter();
    let mut listener = Socket::connected(&server.address);
    listener.send(&json!({ "type": "subscribe", "session_id": session, "last_seq": 0 }));
    let mut person = Socket::connected(&server.address);
    let mut messages = Vec::new();
    for message in listener {
        let kind = message["type"].as_str().unwrap().to_owned();
        if kind == "question_asked" {
            let answer = answers.next().expect("an answer to every question");
            let id = &message["question"]["id"];
            let taken = person.ask(json!({ "type": "answer", "question_id": id, "answer": answer }));
            assert_eq!(taken["type"], "ack", "{taken}");
        }
        messages.push(message);
        if kind == "recipe_exited" {
            return messages;
        }
    }
    panic!("the loop did not end: {messages:?}")
}

const ROUND: [&str; 12] = [
    "started plan-execute-review at plan",
    "? Ready to execute? [YES/NO]",
    "plan → execute",
    "? Execute: First part? [YES/NO/HELP]",
    "? Done: First part? [YES/NO/FAILED]",
    "? Execute: Second part? [YES/NO/HELP]",
    "? Done: Second part? [YES/NO/FAILED]",
    "? Ready for review? [YES/NO]",
    "execute → review",
    "? Add discovered tasks? [YES/NO/EDIT]",
    "? Continue loop? [YES/NO]",
    "exited loop-complete [completed]",
];

/// A server whose agents work for the loop and not on the queue.
fn loop_server() -> TestServer {
    let all = script();
    let mut scripts = all["scripts"].as_array().unwrap().clone();
    scripts.push(json!({ "steps": all["otherwise"].clone() }));
    let server = TestServer::new(&Value::Array(scripts));
    let path = server.folder.join(".agent/baton.toml");
    let settings = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, settings + "[roles.implement]\nmax = 0\n").unwrap();
    server
}

#[test]
fn the_loop_runs_over_rest() {
    let server = loop_server().start();
    let body = json!({ "recipe_id": "plan-execute-review", "message": "Build it\nas well as you can" });
    let started = server.post("/api/sessions/mine/recipe", &body);
    assert_eq!(started.status, 201, "{started:?}");
    let messages = answered_over_the_socket(&server, "mine", &one_round("NO"));
    assert_eq!(summarize(&messages), ROUND);
    // The message became a task, which its parts replaced.
    let tasks = server.read("/api/tasks?session_id=mine");
    let subject = tasks["tasks"].as_array().unwrap().iter().find(|task| task["title"] == "Build it").unwrap();
    assert_eq!(subject["queue"], "recycled");
}

#[test]
fn a_loop_started_at_a_later_phase_tells_of_no_phase_before_it() {
    let server = loop_server().start();
    for phase in ["execute", "review"] {
        let body = json!({ "recipe_id": "plan-execute-review", "from": phase });
        assert_eq!(server.post(&format!("/api/sessions/{phase}/recipe"), &body).status, 201);
        let run = server.read(&format!("/api/sessions/{phase}/recipe"));
        assert_eq!(run["current_step"], phase, "{run}");
        assert_eq!((&run["step_count"], &run["last_outcome"]), (&json!(1), &Value::Null), "{run}");
    }
}

#[test]
fn a_conversation_whose_loop_waits_at_a_gate_waits_for_you() {
    let server = loop_server().start();
    let body = json!({ "recipe_id": "plan-execute-review", "from": "review" });
    assert_eq!(server.post("/api/sessions/mine/recipe", &body).status, 201);
    let mut listener = Socket::connected(&server.address);
    listener.send(&json!({ "type": "subscribe", "session_id": "mine", "last_seq": 0 }));
    listener.find(|message| message["type"] == "question_asked").unwrap();
    let page = server.get("/chat").body;
    let row =
        page.split("id=\"s-mine\"").nth(1).unwrap_or_else(|| panic!("{page}")).split("</a>").next().unwrap();
    assert!(row.contains("Waiting for you"), "{row}");
    assert!(row.contains("Review: iteration 1") && !row.contains("review phase"), "{row}");
}

#[test]
fn the_loop_runs_over_the_websocket() {
    let server = loop_server().start();
    assert_eq!(server.post("/api/tasks", &json!({ "title": "Build it" })).status, 201);
    let mut person = Socket::connected(&server.address);
    let start = json!({
        "type": "start_recipe",
        "session_id": "abc123",
        "recipe_id": "plan-execute-review",
        "working_directory": server.folder.display().to_string(),
    });
    let started = person.ask(start.clone());
    assert_eq!(started["type"], "ack", "{started}");
    let again = person.ask(start);
    assert!(again["message"].as_str().unwrap().contains("already runs plan-execute-review"), "{again}");
    let messages = answered_over_the_socket(&server, "abc123", &one_round("NO"));
    assert_eq!(summarize(&messages), ROUND);
}

#[test]
fn an_empty_queue_exits_with_the_same_message_as_every_recipe() {
    let server = loop_server().start();
    server.post("/api/sessions/abc123/recipe", &json!({ "recipe_id": "plan-execute-review" }));
    let messages = answered_over_the_socket(&server, "abc123", &[]);
    let mut exited = messages.last().unwrap().clone();
    exited.as_object_mut().unwrap().remove("seq");
    assert_eq!(
        exited,
        json!({
            "type": "recipe_exited",
            "session_id": "abc123",
            "reason": "no-tasks-available",
            "category": "completed",
            "message": "No tasks available to implement",
        })
    );
}

#[test]
fn exit_recipe_returns_the_loop_to_the_hub_and_withdraws_its_question() {
    let server = loop_server().start();
    let body = json!({ "recipe_id": "plan-execute-review", "message": "Build it" });
    server.post("/api/sessions/mine/recipe", &body);
    let mut listener = Socket::connected(&server.address);
    listener.send(&json!({ "type": "subscribe", "session_id": "mine", "last_seq": 0 }));
    listener.find(|message| message["type"] == "question_asked").unwrap();
    let ended = client::send(&server.address, "DELETE", "/api/sessions/mine/recipe", &[], None);
    assert_eq!((ended.status, &ended.json()["state"]), (200, &json!("exited")), "{ended:?}");
    let exited = listener.find(|message| message["type"] == "recipe_exited").unwrap();
    assert_eq!((&exited["reason"], &exited["category"]), (&json!("user-requested"), &json!("completed")));
    let pending = server.read("/api/questions?state=pending");
    assert!(pending["questions"].as_array().unwrap().is_empty(), "{pending}");
    // The loop can be started again.
    let body = json!({ "recipe_id": "plan-execute-review", "message": "Build it again" });
    assert_eq!(server.post("/api/sessions/mine/recipe", &body).status, 201);
}

#[test]
fn a_loop_started_as_a_recipe_continues_in_the_terminal() {
    let fixture = LoopFixture::new();
    fixture.add("Build it");
    let started = fixture.repo.json(&["recipe", "start", "plan-execute-review"]);
    assert_eq!(
        (&started["recipe_id"], &started["current_step"]),
        (&json!("plan-execute-review"), &json!("plan"))
    );
    let refused = fixture.repo.output(&["recipe", "start", "plan-execute-review"]);
    assert_eq!(refused.status.code(), Some(4), "{}", stderr(&refused));
    let output = fixture.run_with_answers(&[], &one_round("NO"));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("Continuing the loop in its plan phase."), "{}", stderr(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("Tasks completed: 2"), "{output:?}");
}

#[test]
fn a_task_cannot_name_the_loop_as_its_recipe() {
    let fixture = LoopFixture::new();
    let refused = fixture.repo.output(&["task", "add", "Build it", "--recipe", "plan-execute-review"]);
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("runs on a session"), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("baton recipe start plan-execute-review"), "{}", stderr(&refused));
    let server = loop_server().start();
    let body = json!({ "title": "Build it", "recipe": "plan-execute-review" });
    assert_eq!(server.post("/api/tasks", &body).error(), (400, "INVALID_INPUT".to_owned()));
}

#[test]
fn an_override_may_change_prompts_but_not_gates() {
    let fixture = LoopFixture::new();
    let built_in = fixture.repo.json(&["recipe", "show", "plan-execute-review"]);
    let mut mine = built_in.clone();
    mine["steps"]["plan"]["prompt"] = "Plan it the way we do here.".into();
    let folder = fixture.repo.folder.join(".agent/recipes");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("loop.yml"), mine.to_string()).unwrap();
    assert!(fixture.repo.output(&["recipe", "check"]).status.success());
    fixture.add("Build it");
    assert_eq!(fixture.run_with_answers(&[], &[]).status.code(), Some(10));
    assert!(fixture.prompts("Plan:")[0].contains("Plan it the way we do here."));
    mine["steps"]["plan"]["gate"]["question"] = "Shall we?".into();
    std::fs::write(folder.join("loop.yml"), mine.to_string()).unwrap();
    let checked = fixture.repo.output(&["recipe", "check"]);
    assert_eq!(checked.status.code(), Some(1));
    let printed = String::from_utf8_lossy(&checked.stdout).into_owned();
    assert!(printed.contains("it is asked as \"Ready to execute? [YES/NO]\""), "{printed}");
}
