//! Faults under a running server: a store that is deleted, text made to be slow, headers, guesses.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::test_server::TestServer;
use crate::terminal::TerminalProcess;

#[test]
fn i5_a_deleted_store_is_saved_and_never_replaced_by_an_empty_one() {
    let mut server = TestServer::without_agents().start();
    assert_eq!(server.post("/api/tasks", &json!({ "title": "Precious" })).status, 201);
    let state = server.folder.join(".agent/state");
    // The store first: Baton writes into the folder meanwhile, and may notice and save what it has, so that deleting all of
    // it fails, or deletes the saved copy.
    fs::remove_file(state.join("test.db")).unwrap();
    for rest in ["test.db-wal", "test.db-shm"] {
        let _ = fs::remove_file(state.join(rest));
    }
    let _ = fs::remove_dir_all(&state);

    let refused = server.post("/api/tasks", &json!({ "title": "Lost" }));
    assert!(refused.status >= 500 && refused.body.contains("store_gone"), "{}", refused.body);
    let health = server.read("/api/health");
    assert_eq!(
        (health["status"].as_str(), health["store"]["is_writable"].as_bool()),
        (Some("degraded"), Some(false))
    );
    let rescued = state.join("test.db.rescued-1");
    let mode = fs::metadata(&rescued).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "nobody else reads it");

    fs::remove_file(&rescued).unwrap();
    assert!(server.post("/api/tasks", &json!({ "title": "Lost" })).status >= 500);
    assert!(rescued.exists(), "the saved copy is written again when it was deleted too");
    server.stop();

    let refused = server.command().args(["task", "list"]).output().unwrap();
    let text = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && text.contains("has been deleted"), "{text}");
    assert!(text.contains("baton restore"), "{text}");
    assert!(!state.join("test.db").exists());
    let restored = server.command().arg("restore").arg(&rescued).output().unwrap();
    assert!(restored.status.success(), "{}", String::from_utf8_lossy(&restored.stderr));
    let listed = server.command().args(["task", "list"]).output().unwrap();
    assert!(String::from_utf8_lossy(&listed.stdout).contains("Precious"));
}

#[test]
fn escape_sequences_of_agents_do_not_reach_the_terminal() {
    let server = TestServer::without_agents().start();
    let title = "Look\u{1b}]52;c;aGk=\u{7}\u{1b}[2J here\u{202e}";
    assert_eq!(server.post("/api/tasks", &json!({ "title": title })).status, 201);
    let mut list = server.command();
    // Baton's own colours are sequences, too.
    list.args(["task", "list"]).env("NO_COLOR", "1");
    let (_, shown) = TerminalProcess::start(list).end();
    assert!(shown.contains("Look␛]52;c;aGk=␇␛[2J here"), "{shown:?}");
    assert!(!shown.contains('\u{1b}') && !shown.contains('\u{202e}'), "{shown:?}");
}

#[test]
fn nested_quotes_do_not_stop_the_server() {
    let server = TestServer::without_agents().start();
    let deep = ">".repeat(250_000);
    let added = server.post("/api/tasks", &json!({ "title": "Deep", "description": deep }));
    let id = added.json()["task_id"].as_str().unwrap().to_owned();
    assert_eq!(server.get(&format!("/tasks/{id}")).status, 200);
}

#[test]
fn every_response_has_one_type_and_is_never_guessed_at() {
    let server = TestServer::without_agents().start();
    for path in [
        "/",
        "/board",
        "/api/health",
        "/api/tasks/TASK-00000000",
        "/no/such/path",
        "/metrics",
        "/badge/0.svg",
    ] {
        let head = server.get(path).head;
        assert_eq!(head.matches("content-type:").count(), 1, "{path}: {head}");
        for header in ["x-content-type-options: nosniff", "content-security-policy:", "cache-control:"] {
            assert!(head.contains(header), "{path}: {header}: {head}");
        }
    }
}

#[test]
fn guessing_tokens_is_slow() {
    let mut server = TestServer::without_agents();
    server.variables = vec![("BATON_SERVER_TOKEN".to_owned(), "correct-horse-battery".to_owned())];
    server.up(&["--listen", "127.0.0.1:0"]);
    let guess = |token: &str| server.post("/api/login", &json!({ "token": token })).status;
    let refused: Vec<u16> = (0..30).map(|number| guess(&format!("wrong-horse-battery-{number}"))).collect();
    assert_eq!(refused[0], 401);
    assert_eq!(refused[29], 429, "{refused:?}");
}
