//! Messages of the WebSocket that are sent again with their key: the same answer, and nothing is created twice.

use serde_json::{Value, json};

use super::test_server::TestServer;
use super::websocket::Socket;

fn prompt(key: &str, content: &str) -> Value {
    json!({ "type": "prompt", "session_id": "mine", "content": content, "idempotency_key": key })
}

fn start(server: &TestServer, key: &str, message: &str) -> Value {
    json!({
        "type": "start_recipe", "session_id": "design", "recipe_id": "document-design", "message": message,
        "working_directory": server.folder, "idempotency_key": key,
    })
}

fn count(server: &TestServer, path: &str, name: &str) -> usize {
    server.read(path)[name].as_array().unwrap().len()
}

#[test]
fn a_creating_message_sent_again_with_its_key_gets_its_first_answer() {
    let mut server = TestServer::without_agents().start();
    let messages = [prompt("once", "Fix the login"), start(&server, "once", "Share links")];
    let mut socket = Socket::connected(&server.address);
    let first: Vec<Value> = messages.iter().map(|message| socket.ask(message.clone())).collect();
    for answer in &first {
        assert_eq!(answer["type"], "ack", "{answer}");
        assert!(answer["task_id"].is_string(), "{answer}");
    }
    let created = count(&server, "/api/tasks", "tasks");
    let again = |socket: &mut Socket| {
        for (message, answer) in messages.iter().zip(&first) {
            assert_eq!(socket.ask(message.clone()), *answer);
        }
    };
    again(&mut socket);
    again(&mut Socket::connected(&server.address));
    server.kill();
    server.up(&["--listen", "127.0.0.1:0"]);
    let mut socket = Socket::connected(&server.address);
    again(&mut socket);
    assert_eq!(count(&server, "/api/tasks", "tasks"), created, "nothing was created twice");

    for other in [prompt("once", "Fix the logout"), start(&server, "once", "Share files")] {
        assert_eq!(socket.ask(other)["error"], "CONFLICT");
    }
    let another = socket.ask(prompt("twice", "Fix the login"));
    assert_ne!(another["task_id"], first[0]["task_id"]);
}

#[test]
fn many_connections_that_send_one_message_create_one_task() {
    let server = TestServer::without_agents().start();
    let answers: Vec<Value> = std::thread::scope(|scope| {
        let ask = || Socket::connected(&server.address).ask(prompt("once", "Fix the login"));
        let sent: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
        sent.into_iter().map(|sent| sent.join().unwrap()).collect()
    });
    assert!(answers.iter().all(|answer| *answer == answers[0] && answer["type"] == "ack"), "{answers:?}");
    assert_eq!(count(&server, "/api/tasks", "tasks"), 1);
}

#[test]
fn a_start_whose_answer_was_lost_with_baton_is_answered_when_it_is_sent_again() {
    let mut server = TestServer::without_agents().start();
    server.stop();
    // The run has been written; the answer has not been kept.
    server.variables = vec![("BATON_CRASH".to_owned(), "before:receipt".to_owned())];
    server.up(&["--listen", "127.0.0.1:0"]);
    let message = start(&server, "lost", "Share links");
    let mut socket = Socket::connected(&server.address);
    socket.send(&message);
    assert!(socket.all(|answer| answer["type"] != "ack"), "it was answered");
    server.kill();
    server.variables.clear();
    server.up(&["--listen", "127.0.0.1:0"]);
    let mut socket = Socket::connected(&server.address);
    let answer = socket.ask(message.clone());
    assert!(answer["type"] == "ack" && answer["run_id"].is_string(), "{answer}");
    assert_eq!(socket.ask(message), answer);
    assert_eq!(count(&server, "/api/tasks", "tasks"), 1);
}

#[test]
fn a_key_is_refused_where_nothing_is_created_and_where_it_is_none() {
    let server = TestServer::without_agents().start();
    let mut socket = Socket::connected(&server.address);
    for message in [
        json!({ "type": "get_available_recipes", "idempotency_key": "once" }),
        json!({ "type": "subscribe", "idempotency_key": "once" }),
        json!({ "type": "answer", "question_id": "Q-00000000", "answer": "y", "idempotency_key": "once" }),
        prompt("", "Fix it"),
        prompt("a b", "Fix it"),
        json!({ "type": "prompt", "session_id": "mine", "content": "Fix it", "idempotency_key": 7 }),
    ] {
        assert_eq!(socket.ask(message.clone())["error"], "INVALID_INPUT", "{message}");
    }
    // A refused message may be corrected under its key.
    assert_eq!(socket.ask(prompt("once", " "))["error"], "INVALID_INPUT");
    assert_eq!(socket.ask(prompt("once", "Fix it"))["type"], "ack");
}
