//! After a server was killed, commands recognise its file as stale and do not wait for it.

use std::io::ErrorKind;
use std::net::TcpListener;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::server::test_server::TestServer;

fn file(server: &TestServer) -> PathBuf {
    server.folder.join(".agent/state/test.server.json")
}

fn lists(server: &TestServer) -> String {
    let output = server.command().args(["task", "list"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Another program, at the address that the file of the killed server names. Its port may be anybody's by now.
fn stranger(server: &TestServer) -> TcpListener {
    let stranger = TcpListener::bind("127.0.0.1:0").unwrap();
    stranger.set_nonblocking(true).unwrap();
    let text = std::fs::read_to_string(file(server)).unwrap();
    let moved = text.replace(&server.address, &stranger.local_addr().unwrap().to_string());
    assert_ne!(moved, text);
    std::fs::write(file(server), moved).unwrap();
    stranger
}

#[test]
fn after_a_server_was_killed_commands_open_the_store() {
    let mut server = TestServer::without_agents().start();
    server.post("/api/tasks", &json!({ "title": "Fix the login" }));
    server.kill();
    assert!(file(&server).exists(), "a killed server leaves its file");
    assert!(lists(&server).contains("Fix the login"));
    let added = server.command().args(["task", "add", "Another"]).output().unwrap();
    assert!(added.status.success());
    // The next server replaces the file.
    server.up(&["--listen", "127.0.0.1:0"]);
    assert_eq!(server.read("/api/tasks")["tasks"].as_array().unwrap().len(), 2);
    assert!(lists(&server).contains("Another"));
    server.stop();
    assert!(!file(&server).exists());
}

#[test]
fn another_program_on_the_port_of_a_killed_server_is_sent_nothing() {
    let mut server = TestServer::without_agents();
    server.up(&["--listen", "127.0.0.1:0", "--token", "correct-horse-battery"]);
    server.kill();
    let stranger = stranger(&server);
    lists(&server);
    assert_eq!(stranger.accept().unwrap_err().kind(), ErrorKind::WouldBlock, "no connection was made");
}

#[test]
fn a_reused_pid_is_not_the_server() {
    let mut server = TestServer::without_agents().start();
    server.kill();
    let stranger = stranger(&server);
    let mut content: Value = serde_json::from_str(&std::fs::read_to_string(file(&server)).unwrap()).unwrap();
    content["pid"] = json!(std::process::id());
    content["process"]["pid"] = json!(std::process::id());
    std::fs::write(file(&server), content.to_string()).unwrap();
    lists(&server);
    assert_eq!(stranger.accept().unwrap_err().kind(), ErrorKind::WouldBlock, "no connection was made");
    for nonsense in ["", "{", "{}", "[]", r#"{"url": 7}"#, "\u{0}"] {
        std::fs::write(file(&server), nonsense).unwrap();
        lists(&server);
    }
}

#[test]
fn a_server_that_refuses_is_exit_code_3() {
    let mut server = TestServer::without_agents();
    server.up(&["--listen", "127.0.0.1:0", "--token", "correct-horse-battery"]);
    let text = std::fs::read_to_string(file(&server)).unwrap();
    std::fs::write(file(&server), text.replace("correct-horse-battery", "wrong-horse-battery")).unwrap();
    let output = server.command().args(["task", "list"]).output().unwrap();
    let printed = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{printed}");
    assert!(printed.contains("missing or invalid token") && !printed.contains("horse"), "{printed}");
}
