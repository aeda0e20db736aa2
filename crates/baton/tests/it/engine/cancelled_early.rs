//! Tasks that are cancelled while their agent is being started.

use std::thread::sleep;
use std::time::Duration;

use serde_json::json;

use super::test_repo::TestRepo;
use crate::server::client;

#[test]
fn tasks_cancelled_while_their_agents_start_are_not_blamed_on_the_agent() {
    let repo = TestRepo::with_working_agent("max_agents = 4");
    let up = repo.up();
    let line = up.wait_for_line("Listening on http://");
    let address = line.rsplit("http://").next().unwrap();
    // An attempt takes some time from its claim to its agent's first turn: each moment of that has its turn.
    for moment in 0..30_u64 {
        let body = json!({ "title": format!("Cancelled {moment}"), "description": "" });
        let added = client::post(address, "/api/tasks", &body).json();
        let task = added["task_id"].as_str().unwrap();
        sleep(Duration::from_millis(moment * 7));
        client::post(address, &format!("/api/tasks/{task}/cancel"), &json!({}));
    }
    let last = repo.add("Carried out", &[]);
    repo.until("it is done, or its agent on hold", || {
        repo.queue(&last) == "provisional" || repo.json(&["hold", "list"])["holds"] != json!([])
    });
    assert_eq!(repo.json(&["hold", "list"])["holds"], json!([]));
    up.end();
}
