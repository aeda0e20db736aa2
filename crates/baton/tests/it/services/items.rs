//! Every kind of item fails in turn: an event reports it, all services continue, and the item recovers.

use baton_engine::base::supervisor::{FAIL_VARIABLE, ItemKind, ServiceName};
use serde_json::{Value, json};

use super::faulty_server::FaultyServer;
use crate::engine::test_repo::TestRepo;
use crate::looping::fixture::rubric;
use crate::machines::sharing::fleet;
use crate::server::client::{Events, get};

fn repo() -> TestRepo {
    let script = json!({ "scripts": [
        { "when": "# Plan:", "steps": [
            { "say": rubric("clear") },
            { "plan": [{ "title": "First part" }] },
            { "result": { "status": "COMPLETE", "output": "Planned." } },
        ] },
        { "when": "# Ask", "resumed": false, "steps": [{ "ask": { "question": "Which port?" } }] },
        { "when": "# Too much", "steps": [{ "turns": 50 }] },
    ], "otherwise": [
        { "write": { "path": "out/{{task}}.txt", "text": "{{task}}\n" } },
        { "commit": "Work on {{task}}" },
        { "result": { "status": "COMPLETE", "output": "Written." } },
    ] });
    let settings = "lease_seconds = 1\nmax_unaccepted = 1000\n[checks]\nquick = [\"true\"]\n[asking]\nexpires_after = 1\n\
                    [notify]\ncommand = [\"sh\", \"-c\", \"cat >> notices; echo >> notices\"]\n";
    TestRepo::scripted(&script, settings)
}

/// How to create an item of a kind, and the service that processes it. A new kind does not compile until it is listed.
struct Row {
    service: ServiceName,
    /// What else has to fail for the item to exist.
    also: &'static str,
    act: fn(&FaultyServer),
    /// Waits until the item has recovered.
    recovered: fn(&FaultyServer),
}

fn row(kind: ItemKind) -> Option<Row> {
    let row = |service, act| Row { service, also: "", act, recovered: |_| {} };
    Some(match kind {
        ItemKind::Attempt => Row {
            recovered: |server| all_in(server, "Work", "provisional"),
            ..row(ServiceName::Dispatcher, |server| add(server, "Work"))
        },
        ItemKind::Landing => Row {
            recovered: |server| all_in(server, "First part", "done"),
            ..row(ServiceName::Loops, |server| {
                start_loop(server, "landing");
                for expected in ["Ready to execute?", "Execute: First part?", "Done: First part?"] {
                    answer(server, "landing", expected);
                }
            })
        },
        ItemKind::Lane => Row {
            recovered: |server| all_in(server, "Land", "done"),
            ..row(ServiceName::Landing, |server| {
                let task = server.repo.add("Land", &[]);
                server.repo.until_queue(&task, "provisional");
                server.repo.stdout(&["accept", &task, "--no-wait"]);
            })
        },
        ItemKind::Lease => Row {
            also: "item:attempt",
            recovered: |server| all_in(server, "Work", "provisional"),
            ..row(ServiceName::Leases, |server| add(server, "Work"))
        },
        // Needs a second machine that reads a log of this one: see the last test of this file.
        ItemKind::Log => return None,
        ItemKind::Loop => Row {
            recovered: |server| drop(question(server, "loop", "Ready to execute?")),
            ..row(ServiceName::Loops, |server| start_loop(server, "loop"))
        },
        ItemKind::Notice => row(ServiceName::Notifier, |server| add(server, "Ask")),
        // The pruner runs at the start and retries soon after a failure.
        ItemKind::Prune => row(ServiceName::Pruner, |_| {}),
        ItemKind::Push => Row {
            recovered: |server| std::fs::remove_file(unpushed(server)).unwrap(),
            ..row(ServiceName::Push, |server| {
                let task = server.repo.add("Work", &[]);
                let note = json!({ "task": task, "attempt": "ATT-0000000000000001", "head": null });
                std::fs::create_dir_all(unpushed(server).parent().unwrap()).unwrap();
                std::fs::write(unpushed(server), note.to_string()).unwrap();
            })
        },
        ItemKind::Question => row(ServiceName::AutoResponder, |server| add(server, "Ask")),
        ItemKind::Recycle => Row {
            recovered: |server| all_in(server, "Too much", "recycled"),
            ..row(ServiceName::Recycler, |server| add(server, "Too much"))
        },
        ItemKind::Removal => row(ServiceName::WorktreeRemover, |server| {
            let task = server.repo.add("Accepted", &[]);
            server.repo.until_queue(&task, "provisional");
            server.repo.stdout(&["accept", &task]);
        }),
        ItemKind::Routine => row(ServiceName::Routines, |server| {
            server.repo.stdout(&["routine", "add", "Look at the alert", "--on", "webhook"]);
        }),
        ItemKind::Run => row(ServiceName::Runs, |server| start_loop(server, "run")),
        ItemKind::Timer => row(ServiceName::Timers, |server| add(server, "Ask")),
        ItemKind::Worktree => row(ServiceName::WorktreePool, |server| add(server, "Work")),
    })
}

fn add(server: &FaultyServer, title: &str) {
    server.repo.add(title, &[]);
}

fn unpushed(server: &FaultyServer) -> std::path::PathBuf {
    server.repo.state().join("unpushed/ATT-0000000000000001.json")
}

fn all_in(server: &FaultyServer, title: &str, queue: &str) {
    let list = || server.repo.json(&["task", "list", "--limit", "200"])["tasks"].as_array().unwrap().clone();
    server.until(&format!("{title} is {queue}"), || {
        list().iter().filter(|task| task["title"] == title).all(|task| task["queue"] == queue)
    });
}

fn start_loop(server: &FaultyServer, session: &str) {
    let words = ["recipe", "start", "plan-execute-review", "--session", session, "--message", "Build it"];
    server.repo.stdout(&words);
}

fn question(server: &FaultyServer, session: &str, expected: &str) -> Value {
    let find = || {
        let pending = server.repo.json(&["questions"])["questions"].as_array().unwrap().clone();
        pending.into_iter().find(|question| {
            question["session_id"] == session && question["text"].as_str().unwrap().contains(expected)
        })
    };
    let mut found = None;
    server.until(&format!("{session} asks {expected}"), || {
        found = find();
        found.is_some()
    });
    found.unwrap()
}

fn answer(server: &FaultyServer, session: &str, expected: &str) {
    let id = question(server, session, expected)["id"].as_str().unwrap().to_owned();
    server.repo.stdout(&["answer", &id, "YES"]);
}

fn fails_alone(server: &FaultyServer, kind: ItemKind, row: &Row, how: &str) {
    let before = server.last_event();
    server.fail(&format!("item:{kind}:{how},{}", row.also));
    (row.act)(server);
    let failed = server.item_failure(kind.as_str(), if kind == ItemKind::Prune { 0 } else { before });
    assert_eq!(failed["service"], row.service.as_str(), "{failed:#}");
    assert!(failed["error"].as_str().unwrap().contains("failure injected into item"), "{failed:#}");
    if let Some(task) = failed["task"].as_str() {
        let timeline = get(&server.address, &format!("/tasks/{task}/details")).body;
        assert!(timeline.contains(&format!("{} failed and retries", row.service)), "{timeline}");
    }
    // All services are running.
    let health = server.health();
    for service in health["services"].as_array().unwrap() {
        assert_eq!(service["state"], "running", "{kind}: {health:#}");
    }
    server.fail("");
    (row.recovered)(server);
    server.until(&format!("no {kind} fails"), || server.service(row.service.as_str())["items_failing"] == 0);
}

#[test]
fn i23_every_kind_of_item_fails_alone_and_recovers() {
    // The pruner runs at once.
    let server = FaultyServer::start(repo(), "item:prune");
    let mut kinds: Vec<ItemKind> = ItemKind::ALL.to_vec();
    kinds.sort_by_key(|kind| *kind != ItemKind::Prune);
    for (kind, how) in kinds.into_iter().zip(["error", "panic"].into_iter().cycle()) {
        if let Some(row) = row(kind) {
            fails_alone(&server, kind, &row, how);
        }
    }
    server.up.end();
}

#[test]
fn i23_a_failing_loop_delays_no_other() {
    let server = FaultyServer::start(repo(), "item:loop/bad");
    start_loop(&server, "bad");
    start_loop(&server, "good");
    question(&server, "good", "Ready to execute?");
    let failed = server.item_failure("loop", 0);
    assert_eq!((failed["item"].as_str(), failed["session"].as_str()), (Some("loop bad"), Some("bad")));
    server.fail("");
    question(&server, "bad", "Ready to execute?");
    server.up.end();
}

#[test]
fn i23_a_log_that_could_not_be_sent_is_sent_later() {
    let Some(fleet) = fleet("log_item", "turns 1; echo visible; work") else { return };
    let failures = fleet.home.join("failures");
    std::fs::write(&failures, "item:log").unwrap();
    let (office, mut lab) = (fleet.machine("office", ""), fleet.machine("lab", ""));
    lab.variables.push((FAIL_VARIABLE.to_owned(), format!("@{}", failures.display())));
    let up = office.up(&["--agents", "0"]);
    let line = up.wait_for_line("Listening on http://");
    let address = line.rsplit("http://").next().unwrap();
    let project = office.project(&fleet);
    let task = office.add(&project, "Work", &[]);
    let worker = lab.worker(&["--agents", "1"]);
    office.until_queue(&task, "provisional");
    let log = || office.try_stdout(&["task", "log", &task]).1;
    assert!(!log().contains("visible"));
    let failed = Events::after(address, 0).find(|event| event["event"] == "item_failed").unwrap();
    assert_eq!(failed["service"], "log_relay", "{failed:#}");
    std::fs::write(&failures, "").unwrap();
    office.until("the log is handed out", || log().contains("visible"));
    worker.end();
    up.end();
}
