//! Messages about recipes on the WebSocket.

use serde_json::{Value, json};

use super::test_server::TestServer;
use super::websocket::Socket;

/// An agent that follows a script for each step.
fn agent(steps: &[(&str, Value)]) -> Value {
    steps.iter().map(|(step, plays)| json!({ "step": step, "steps": plays })).collect()
}

fn reports(outcome: &str) -> Value {
    json!([{ "say": "I had a look." }, { "say": json!({ "outcome": outcome }).to_string() }])
}

/// Starts the recipe over one socket and returns all messages of the session on another one, up to the exit.
fn messages_of(server: &TestServer, recipe: &str) -> Vec<Value> {
    let mut listener = Socket::connected(&server.address);
    listener.send(&json!({ "type": "subscribe", "session_id": "abc123", "last_seq": 0 }));
    let mut person = Socket::connected(&server.address);
    let started = person.ask(json!({
        "type": "start_recipe",
        "session_id": "abc123",
        "recipe_id": recipe,
        "working_directory": server.folder.display().to_string(),
    }));
    assert_eq!(started["type"], "ack", "{started}");
    let mut messages = Vec::new();
    for message in listener {
        let is_exit = message["type"] == "recipe_exited";
        messages.push(message);
        if is_exit {
            return messages;
        }
    }
    panic!("the recipe did not exit: {messages:?}")
}

fn of_type<'a>(messages: &'a [Value], kind: &str) -> Vec<&'a Value> {
    messages.iter().filter(|message| message["type"] == kind).collect()
}

fn without_seq(message: &Value) -> Value {
    let mut message = message.clone();
    assert!(message.as_object_mut().unwrap().remove("seq").unwrap().as_u64().is_some());
    message
}

#[test]
fn no_tasks_ends_the_recipe_as_completed_with_this_exact_message() {
    let server = TestServer::new(&agent(&[("implement", reports("no-tasks"))])).start();
    let messages = messages_of(&server, "implement-and-review");
    let started = of_type(&messages, "recipe_started");
    let mut first = without_seq(started[0]);
    for id in ["run_id", "task_id"] {
        assert!(first.as_object_mut().unwrap().remove(id).unwrap().is_string(), "{id}");
    }
    assert_eq!(
        first,
        json!({
            "type": "recipe_started",
            "recipe_id": "implement-and-review",
            "recipe_label": "Implement & Review",
            "session_id": "abc123",
            "current_step": "implement",
            "step_count": 1,
            "iteration": 1,
        })
    );
    assert_eq!(
        without_seq(messages.last().unwrap()),
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
fn every_step_and_every_transition_is_sent_in_order() {
    let works = json!([
        { "write": { "path": "greeting.txt", "text": "Hello!\n" } },
        { "say": "{\"outcome\": \"complete\"}" },
    ]);
    let commits = json!([{ "commit": "Add a greeting" }, { "say": "{\"outcome\": \"committed\"}" }]);
    let steps = [("implement", works), ("code-review", reports("no-issues")), ("commit", commits)];
    let server = TestServer::new(&agent(&steps)).start();
    let messages = messages_of(&server, "implement-and-review");
    let moves: Vec<(&str, &str)> = of_type(&messages, "recipe_step_transition")
        .iter()
        .map(|message| (message["from_step"].as_str().unwrap(), message["to_step"].as_str().unwrap()))
        .collect();
    assert_eq!(moves, [("implement", "code-review"), ("code-review", "commit")]);
    let started: Vec<(&str, u64)> = of_type(&messages, "recipe_step_started")
        .iter()
        .map(|message| (message["step"].as_str().unwrap(), message["step_count"].as_u64().unwrap()))
        .collect();
    assert_eq!(started, [("implement", 1), ("code-review", 2), ("commit", 3)]);
    let exited = messages.last().unwrap();
    assert_eq!(exited["reason"], "task-committed");
    assert_eq!(exited["message"], "Task implementation committed successfully");
    assert!(messages.is_sorted_by_key(|message| message["seq"].as_u64()), "{messages:?}");
}

#[test]
fn a_malformed_outcome_gets_one_retry_and_then_ends_the_recipe() {
    let server = TestServer::new(&agent(&[("implement", reports("finished"))])).start();
    let messages = messages_of(&server, "implement-and-review");
    let retries = of_type(&messages, "orchestration_retry");
    assert_eq!(retries.len(), 1, "{messages:?}");
    assert_eq!((&retries[0]["session_id"], &retries[0]["step"]), (&json!("abc123"), &json!("implement")));
    assert!(retries[0]["error"].as_str().unwrap().contains("finished"), "{}", retries[0]);
    let exited = messages.last().unwrap();
    assert_eq!((&exited["reason"], &exited["category"]), (&json!("orchestration-error"), &json!("error")));
}

#[test]
fn the_fourth_visit_of_a_step_is_refused_as_a_guardrail() {
    let works = json!([
        { "append": { "path": "greeting.txt", "text": "Hello!\n" } },
        { "say": "{\"outcome\": \"complete\"}" },
    ]);
    let steps = [("implement", works.clone()), ("code-review", reports("issues-found")), ("fix", works)];
    let server = TestServer::new(&agent(&steps)).start();
    let messages = messages_of(&server, "implement-and-review");
    let reviews =
        of_type(&messages, "recipe_step_started").iter().filter(|m| m["step"] == "code-review").count();
    assert_eq!(reviews, 3, "{messages:?}");
    let exited = messages.last().unwrap();
    assert_eq!(exited["reason"], "max-step-visits-exceeded:code-review");
    assert_eq!(exited["category"], "guardrail");
}
