//! A chat message in a session whose task is at work reaches that task's agent. It never starts a task beside it.

use serde_json::{Value, json};

use crate::server::client;
use crate::server::test_server::TestServer;

fn chat(server: &TestServer, project: &str, text: &str) -> Value {
    let body = json!({ "content": text, "session_id": "mine" });
    let answer = server.post(&format!("/api/projects/{project}/chat"), &body);
    assert_eq!(answer.status, 201, "{answer:?}");
    answer.json()
}

fn tasks(server: &TestServer) -> usize {
    server.read("/api/tasks?session_id=mine")["tasks"].as_array().unwrap().len()
}

#[test]
fn a_message_beside_a_task_at_work_reaches_its_agent() {
    let server = TestServer::new(&json!([])).start();
    let project = server.project();
    let first = chat(&server, &project, "Build it");
    assert_eq!(first["delivered_to"], Value::Null, "{first}");
    let task = first["task_id"].as_str().unwrap().to_owned();
    server.wait_for_queue(&task, "claimed");
    let second = chat(&server, &project, "Keep the tests");
    assert_eq!(second["task_id"], json!(task), "{second}");
    assert_eq!(second["delivered_to"]["run_id"], Value::Null, "{second}");
    assert!(second["delivered_to"].is_object(), "{second}");
    assert_eq!(tasks(&server), 1);
    let messages = server.read(&format!("/api/tasks/{task}/messages"));
    assert_eq!(messages["messages"][0]["content"], "Keep the tests", "{messages}");
    let page = server.get("/chat/mine").body;
    assert!(page.contains("“Build it” is running: its agent reads your message"), "{page}");
    // From the task's page.
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let say = format!("/tasks/{task}/say");
    let posted = client::send(&server.address, "POST", &say, &form, Some(b"content=Use+tabs"));
    assert_eq!(posted.status, 303, "{posted:?}");
    let page = server.get(&format!("/tasks/{task}")).body;
    assert!(page.contains("Use tabs") && page.contains("queued: the agent reads it"), "{page}");
    // Whoever names a type wants a task of its own.
    let body = json!({ "content": "What is this?", "session_id": "mine", "task_type": "READ_INFO" });
    let own = server.post(&format!("/api/projects/{project}/chat"), &body).json();
    assert_eq!((&own["delivered_to"], tasks(&server)), (&Value::Null, 2), "{own}");
}

#[test]
fn a_message_to_a_task_that_asks_is_the_answer_or_a_remark() {
    let asks = json!([
        { "resumed": true, "steps": [
            { "read_answer": "The answer (" },
            { "result": { "status": "COMPLETE", "output": "It is {{answer}}." } },
        ] },
        { "steps": [{ "ask": { "question": "Which login?", "options": ["web", "app"] } }] },
    ]);
    let server = TestServer::new(&asks).start();
    let project = server.project();
    let body = json!({ "content": "Describe the login", "session_id": "mine", "task_type": "READ_INFO" });
    let task = server.chat(&project, &body);
    server.wait_for_status(&task, "AWAITING_RESPONSE");
    // No answer, so it is a remark that the agent reads with the answer.
    let remark = chat(&server, &project, "Mind the umlauts");
    assert_eq!(remark["task_id"], json!(task), "{remark}");
    assert_eq!(remark["delivered_to"]["question_id"], Value::Null, "{remark}");
    assert_eq!(server.task(&task)["status"], "AWAITING_RESPONSE");
    let answer = chat(&server, &project, "app");
    assert!(answer["delivered_to"]["question_id"].is_string(), "{answer}");
    let done = server.wait_for_status(&task, "COMPLETE");
    assert!(done["output"].as_str().unwrap().contains("app"), "{done}");
    assert_eq!(tasks(&server), 1);
    let messages = server.read(&format!("/api/tasks/{task}/messages"));
    assert_eq!(messages["messages"][0]["state"], "delivered", "{messages}");
    // It is over: the next message is a task again.
    assert_eq!(chat(&server, &project, "Thank you")["delivered_to"], Value::Null);
}
