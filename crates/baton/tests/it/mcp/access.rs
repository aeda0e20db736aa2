//! Access to the tools: trust in the Taskfile, tools that come and go, tokens, the queue.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{McpRepo, PATIENCE, TASKFILE, call, run, tools};

#[tokio::test]
async fn with_trust_prompt_a_person_approves_the_current_file() {
    let repo = McpRepo::new("[user_tasks]\ntrust = \"prompt\"\n");
    repo.write(".agent/Taskfile.yml", TASKFILE);
    let (client, _listener, _child) = repo.client().await;
    let (text, is_error) = run(&client, "greet").await;
    assert!(is_error && text.contains("baton tasks --trust"), "{text}");
    // Without a terminal nothing runs.
    let output = repo.baton().args(["do", "greet"]).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(4), 0));
    let at_terminal = |answer: &str| {
        let shown = format!("{} do greet", env!("CARGO_BIN_EXE_baton"));
        let mut command = Command::new("script");
        command.args(["-qec", &shown, "/dev/null"]).current_dir(&repo.folder).env("BATON_USER", "mia");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        writeln!(child.stdin.take().unwrap(), "{answer}").unwrap();
        let output = child.wait_with_output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let text = at_terminal("n");
    assert!(text.contains("[y/N]") && !text.contains("Hello from"), "{text}");
    let text = at_terminal("y");
    assert!(text.contains("[y/N]") && text.contains("Hello from your custom Taskfile!"), "{text}");
    // The approval is valid until the file changes.
    assert!(run(&client, "greet").await.0.contains("Hello from"));
    repo.write(".agent/Taskfile.yml", &TASKFILE.replace("Hello from", "Howdy from"));
    assert!(run(&client, "greet").await.1);
    let agents = repo.baton().args(["tasks", "--trust"]).env("BATON_TOKEN", "x").output().unwrap();
    assert_eq!(agents.status.code(), Some(4));
    assert!(repo.baton().args(["tasks", "--trust"]).output().unwrap().status.success());
    assert!(run(&client, "greet").await.0.contains("Howdy from"));
}

#[tokio::test]
async fn i12_the_tools_appear_and_disappear_with_the_file_and_the_client_is_notified() {
    let repo = McpRepo::new("");
    // Through a running server, like the client of an agent.
    let (_up, _) = repo.up();
    let (client, listener, _child) = repo.client().await;
    assert!(!tools(&client).await.contains(&"run_user_task".to_owned()));
    repo.write(".agent/Taskfile.yml", TASKFILE);
    tokio::time::timeout(PATIENCE, listener.changed.notified()).await.unwrap();
    assert!(tools(&client).await.contains(&"run_user_task".to_owned()));
    assert!(run(&client, "greet").await.0.contains("Hello from"));
    std::fs::remove_file(repo.folder.join(".agent/Taskfile.yml")).unwrap();
    tokio::time::timeout(PATIENCE, listener.changed.notified()).await.unwrap();
    assert!(!tools(&client).await.contains(&"run_user_task".to_owned()));
}

#[tokio::test]
async fn a_persons_client_manages_the_queue() {
    let repo = McpRepo::new("");
    let (client, _listener, _child) = repo.client().await;
    let (text, is_error) =
        call(&client, "add_task", json!({ "title": "Fix the login", "priority": "P1" })).await;
    assert!(!is_error, "{text}");
    let id = serde_json::from_str::<Value>(&text).unwrap()["task_id"].as_str().unwrap().to_owned();
    assert!(call(&client, "get_next_task", json!({})).await.0.contains(&id));
    assert!(call(&client, "list_tasks", json!({ "title": "LOGIN" })).await.0.contains(&id));
    let (text, is_error) =
        call(&client, "update_task", json!({ "id": id, "title": "Repair the login", "priority": "P0" }))
            .await;
    assert!(!is_error && text.contains("Repair the login"), "{text}");
    let view = repo.json(&["task", "show", &id]);
    assert_eq!((&view["title"], &view["priority"]), (&json!("Repair the login"), &json!("P0")), "{view}");
    let (text, is_error) = call(&client, "update_task", json!({ "id": id })).await;
    assert!(is_error && text.starts_with("nothing to change"), "{text}");
    let (text, is_error) = call(&client, "set_task_status", json!({ "id": id, "status": "COMPLETE" })).await;
    assert!(is_error && text.contains("cannot set a task to COMPLETE"), "{text}");
    call(&client, "set_task_status", json!({ "id": id, "status": "CANCELLED" })).await;
    assert_eq!(repo.json(&["task", "show", &id])["status"], "CANCELLED");
    let (text, is_error) = call(&client, "update_task", json!({ "id": id, "title": "Too late" })).await;
    assert!(is_error && text.contains("revise"), "{text}");
    let (text, is_error) = call(&client, "ask_user", json!({ "question": "Why?" })).await;
    assert!(is_error && text.starts_with("unknown tool ask_user"), "{text}");
}

/// Posts to the server; returns the status and the response.
fn post(address: &str, headers: &str, body: &Value) -> (u16, String) {
    let body = body.to_string();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    (answer.split(' ').nth(1).unwrap().parse().unwrap(), answer)
}

#[test]
fn the_endpoint_speaks_streamable_http_and_refuses_a_token_of_no_live_attempt() {
    let repo = McpRepo::with_tasks();
    let (_up, address) = repo.up();
    let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" },
    }});
    let (status, text) = post(&address, "", &initialize);
    assert_eq!(status, 200, "{text}");
    assert!(text.contains("\"listChanged\":true") && text.contains("\"name\":\"baton\""), "{text}");
    for bad in ["x".to_owned(), format!("ATT-0000000000000007.{}", "a".repeat(64))] {
        let (status, text) = post(&address, &format!("authorization: Bearer {bad}\r\n"), &initialize);
        assert_eq!(status, 401, "{text}");
    }
}
