//! A loop on the queue owns the ready tasks of its project: they are planned and asked about, not done beside it.

use serde_json::{Value, json};

use super::fixture::{LoopFixture, script};
use crate::server::test_server::TestServer;
use crate::server::websocket::Socket;

fn command(server: &TestServer, arguments: &[&str]) -> Value {
    let output = server.command().arg("--json").args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn add(server: &TestServer, arguments: &[&str]) -> String {
    let added = command(server, &[&["task", "add"], arguments].concat());
    added["task_id"].as_str().unwrap().to_owned()
}

/// The first question of the loop on this session.
fn first_question(server: &TestServer, session: &str) -> String {
    let mut listener = Socket::connected(&server.address);
    listener.send(&json!({ "type": "subscribe", "session_id": session, "last_seq": 0 }));
    let asked = listener.find(|message| message["type"] == "question_asked").unwrap();
    asked["question"]["text"].as_str().unwrap().to_owned()
}

#[test]
fn the_scheduler_leaves_the_ready_tasks_to_the_loops() {
    let mut scripts = script()["scripts"].as_array().unwrap().clone();
    scripts.push(json!({ "steps": script()["otherwise"].clone() }));
    let mut server = TestServer::new(&Value::Array(scripts));
    let tasks = ["Alpha", "Beta", "Gamma"].map(|title| add(&server, &[title]));
    for session in ["one", "two"] {
        command(&server, &["recipe", "start", "plan-execute-review", "--session", session]);
    }
    server.up(&["--listen", "127.0.0.1:0"]);
    let planned = ["one", "two"].map(|session| first_question(&server, session));
    // Each loop took one of the first two, in whichever order.
    for title in ["Alpha", "Beta"] {
        let is_planned = |text: &&String| text.starts_with("Ready to execute?") && text.contains(title);
        assert_eq!(planned.iter().filter(is_planned).count(), 1, "{title}: {planned:?}");
    }
    // Agents are free, and answer a question; the third task waits for the loops and says so.
    let question = add(&server, &["What is this?", "--type", "READ_INFO"]);
    server.wait_for_queue(&question, "done");
    let gamma = server.task(&tasks[2]);
    assert_eq!((&gamma["queue"], &gamma["attempts"]), (&json!("incoming"), &json!([])), "{gamma}");
    assert_eq!(gamma["not_started"]["code"], "kept_for_run", "{gamma}");
    let message = gamma["not_started"]["message"].as_str().unwrap();
    assert!(message.contains("baton recipe exit --session"), "{message}");
    // I22: once both loops are stopped, nobody starts it by itself, and a person can let somebody. So it is with what they planned.
    for session in ["one", "two"] {
        command(&server, &["recipe", "exit", "--session", session]);
    }
    assert!(server.task(&tasks[2])["held_because"].is_string(), "{}", server.task(&tasks[2]));
    command(&server, &["task", "release", &tasks[2]]);
    server.wait_for_queue(&tasks[2], "provisional");
    assert_eq!(server.task(&tasks[0])["held_because"], "stopped by you");
}

#[test]
fn a_loop_says_why_no_agent_starts() {
    let mut fixture = LoopFixture::new();
    fixture.repo.variables.push(("BATON_MAX_AGENTS".to_owned(), "0".to_owned()));
    fixture.add("Build it");
    let mut waiting = fixture.interactive(&[]);
    let line = waiting.wait_for_line("is not started yet");
    assert!(line.contains("no task may run here: max_agents is 0"), "{line}");
    let (code, _) = waiting.interrupt();
    assert_eq!(code, Some(130));
}
