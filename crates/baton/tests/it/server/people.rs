//! Personal tokens on the command line and on a socket.

use serde_json::{Value, json};

use super::client::send;
use super::test_server::TestServer;
use super::websocket::Socket;

fn run(server: &TestServer, words: &[&str]) -> (i32, String, String) {
    let output = server.command().args(words).output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (output.status.code().unwrap(), out, err)
}

#[test]
fn a_token_is_created_shown_once_listed_and_revoked() {
    let server = TestServer::without_agents().start();
    let (code, token, stderr) =
        run(&server, &["token", "create", "ada", "--role", "viewer", "--expires", "30d"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(token.starts_with("baton_ada.") && token.trim().len() == "baton_ada.".len() + 64, "{token}");
    assert!(stderr.contains("shown only once") && !stderr.contains(token.trim()), "{stderr}");
    let bearer = format!("Bearer {}", token.trim());
    let headers = [("Authorization", bearer.as_str()), ("content-type", "application/json")];
    let ask = |method: &str, path: &str, body: Option<&str>| {
        send(&server.address, method, path, &headers, body.map(str::as_bytes)).status
    };
    assert_eq!(ask("GET", "/api/tasks", None), 200);
    assert_eq!(ask("POST", "/api/tasks", Some("{\"title\": \"X\"}")), 403);
    let (_, listed, _) = run(&server, &["token", "list"]);
    assert!(listed.starts_with("ada (viewer) since ") && listed.contains(", until "), "{listed}");
    assert!(!listed.contains(token.trim()));
    let (code, _, stderr) = run(&server, &["token", "create", "ada", "--role", "operator"]);
    assert_eq!(code, 4, "{stderr}");
    assert!(stderr.contains("baton token revoke ada"), "{stderr}");
    let (code, _, stderr) = run(&server, &["token", "create", "bob", "--role", "king"]);
    assert_eq!(code, 2, "{stderr}");
    assert_eq!(run(&server, &["token", "revoke", "ada"]).0, 0);
    assert_eq!(ask("GET", "/api/tasks", None), 401);
    let (_, listed, _) = run(&server, &["token", "list"]);
    assert!(listed.contains("by mia"), "{listed}");
}

#[test]
fn a_socket_has_the_rights_of_its_token_and_closes_with_it() {
    let mut server = TestServer::without_agents();
    server.up(&["--listen", "127.0.0.1:0", "--token", "correct-horse-battery"]);
    let connect = |role: &str| {
        let (code, token, stderr) = run(&server, &["token", "create", role, "--role", role]);
        assert_eq!(code, 0, "{stderr}");
        let mut socket = Socket::open(&server.address);
        assert_eq!(socket.next().unwrap()["needs_token"], true);
        let connected = socket.ask(json!({ "type": "connect", "token": token.trim() }));
        assert_eq!(connected["type"], "connected", "{connected}");
        socket
    };
    let prompt = || json!({ "type": "prompt", "session_id": "team", "content": "Fix the login" });
    let exit = || json!({ "type": "exit_recipe", "session_id": "team" });
    let mut viewer = connect("viewer");
    assert_eq!(viewer.ask(json!({ "type": "get_available_recipes" }))["type"], "available_recipes");
    let refused = viewer.ask(prompt());
    assert_eq!(refused["error"], "FORBIDDEN");
    assert!(refused["message"].as_str().unwrap().contains("needs the role responder"), "{refused}");
    let mut responder = connect("responder");
    let taken = responder.ask(prompt());
    assert_eq!(taken["type"], "ack", "{taken}");
    assert_eq!(responder.ask(exit())["error"], "FORBIDDEN");
    let mut operator = connect("operator");
    assert_eq!(operator.ask(exit())["error"], "INVALID_STATUS", "it may, but there is no recipe");

    let task = taken["task_id"].as_str().unwrap();
    let bearer = [("Authorization", "Bearer correct-horse-battery")];
    let events = send(&server.address, "GET", &format!("/api/tasks/{task}/events"), &bearer, None).json();
    let by: Vec<&Value> = events["events"].as_array().unwrap().iter().map(|event| &event["by"]).collect();
    assert!(by.contains(&&json!({ "kind": "human", "name": "responder" })), "{by:?}");

    viewer.ask(json!({ "type": "subscribe", "last_seq": 0 }));
    assert_eq!(run(&server, &["token", "revoke", "viewer"]).0, 0);
    while viewer.next().is_some() {}
    assert_eq!(viewer.closed, Some(1008), "closed at once");
    assert_eq!(run(&server, &["token", "revoke", "responder"]).0, 0);
    assert_eq!(responder.ask(prompt())["error"], "UNAUTHORIZED");
}
