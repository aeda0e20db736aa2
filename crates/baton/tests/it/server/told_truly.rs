//! What commands say about a task is true, and fits into its line.

use serde_json::{Value, json};

use super::test_server::TestServer;

fn scripts() -> Value {
    json!([
        { "when": "Look at it", "steps": [
            { "write": { "path": "seen.txt", "text": "seen\n" } },
            { "commit": "Note it" },
            { "result": { "status": "COMPLETE", "output": "Fixed it." } },
        ] },
        { "when": "Leave it open", "steps": [
            { "write": { "path": "left.txt", "text": "left\n" } },
            { "result": { "status": "COMPLETE", "output": "Written." } },
        ] },
        { "when": "Crash it", "steps": [{ "crash": { "exit": 3 } }] },
        { "when": "Report it", "resumed": false, "steps": [{ "ask": { "question": "For whom?" } }] },
        { "when": "Report it", "resumed": true, "steps": [{ "result": { "status": "COMPLETE", "output": "For you." } }] },
    ])
}

fn printed(server: &TestServer, arguments: &[&str]) -> String {
    let output = server.command().args(arguments).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_task_says_where_its_changes_are_and_what_became_of_them() {
    let server = TestServer::new(&scripts()).start();
    let project = server.project();
    let chat = |text: &str, kind: &str| {
        server.chat(
            &project,
            &json!({ "content": text, "session_id": text.replace(' ', "-"), "task_type": kind }),
        )
    };
    // A question whose agent changed code: it is answered, and the change is not merged.
    let look = chat("Look at it", "READ_INFO");
    server.wait_for_queue(&look, "done");
    let shown = printed(&server, &["task", "show", &look]);
    assert!(shown.contains("Its changes are not merged"), "{shown}");
    assert!(shown.contains(&format!("take them: git merge baton/{look}")), "{shown}");
    assert!(server.get(&format!("/tasks/{look}")).body.contains("Its changes are not merged"));
    // What the agent did not commit is named.
    let left = chat("Leave it open", "IMPLEMENTATION");
    server.wait_for_queue(&left, "provisional");
    let shown = printed(&server, &["task", "show", &left]);
    assert!(shown.contains("what it left uncommitted was committed by Baton (1 file in all)"), "{shown}");
    // A crash is one line of the list.
    let crash = chat("Crash it", "IMPLEMENTATION");
    server.wait_for_queue(&crash, "failed");
    let listed = printed(&server, &["questions"]);
    let line = listed.lines().find(|line| line.starts_with(&crash)).unwrap_or_else(|| panic!("{listed}"));
    assert!(line.contains("failed: ") && line.contains("code 3") && !line.contains("The run"), "{listed}");
    let at = listed.lines().position(|line| line.starts_with(&crash)).unwrap();
    assert_eq!(listed.lines().nth(at + 1), Some("    Crash it"), "{listed}");
}

#[test]
fn a_message_to_a_task_names_the_type_of_that_task() {
    let server = TestServer::new(&scripts()).start();
    let project = server.project();
    let message = json!({ "content": "Report it", "session_id": "s", "task_type": "REPORT" });
    let task = server.chat(&project, &message);
    server.wait_for_status(&task, "AWAITING_RESPONSE");
    let path = format!("/api/projects/{project}/chat");
    let sent = server.post(&path, &json!({ "content": "Add it for the team", "session_id": "s" })).json();
    assert_eq!((&sent["task_id"], &sent["task_type"]), (&json!(task), &json!("REPORT")), "{sent}");
}
