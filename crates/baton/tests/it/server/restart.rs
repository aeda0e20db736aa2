//! What was acknowledged is there after a restart, and after a crash.

use serde_json::json;

use super::client::Events;
use super::place::Place;

#[test]
fn ac_5_tasks_are_there_after_a_restart_and_after_a_crash() {
    let mut place = Place::without_agents().start();
    let project = place.project();
    let first = place.chat(&project, &json!({ "content": "First", "session_id": "kept" }));
    place.stop();
    place.up(&["--listen", "127.0.0.1:0"]);
    assert_eq!(place.task(&first)["description"], "First");
    let second = place.chat(&project, &json!({ "content": "Second", "session_id": "kept" }));
    // Nobody gets to tidy up.
    place.kill();
    place.up(&["--listen", "127.0.0.1:0"]);
    let groups = place.read("/api/task-groups");
    assert_eq!(groups["task_groups"][0]["task_group_id"], "kept");
    assert_eq!(groups["task_groups"][0]["task_count"], 2);
    assert_eq!(place.task(&second)["description"], "Second");
    assert_eq!(place.read("/api/projects")["projects"][0]["project_id"], *project);
}

#[test]
fn a_stop_hands_the_work_back_and_tells_everything_before_streams_end() {
    let mut place = Place::new(&json!([{ "steps": [{ "turns": 1 }, "hang"] }])).start();
    let project = place.project();
    let id = place.chat(&project, &json!({ "content": "Fix the login" }));
    let stream = Events::after(&place.address, 0);
    place.task_when_in(&id, "claimed");
    let said = place.stop();
    assert!(said.contains("Stopping: agents are stopped"), "{said}");
    // The stream was closed by the server, after the last thing that happened.
    let told: Vec<_> = stream.collect();
    assert_eq!(told.last().unwrap()["event"], "task_requeued", "{told:?}");
    let server_file = place.folder.join(".agent/state/test.server.json");
    assert!(!server_file.exists());
    place.up(&["--listen", "127.0.0.1:0"]);
    let log: Vec<_> = Events::after(&place.address, 0).take(told.len()).collect();
    assert_eq!(log, told, "nothing was told that is not kept, and nothing kept that was not told");
}
