//! The WebSocket: handshake, requests and events.

use serde_json::{Value, json};

use super::client::send;
use super::test_server::TestServer;
use super::websocket::Socket;

#[test]
fn a_socket_introduces_itself_and_answers_requests() {
    let server = TestServer::without_agents().start();
    let mut socket = Socket::open(&server.address);
    let hello = socket.next().unwrap();
    assert_eq!(
        (&hello["type"], &hello["namespace"], &hello["needs_token"]),
        (&json!("hello"), &json!("test"), &json!(false))
    );
    assert_eq!(
        socket.ask(json!({ "type": "get_available_recipes" }))["error"],
        "UNAUTHORIZED",
        "connect first"
    );
    assert_eq!(socket.ask(json!({ "type": "connect" }))["type"], "connected");

    let recipes = socket.ask(json!({ "type": "get_available_recipes" }));
    assert_eq!(recipes["type"], "available_recipes");
    let ids: Vec<&str> = recipes["recipes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|recipe| recipe["recipe_id"].as_str().unwrap())
        .collect();
    assert!(ids.contains(&"implement-and-review"), "{ids:?}");

    for (sent, code) in [
        ("nonsense", "INVALID_INPUT"),
        ("{\"type\": \"magic\"}", "INVALID_INPUT"),
        ("{\"type\": \"prompt\", \"session_id\": \"../x\", \"content\": \"y\"}", "INVALID_INPUT"),
        ("{\"type\": \"prompt\", \"session_id\": \"x\", \"content\": \" \"}", "INVALID_INPUT"),
        ("{\"type\": \"answer\", \"question_id\": \"Q-00000000\", \"answer\": \"y\"}", "NOT_FOUND"),
        ("{\"type\": \"exit_recipe\", \"session_id\": \"x\"}", "INVALID_STATUS"),
    ] {
        socket.send_text(sent);
        let answer = socket.next().unwrap();
        assert_eq!((&answer["type"], &answer["error"]), (&json!("error"), &json!(code)), "{sent}: {answer}");
    }
}

#[test]
fn a_prompt_becomes_a_task_and_its_question_is_answered_once() {
    let script = json!([{ "resumed": false, "steps": [{ "ask": { "question": "Go on?" } }] }]);
    let server = TestServer::new(&script).start();
    let mut socket = Socket::connected(&server.address);
    socket.ask(json!({ "type": "subscribe", "session_id": "mine", "last_seq": 0 }));
    // Events of another session are not sent here.
    server.post("/api/tasks", &json!({ "title": "Other", "session_id": "other" }));
    let ack = socket.ask(json!({ "type": "prompt", "session_id": "mine", "content": "Fix the login" }));
    let task = ack["task_id"].as_str().unwrap().to_owned();
    let asked = socket.find(|message| message["type"] == "question_asked").unwrap();
    assert_eq!((&asked["task_id"], &asked["session_id"]), (&json!(task), &json!("mine")));
    let answer = json!({ "type": "answer", "question_id": asked["question"]["id"], "answer": "yes" });
    assert_eq!(socket.ask(answer.clone())["type"], "ack");
    assert_eq!(socket.ask(answer)["error"], "ALREADY_ANSWERED");

    // A new subscription from the beginning gets only the events of its own session, in order.
    let mut again = Socket::connected(&server.address);
    again.send(&json!({ "type": "subscribe", "session_id": "mine", "last_seq": 0 }));
    let events: Vec<Value> = again
        .filter(|message| message["seq"].is_u64())
        .take_while(|message| message["type"] != "question_answered")
        .collect();
    assert!(events.iter().all(|message| message["task_id"] == *task), "{events:?}");
    assert!(events.is_sorted_by_key(|message| message["seq"].as_u64()), "{events:?}");
}

#[test]
fn a_recipe_is_started_and_stopped() {
    let server = TestServer::new(&json!([])).start();
    let mut socket = Socket::connected(&server.address);
    socket.ask(json!({ "type": "subscribe", "session_id": "mine", "last_seq": 0 }));
    let start = |folder: &str| json!({ "type": "start_recipe", "session_id": "mine", "recipe_id": "document-design", "working_directory": folder });
    let folder = server.folder.display().to_string();
    assert_eq!(socket.ask(start("/no/such/folder"))["error"], "NOT_FOUND");
    let mut unknown = start(&folder);
    unknown["recipe_id"] = json!("document-desing");
    let refused = socket.ask(unknown);
    assert!(refused["message"].as_str().unwrap().contains("did you mean document-design?"), "{refused}");
    assert_eq!(socket.ask(start(&folder))["type"], "ack");
    let mut watcher = Socket::connected(&server.address);
    watcher.send(&json!({ "type": "subscribe", "session_id": "mine", "last_seq": 0 }));
    let started = watcher.find(|message| message["type"] == "recipe_started").unwrap();
    assert_eq!(started["recipe_id"], "document-design");
    assert_eq!(socket.ask(start(&folder))["error"], "CONFLICT");
    assert_eq!(socket.ask(json!({ "type": "exit_recipe", "session_id": "mine" }))["type"], "ack");
    let exited = watcher.find(|message| message["type"] == "recipe_exited").unwrap();
    assert_eq!(exited["category"], "completed", "{exited}");
    assert!(!exited["message"].as_str().unwrap().is_empty());
}

#[test]
fn a_socket_needs_the_token_and_foreign_pages_are_refused() {
    let mut server = TestServer::without_agents();
    server.up(&["--listen", "127.0.0.1:0", "--token", "correct-horse-battery"]);
    let mut socket = Socket::open(&server.address);
    assert_eq!(socket.next().unwrap()["needs_token"], true);
    let refused = socket.ask(json!({ "type": "connect", "token": "wrong" }));
    assert_eq!(refused["error"], "UNAUTHORIZED");
    assert_eq!((socket.next(), socket.closed), (None, Some(1008)));
    let mut socket = Socket::open(&server.address);
    assert_eq!(socket.next().unwrap()["type"], "hello");
    let connected = socket.ask(json!({ "type": "connect", "token": "correct-horse-battery" }));
    assert_eq!(connected["type"], "connected");
    let upgrade =
        [("origin", "http://evil.example"), ("upgrade", "websocket"), ("sec-websocket-version", "13")];
    let foreign = send(&server.address, "GET", "/ws", &upgrade, None);
    assert_eq!(foreign.error(), (403, "FORBIDDEN".to_owned()));
}

#[test]
fn a_stopping_server_closes_its_sockets() {
    let mut server = TestServer::without_agents().start();
    let mut idle = Socket::connected(&server.address);
    let mut listening = Socket::connected(&server.address);
    listening.ask(json!({ "type": "subscribe", "last_seq": 0 }));
    server.stop();
    assert_eq!((idle.next(), idle.closed), (None, Some(1001)));
    assert_eq!((listening.next(), listening.closed), (None, Some(1001)));
}
