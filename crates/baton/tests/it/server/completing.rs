//! A project that is completed in the same moment in which it gets work.

use std::sync::Barrier;
use std::thread;

use serde_json::json;

use super::client;
use super::test_server::TestServer;

const ROUNDS: u32 = 60;

#[test]
fn a_project_completed_while_it_gets_work_is_open() {
    let server = TestServer::without_agents().start();
    let address = server.address.as_str();
    for round in 0..ROUNDS {
        let body = json!({ "path": server.folder, "title": format!("Round {round}") });
        let made = client::post(address, "/api/projects", &body).json();
        let project = made["project_id"].as_str().unwrap();
        let first = add(address, project, "First");
        client::post(address, &format!("/api/tasks/{first}/cancel"), &json!({}));

        let together = Barrier::new(2);
        thread::scope(|scope| {
            scope.spawn(|| {
                together.wait();
                // Refused when it comes later.
                client::post(address, &format!("/api/projects/{project}/complete"), &json!({}));
            });
            together.wait();
            add(address, project, "Second");
        });

        let shown = client::get(address, &format!("/api/projects/{project}")).json();
        assert_eq!(shown["project_id"], project);
        assert!(!shown["completed_at"].is_string(), "round {round}: {shown:#}");
    }
}

fn add(address: &str, project: &str, title: &str) -> String {
    let body = json!({ "title": title, "project_id": project });
    let added = client::post(address, "/api/tasks", &body).json();
    added["task_id"].as_str().unwrap_or_else(|| panic!("{added:#}")).to_owned()
}
