//! `baton watch` in a real terminal: tmux.

use serde_json::json;

use crate::server::test_server::TestServer;
use crate::tmux::Tmux;

fn watch(server: &TestServer) -> Tmux {
    let program = env!("CARGO_BIN_EXE_baton");
    let line = format!("BATON_USER=mia BATON_NAMESPACE=test BATON_FENCE=off '{program}' watch");
    Tmux::start("watch", &server.folder, &line)
}

#[test]
fn a_question_is_answered_and_the_work_is_accepted_by_keys() {
    let scripts = json!([
        { "when": "Paint", "resumed": false, "steps": [
            { "ask": { "question": "Which colour?", "options": ["red", "blue"] } },
        ] },
        { "when": "Paint", "resumed": true, "steps": [
            { "read_answer": "The answer (" },
            { "write": { "path": "colour.txt", "text": "{{answer}}\n" } },
            { "commit": "Paint it" },
            { "result": { "status": "COMPLETE", "output": "Painted." } },
        ] },
    ]);
    let server = TestServer::new(&scripts).start();
    let added = server.post("/api/tasks", &json!({ "title": "Paint it", "session_id": "mine" }));
    let task = added.json()["task_id"].as_str().unwrap().to_owned();
    server.wait_for_status(&task, "AWAITING_RESPONSE");
    let tmux = watch(&server);
    tmux.shows("1 for you");
    tmux.shows("Which colour?");
    tmux.press(&["2"]);
    tmux.shows("with blue.  z takes it back");
    // A second thought, and the same again.
    tmux.press(&["z"]);
    tmux.shows("Taken back.");
    tmux.press(&["2"]);
    tmux.shows("with blue.  z takes it back");
    tmux.shows("✓ TASK-");
    tmux.press(&["d"]);
    tmux.shows("+blue");
    tmux.press(&["a"]);
    tmux.shows(&format!("Accepted {task}"));
    // Whoever leaves has decided.
    tmux.press(&["q"]);
    server.wait_for_queue(&task, "done");
    server.git(&["cat-file", "-e", "baton/next:colour.txt"]);
}

#[test]
fn words_go_to_the_agent_at_work_and_it_is_stopped() {
    let server = TestServer::new(&json!([{ "when": "Paint", "steps": ["hang"] }])).start();
    let added = server.post("/api/tasks", &json!({ "title": "Paint it", "session_id": "mine" }));
    let task = added.json()["task_id"].as_str().unwrap().to_owned();
    server.wait_for_queue(&task, "claimed");
    let tmux = watch(&server);
    tmux.shows("1 running");
    tmux.press(&["m"]);
    tmux.shows("To the agent");
    tmux.press(&["-l", "Use blue"]);
    tmux.press(&["Enter"]);
    tmux.shows(&format!("Sent to {task}"));
    tmux.press(&["s"]);
    tmux.shows(&format!("Stopped {task}"));
    tmux.press(&["q"]);
    let held = server.wait_for_queue(&task, "incoming");
    assert_eq!(held["held_because"], "stopped by you", "{held}");
    let messages = server.read(&format!("/api/tasks/{task}/messages"));
    assert_eq!(messages["messages"][0]["content"], "Use blue", "{messages}");
}
