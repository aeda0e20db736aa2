//! Routines over HTTP: commands, calls with a key, restarts, and the page.

use std::time::Duration;

use serde_json::{Value, json};

use super::client::{Answer, send};
use super::test_server::TestServer;

fn add(server: &TestServer, more: &Value) -> Value {
    let mut new = json!({ "title": "Update dependencies" });
    new.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let added = server.post("/api/routines", &new);
    assert_eq!(added.status, 201, "{added:?}");
    added.json()
}

fn run(server: &TestServer, routine: &Value, key: &str) -> Answer {
    let path = format!("/api/routines/{}/run", routine["routine_id"].as_str().unwrap());
    let body = json!({ "content": "The nightly build failed" }).to_string();
    send(&server.address, "POST", &path, &[("Idempotency-Key", key)], Some(body.as_bytes()))
}

fn verb(server: &TestServer, routine: &Value, verb: &str) -> Value {
    let path = format!("/api/routines/{}/{verb}", routine["routine_id"].as_str().unwrap());
    server.post(&path, &json!({})).json()
}

#[test]
fn a_routine_is_added_paused_resumed_and_removed_and_survives_a_crash() {
    let mut server = TestServer::without_agents().start();
    let monday =
        add(&server, &json!({ "every": "Mon 06:00", "time_zone": "Europe/Berlin", "catch_up": "all" }));
    assert_eq!((&monday["schedule"], &monday["state"]), (&"0 6 * * 1".into(), &"active".into()), "{monday}");
    let next = monday["next_at"].as_str().unwrap().to_owned();
    assert!(next.ends_with("T05:00:00.000Z") || next.ends_with("T04:00:00.000Z"), "{next}");
    assert_eq!(verb(&server, &monday, "pause")["next_at"], Value::Null);
    server.kill();
    server.up(&["--listen", "127.0.0.1:0"]);
    let listed = server.read("/api/routines");
    assert_eq!(listed["routines"][0]["state"], "paused", "{listed}");
    assert_eq!(verb(&server, &monday, "resume")["next_at"], next.as_str());
    let page = server.get("/routines").body;
    assert!(page.contains("Update dependencies") && page.contains(&next), "{page}");
    let path = format!("/api/routines/{}", monday["routine_id"].as_str().unwrap());
    assert_eq!(send(&server.address, "DELETE", &path, &[], None).status, 200);
    assert_eq!(server.get(&path).error(), (404, "NOT_FOUND".to_owned()));
    assert_eq!(server.read("/api/routines")["routines"], json!([]));
}

#[test]
fn a_call_with_a_key_runs_it_once_and_overlap_decides_about_the_next() {
    let mut server = TestServer::without_agents().start();
    let routine = add(&server, &json!({ "on": "webhook" }));
    let first = run(&server, &routine, "one").json();
    assert_eq!(first["status"], "started", "{first}");
    let task = server.task(first["task_id"].as_str().unwrap());
    assert!(task["description"].as_str().unwrap().contains("The nightly build failed"), "{task}");
    server.kill();
    server.up(&["--listen", "127.0.0.1:0"]);
    assert_eq!(run(&server, &routine, "one").json()["task_id"], first["task_id"], "also after a crash");
    assert_eq!(run(&server, &routine, "two").json()["status"], "skipped");

    let queued = add(&server, &json!({ "on": "webhook", "overlap": "queue" }));
    let first = run(&server, &queued, "one").json();
    assert_eq!(run(&server, &queued, "two").json()["status"], "waiting");
    let task = first["task_id"].as_str().unwrap();
    assert_eq!(server.post(&format!("/api/tasks/{task}/cancel"), &json!({})).status, 200);
    let path = format!("/api/routines/{}", queued["routine_id"].as_str().unwrap());
    crate::wait::until(
        Duration::from_mins(4),
        || server.read(&path)["run_count"] == 2,
        || format!("the waiting run: {:#}", server.read(&path)),
    );

    let replacing = add(&server, &json!({ "on": "webhook", "overlap": "replace" }));
    let first = run(&server, &replacing, "one").json();
    assert_eq!(run(&server, &replacing, "two").json()["status"], "started");
    assert_eq!(server.task(first["task_id"].as_str().unwrap())["status"], "CANCELLED");
}

#[test]
fn a_routine_that_makes_no_sense_is_refused() {
    let server = TestServer::without_agents().start();
    for wrong in [
        json!({ "title": "x" }),
        json!({ "title": "x", "every": "Mon 06:00", "on": "webhook" }),
        json!({ "title": "x", "every": "sometimes" }),
        json!({ "title": "x", "cron": "* * *" }),
        json!({ "title": "x", "cron": "0 0 30 2 *" }),
        json!({ "title": "x", "on": "full-moon" }),
        json!({ "title": "x", "every": "06:00", "time_zone": "Middle/Earth" }),
        json!({ "title": " ", "every": "06:00" }),
        json!({ "title": "x", "every": "06:00", "overlap": "perhaps" }),
    ] {
        let refused = server.post("/api/routines", &wrong);
        assert_eq!(refused.error(), (400, "INVALID_INPUT".to_owned()), "{wrong}");
    }
    let missing = json!({ "title": "x", "every": "06:00", "project_id": "PROJ-00000000" });
    assert_eq!(server.post("/api/routines", &missing).status, 404);
    assert_eq!(server.read("/api/routines")["routines"], json!([]));
}

#[test]
fn a_paused_routine_is_not_started_by_its_webhook() {
    let server = TestServer::without_agents().start();
    let made = server.post("/api/routines", &json!({ "title": "Look at the alert", "on": "webhook" })).json();
    let path = format!("/api/routines/{}", made["routine_id"].as_str().unwrap());
    assert_eq!(server.post(&format!("{path}/pause"), &json!({})).status, 200);
    let called = server.post(&format!("{path}/run"), &json!({ "content": "The disk is full" }));
    assert_eq!(called.json()["status"], "paused", "{called:?}");
    let by_hand =
        server.command().args(["routine", "run", &path["/api/routines/".len()..]]).output().unwrap();
    let said = String::from_utf8_lossy(&by_hand.stderr).into_owned();
    assert_eq!(by_hand.status.code(), Some(4), "{said}");
    assert!(said.contains("is paused") && said.contains("baton routine resume"), "{said}");
    assert_eq!(server.read("/api/tasks")["tasks"], json!([]));
    assert_eq!(server.post(&format!("{path}/resume"), &json!({})).status, 200);
    let called = server.post(&format!("{path}/run"), &json!({ "content": "The disk is full" }));
    assert_eq!(called.json()["status"], "started", "{called:?}");
}
