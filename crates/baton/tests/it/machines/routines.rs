//! Routines of two servers that share one store: whatever causes a run causes one, also while servers are killed.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::fleet::Machine;
use super::sharing::fleet;
use crate::server::client::send;

/// Adds a routine and returns its id.
fn routine(machine: &Machine, project: &str, words: &[&str]) -> String {
    let added = machine.json(&[&["routine", "add", "--project", project], words].concat());
    added["routine_id"].as_str().unwrap().to_owned()
}

fn shown(machine: &Machine, id: &str) -> Value {
    let all = machine.json(&["routine", "list"])["routines"].as_array().unwrap().clone();
    all.into_iter().find(|routine| routine["routine_id"] == id).unwrap()
}

/// Waits until the routine has run this often, and returns the last task.
fn until_run(machine: &Machine, id: &str, count: u64) -> String {
    let has_run = || shown(machine, id)["run_count"].as_u64().is_some_and(|runs| runs >= count);
    machine.until(&format!("run {count} of {id}"), has_run);
    shown(machine, id)["last"]["task_id"].as_str().unwrap().to_owned()
}

/// How often each cause of the routine has led to a run.
fn causes(machine: &Machine, id: &str) -> BTreeMap<String, usize> {
    let mut causes = BTreeMap::new();
    for line in machine.stdout(&["export", "--events"]).lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let event = if line["event"].is_object() { &line["event"] } else { &line };
        if event["event"] == "routine_ran" && event["routine"] == id {
            *causes.entry(event["cause"].as_str().unwrap().to_owned()).or_default() += 1;
        }
    }
    causes
}

#[test]
fn two_servers_with_one_store_run_every_routine_exactly_once() {
    let Some(fleet) = fleet("routines", "work") else { return };
    let (office, lab) = (fleet.machine("office", ""), fleet.machine("lab", ""));
    let address = |line: String| line.rsplit("//").next().unwrap().trim_end_matches('/').trim().to_owned();
    let leader = office.up(&["--agents", "0"]);
    leader.wait_for_line("Listening");
    let project = office.project(&fleet);
    let follower = lab.up(&["--agents", "1"]);
    let at_lab = address(follower.wait_for_line("Listening"));
    let add = |words: &[&str]| routine(&lab, &project, words);
    let after_tasks = add(&["Update the changelog", "--on", "task:done"]);
    let each_minute =
        add(&["Look around", "--cron", "* * * * *", "--overlap", "replace", "--catch-up", "all"]);
    let called = add(&["Look at the alert", "--on", "webhook", "--overlap", "queue"]);
    let finish = |task: &str| {
        lab.until_queue(task, "provisional");
        lab.stdout(&["accept", task]);
    };
    let work = |count: u64| {
        finish(&lab.add(&project, &format!("Work {count}"), &[]));
        // Its own task is done before the next one begins; had it counted, there would be one run more.
        finish(&until_run(&lab, &after_tasks, count));
    };
    work(1);
    until_run(&lab, &each_minute, 1);
    // The one that has been up longer leads; the other one takes over.
    leader.kill();
    work(2);
    until_run(&lab, &each_minute, 2);
    let again = office.up(&["--agents", "0"]);
    let at_office = address(again.wait_for_line("Listening"));
    work(3);

    // Both are called with one key at the same time.
    let path = format!("/api/routines/{called}/run");
    let body = json!({ "content": "It failed" }).to_string();
    let answers: Vec<Value> = std::thread::scope(|scope| {
        let call = |address: &str| {
            let (address, path, body) = (address.to_owned(), &path, &body);
            scope.spawn(move || {
                let key = [("Idempotency-Key", "once")];
                send(&address, "POST", path, &key, Some(body.as_bytes())).json()
            })
        };
        let calls = [&at_lab, &at_office, &at_lab, &at_office].map(|address| call(address));
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    });
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:#?}");

    let tasks = lab.json(&["task", "list", "--limit", "200"])["tasks"].as_array().unwrap().clone();
    let titled = |title: &str| tasks.iter().filter(|task| task["title"] == title).count();
    for (id, title, expected) in [
        (&after_tasks, "Update the changelog", Some(3)),
        (&called, "Look at the alert", Some(1)),
        // However many minutes have passed.
        (&each_minute, "Look around", None),
    ] {
        let causes = causes(&lab, id);
        assert!(causes.values().all(|count| *count == 1), "{title}: {causes:#?}");
        assert!(expected.is_none_or(|expected| causes.len() == expected), "{title}: {causes:#?}");
        if expected.is_some() {
            assert_eq!(titled(title), causes.len(), "{title}: {tasks:#?}");
        }
    }
    again.end();
    follower.end();
}
