//! A chat message in a session whose run is open reaches that run. It never starts a task beside it.

use serde_json::{Value, json};

use super::client;
use super::test_server::TestServer;
use super::websocket::Socket;
use crate::looping::fixture::script;

/// A server with agents for the loop, and the loop at its first gate on the session `mine`.
fn at_the_gate() -> (TestServer, String, Socket) {
    let mut scripts = vec![json!({ "when": "Make it smaller", "steps": [
        { "say": crate::looping::fixture::rubric("clear") },
        { "plan": [{ "title": "The only part" }] },
        { "result": { "status": "COMPLETE", "output": "Planned again." } },
    ] })];
    scripts.extend(script()["scripts"].as_array().unwrap().clone());
    let server = TestServer::new(&Value::Array(scripts)).start();
    let project = own_project(&server);
    let body = json!({ "recipe_id": "plan-execute-review", "message": "Build it", "project_id": project });
    assert_eq!(server.post("/api/sessions/mine/recipe", &body).status, 201);
    let mut listener = Socket::connected(&server.address);
    listener.send(&json!({ "type": "subscribe", "session_id": "mine", "last_seq": 0 }));
    next_question(&mut listener, "Ready to execute?");
    (server, project, listener)
}

/// The project of the repository itself, which the command line uses too.
fn own_project(server: &TestServer) -> String {
    let made = server.post("/api/projects", &json!({ "path": server.folder }));
    assert_eq!(made.status, 201, "{made:?}");
    made.json()["project_id"].as_str().unwrap().to_owned()
}

/// The next question, which must begin like this.
fn next_question(listener: &mut Socket, begins: &str) -> String {
    let asked = listener.find(|message| message["type"] == "question_asked").unwrap();
    let text = asked["question"]["text"].as_str().unwrap().to_owned();
    assert!(text.starts_with(begins), "{text}");
    text
}

fn send(server: &TestServer, project: &str, text: &str, key: &str) -> Value {
    let body = json!({ "content": text, "session_id": "mine" }).to_string();
    let headers = [("content-type", "application/json"), ("idempotency-key", key)];
    let path = format!("/api/projects/{project}/chat");
    let answer = client::send(&server.address, "POST", &path, &headers, Some(body.as_bytes()));
    assert_eq!(answer.status, 201, "{answer:?}");
    answer.json()
}

fn titles(server: &TestServer) -> Vec<String> {
    let tasks = server.read("/api/tasks?session_id=mine");
    let title = |task: &Value| task["title"].as_str().unwrap().to_owned();
    tasks["tasks"].as_array().unwrap().iter().map(title).collect()
}

/// I22: in whatever words, a stop at a gate ends the loop, and what may be one starts nobody.
#[test]
fn i22_a_message_that_stops_starts_no_planner() {
    for stop in ["No, not now", "NO. Stop.", "いいえ、後で", "hör auf", "Nein, jetzt nicht"] {
        let (server, project, mut listener) = at_the_gate();
        send(&server, &project, stop, "k1");
        let ended = listener.find(|message| message["type"] == "recipe_exited").unwrap();
        assert_eq!(ended["reason"], "user-requested", "{stop}: {ended}");
        let plans = titles(&server).iter().filter(|title| title.starts_with("Plan:")).count();
        assert_eq!(plans, 1, "{stop}");
    }
    let (server, project, _listener) = at_the_gate();
    let path = format!("/api/projects/{project}/chat");
    for unclear in ["NO because I want to stop", "NO: wait until Monday"] {
        let refused = server.post(&path, &json!({ "content": unclear, "session_id": "mine" }));
        assert_eq!(refused.status, 400, "{unclear}: {refused:?}");
        assert!(refused.body.contains("may be meant as a stop"), "{refused:?}");
    }
    // A yes with a time or a condition is none, and no remark on the plan either.
    for later in ["yes, but later", "Ja, sobald Eva da ist", "yes, use tabs"] {
        let refused = server.post(&path, &json!({ "content": later, "session_id": "mine" }));
        assert_eq!(refused.status, 400, "{later}: {refused:?}");
        assert!(refused.body.contains("YES"), "{refused:?}");
    }
    let plans = titles(&server).iter().filter(|title| title.starts_with("Plan:")).count();
    assert_eq!(plans, 1);
}

#[test]
fn a_message_at_a_gate_is_a_remark_or_the_answer() {
    let (server, project, mut listener) = at_the_gate();
    let page = server.get("/chat/mine").body;
    assert!(page.contains("plan-execute-review waits for you"), "{page}");
    // The planner's own task is no work to look at.
    let board = server.get("/board").body;
    assert!(board.contains("Build it") && !board.contains("Plan: Build it"), "{board}");
    let sent = send(&server, &project, "Make it smaller", "k1");
    assert_eq!(sent["delivered_to"]["recipe_id"], "plan-execute-review", "{sent}");
    assert!(sent["delivered_to"]["question_id"].is_string(), "{sent}");
    // Sent again with the same key it changes nothing.
    assert_eq!(send(&server, &project, "Make it smaller", "k1"), sent);
    let text = next_question(&mut listener, "Ready to execute?");
    assert!(text.contains("The only part"), "{text}");
    assert!(
        !titles(&server).iter().any(|title| title.starts_with("Make it smaller")),
        "{:?}",
        titles(&server)
    );
    // From the page, as a plain answer.
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let body = format!("content=YES&project={project}&type=&recipe=");
    let posted = client::send(&server.address, "POST", "/chat/mine", &form, Some(body.as_bytes()));
    assert_eq!(posted.status, 303, "{posted:?}");
    next_question(&mut listener, "Execute: The only part?");
    // A word that is none of the offered ones, where no agent could follow it.
    let body = json!({ "content": "Use tabs.", "session_id": "mine" });
    let refused = server.post(&format!("/api/projects/{project}/chat"), &body);
    assert_eq!(refused.status, 400, "{refused:?}");
    assert!(refused.body.contains("YES"), "{refused:?}");
    // Whoever names a type wants a task of its own.
    let body = json!({ "content": "What is this?", "session_id": "mine", "task_type": "READ_INFO" });
    let own = server.post(&format!("/api/projects/{project}/chat"), &body);
    assert_eq!((own.status, &own.json()["delivered_to"]), (201, &Value::Null), "{own:?}");
    let own = format!("/api/tasks/{}/cancel", own.json()["task_id"].as_str().unwrap());
    assert_eq!(server.post(&own, &json!({})).status, 200);
    // Once the run has ended, messages are tasks again.
    let ended = client::send(&server.address, "DELETE", "/api/sessions/mine/recipe", &[], None);
    assert_eq!(ended.status, 200, "{ended:?}");
    let sent = send(&server, &project, "And paint it", "k2");
    assert_eq!(sent["delivered_to"], Value::Null, "{sent}");
    assert!(titles(&server).contains(&"And paint it".to_owned()));
}

#[test]
fn a_message_during_a_run_reaches_its_agent() {
    // The agent of the first step waits until it is told something.
    let scripts = json!([
        { "step": "implement", "when": "Keep the tests", "steps": [
            { "write": { "path": "told.txt", "text": "told\n" } }, { "outcome": { "outcome": "complete" } } ] },
        { "step": "implement", "steps": [{ "ask": { "question": "Which file?" } }] },
        { "step": "code-review", "steps": ["hang"] },
    ]);
    let server = TestServer::new(&scripts).start();
    let project = own_project(&server);
    let body = json!({ "recipe_id": "implement-and-review", "message": "Build it", "project_id": project });
    let started = server.post("/api/sessions/mine/recipe", &body).json();
    let task = started["task_id"].as_str().unwrap().to_owned();
    server.wait_for_status(&task, "AWAITING_RESPONSE");
    let sent = send(&server, &project, "Keep the tests", "k1");
    assert_eq!(
        (&sent["task_id"], &sent["delivered_to"]["run_id"]),
        (&json!(task), &started["run_id"]),
        "{sent}"
    );
    assert!(sent["delivered_to"]["question_id"].is_string(), "{sent}");
    // The run is in its second step now, whose agent is at work; this one reaches it there.
    let mut listener = Socket::connected(&server.address);
    listener.send(&json!({ "type": "subscribe", "session_id": "mine", "last_seq": 0 }));
    listener
        .find(|message| message["type"] == "recipe_step_started" && message["step"] == "code-review")
        .unwrap();
    let sent = send(&server, &project, "Look at the docs too", "k2");
    assert_eq!(
        (&sent["task_id"], &sent["delivered_to"]["question_id"]),
        (&json!(task), &Value::Null),
        "{sent}"
    );
    assert_eq!(titles(&server), ["Build it"], "one task, titled by the message that started the run");
    let page = server.get("/chat/mine").body;
    assert!(page.contains("implement-and-review is running: its agent reads your message"), "{page}");
    let output = server.command().args(["chat", "One more", "--session", "mine"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("Sent to implement-and-review"), "{told}");
}
