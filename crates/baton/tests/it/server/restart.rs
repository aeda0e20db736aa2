//! Acknowledged changes survive a restart and a kill.

use serde_json::json;

use super::client::Events;
use super::test_server::TestServer;

#[test]
fn ac_5_tasks_are_there_after_a_restart_and_after_a_crash() {
    let mut server = TestServer::without_agents().start();
    let project = server.project();
    let first = server.chat(&project, &json!({ "content": "First", "session_id": "kept" }));
    server.stop();
    server.up(&["--listen", "127.0.0.1:0"]);
    assert_eq!(server.task(&first)["description"], "First");
    let second = server.chat(&project, &json!({ "content": "Second", "session_id": "kept" }));
    // Without a clean shutdown.
    server.kill();
    server.up(&["--listen", "127.0.0.1:0"]);
    let groups = server.read("/api/task-groups");
    assert_eq!(groups["task_groups"][0]["task_group_id"], "kept");
    assert_eq!(groups["task_groups"][0]["task_count"], 2);
    assert_eq!(server.task(&second)["description"], "Second");
    assert_eq!(server.read("/api/projects")["projects"][0]["project_id"], *project);
}

#[test]
fn a_stop_requeues_the_work_and_streams_end_after_the_last_event() {
    let mut server = TestServer::new(&json!([{ "steps": [{ "turns": 1 }, "hang"] }])).start();
    let project = server.project();
    let id = server.chat(&project, &json!({ "content": "Fix the login" }));
    let stream = Events::after(&server.address, 0);
    server.wait_for_queue(&id, "claimed");
    let printed = server.stop();
    assert!(printed.contains("Stopping: agents are stopped"), "{printed}");
    // The server closed the stream after the last event.
    let streamed: Vec<_> = stream.collect();
    assert_eq!(streamed.last().unwrap()["event"], "task_requeued", "{streamed:?}");
    let server_file = server.folder.join(".agent/state/test.server.json");
    assert!(!server_file.exists());
    server.up(&["--listen", "127.0.0.1:0"]);
    let log: Vec<_> = Events::after(&server.address, 0).take(streamed.len()).collect();
    assert_eq!(log, streamed, "the stream and the stored log are the same");
}
