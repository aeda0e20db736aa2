//! A server that is gone without a word: its file is known to be stale, and nobody waits for it.

use std::io::ErrorKind;
use std::net::TcpListener;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::server::place::Place;

fn file(place: &Place) -> PathBuf {
    place.folder.join(".agent/state/test.server.json")
}

fn lists(place: &Place) -> String {
    let output = place.command().args(["task", "list"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn beside_a_killed_server_commands_open_the_store() {
    let mut place = Place::without_agents().start();
    place.post("/api/tasks", &json!({ "title": "Fix the login" }));
    place.kill();
    assert!(file(&place).exists(), "it had no time to clean up");
    assert!(lists(&place).contains("Fix the login"));
    let added = place.command().args(["task", "add", "Another"]).output().unwrap();
    assert!(added.status.success());
    // The next server takes over where the dead one was.
    place.up(&["--listen", "127.0.0.1:0"]);
    assert_eq!(place.read("/api/tasks")["tasks"].as_array().unwrap().len(), 2);
    assert!(lists(&place).contains("Another"));
    place.stop();
    assert!(!file(&place).exists());
}

#[test]
fn another_program_on_the_dead_servers_port_is_sent_nothing() {
    let mut place = Place::without_agents();
    place.up(&["--listen", "127.0.0.1:0", "--token", "correct-horse-battery"]);
    place.kill();
    let stranger = TcpListener::bind(&place.address).unwrap();
    stranger.set_nonblocking(true).unwrap();
    lists(&place);
    assert_eq!(stranger.accept().unwrap_err().kind(), ErrorKind::WouldBlock, "nobody came");
}

#[test]
fn a_pid_that_somebody_else_has_by_now_is_not_the_server() {
    let mut place = Place::without_agents().start();
    let mut content: Value = serde_json::from_str(&std::fs::read_to_string(file(&place)).unwrap()).unwrap();
    place.kill();
    let stranger = TcpListener::bind(&place.address).unwrap();
    stranger.set_nonblocking(true).unwrap();
    content["pid"] = json!(std::process::id());
    content["process"]["pid"] = json!(std::process::id());
    std::fs::write(file(&place), content.to_string()).unwrap();
    lists(&place);
    assert_eq!(stranger.accept().unwrap_err().kind(), ErrorKind::WouldBlock, "nobody came");
    for nonsense in ["", "{", "{}", "[]", r#"{"url": 7}"#, "\u{0}"] {
        std::fs::write(file(&place), nonsense).unwrap();
        lists(&place);
    }
}

#[test]
fn a_server_that_refuses_is_exit_code_3() {
    let mut place = Place::without_agents();
    place.up(&["--listen", "127.0.0.1:0", "--token", "correct-horse-battery"]);
    let text = std::fs::read_to_string(file(&place)).unwrap();
    std::fs::write(file(&place), text.replace("correct-horse-battery", "wrong-horse-battery")).unwrap();
    let output = place.command().args(["task", "list"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("missing or invalid token") && !said.contains("horse"), "{said}");
}
