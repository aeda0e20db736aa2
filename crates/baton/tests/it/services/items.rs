//! Every kind of item fails in turn: an event says so, its service and everything else go on, and it recovers.

use baton_engine::base::supervisor::{FAIL_VARIABLE, ItemKind, ServiceName};
use serde_json::{Value, json};

use super::stand::Stand;
use crate::engine::shop::Shop;
use crate::looping::round::rubric;
use crate::machines::sharing::fleet;
use crate::server::client::{Events, get};

fn shop() -> Shop {
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
    let settings = "lease_seconds = 1\nmax_unaccepted = 1000\n[asking]\nexpires_after = 1\n\
                    [notify]\ncommand = [\"sh\", \"-c\", \"cat >> told; echo >> told\"]\n";
    Shop::scripted(&script, settings)
}

/// What makes an item of a kind come up, and which service then fails at it. A new kind does not compile here until it is
/// said.
struct Row {
    service: ServiceName,
    /// What has to fail beside it for the item to exist.
    also: &'static str,
    act: fn(&Stand),
    /// What is so once it works again.
    recovered: fn(&Stand),
}

fn row(kind: ItemKind) -> Option<Row> {
    let row = |service, act| Row { service, also: "", act, recovered: |_| {} };
    Some(match kind {
        ItemKind::Attempt => Row {
            recovered: |stand| all_in(stand, "Work", "provisional"),
            ..row(ServiceName::Dispatcher, |stand| add(stand, "Work"))
        },
        ItemKind::Effect => row(ServiceName::Outbox, |stand| add(stand, "Work")),
        ItemKind::Landing => Row {
            recovered: |stand| all_in(stand, "First part", "done"),
            ..row(ServiceName::Loops, |stand| {
                start_loop(stand, "landing");
                for expected in ["Ready to execute?", "Execute: First part?", "Done: First part?"] {
                    answer(stand, "landing", expected);
                }
            })
        },
        ItemKind::Lease => Row {
            also: "item:attempt",
            recovered: |stand| all_in(stand, "Work", "provisional"),
            ..row(ServiceName::Leases, |stand| add(stand, "Work"))
        },
        // Needs a second machine that wants to see a log of this one: it has a test of its own below.
        ItemKind::Log => return None,
        ItemKind::Loop => Row {
            recovered: |stand| drop(question(stand, "loop", "Ready to execute?")),
            ..row(ServiceName::Loops, |stand| start_loop(stand, "loop"))
        },
        ItemKind::Notice => row(ServiceName::Notifier, |stand| add(stand, "Ask")),
        // Pruned at the start, and again soon when that failed.
        ItemKind::Prune => row(ServiceName::Pruner, |_| {}),
        ItemKind::Push => Row {
            recovered: |stand| std::fs::remove_file(unpushed(stand)).unwrap(),
            ..row(ServiceName::Push, |stand| {
                let task = stand.shop.add("Work", &[]);
                let note = json!({ "task": task, "attempt": "ATT-0000000000000001", "head": null });
                std::fs::create_dir_all(unpushed(stand).parent().unwrap()).unwrap();
                std::fs::write(unpushed(stand), note.to_string()).unwrap();
            })
        },
        ItemKind::Question => row(ServiceName::AutoResponder, |stand| add(stand, "Ask")),
        ItemKind::Recycle => Row {
            recovered: |stand| all_in(stand, "Too much", "recycled"),
            ..row(ServiceName::Recycler, |stand| add(stand, "Too much"))
        },
        ItemKind::Run => row(ServiceName::Runs, |stand| start_loop(stand, "run")),
        ItemKind::Timer => row(ServiceName::Timers, |stand| add(stand, "Ask")),
        ItemKind::Worktree => row(ServiceName::WorktreePool, |stand| add(stand, "Work")),
    })
}

fn add(stand: &Stand, title: &str) {
    stand.shop.add(title, &[]);
}

fn unpushed(stand: &Stand) -> std::path::PathBuf {
    stand.shop.state().join("unpushed/ATT-0000000000000001.json")
}

fn all_in(stand: &Stand, title: &str, queue: &str) {
    let list = || stand.shop.json(&["task", "list", "--limit", "200"])["tasks"].as_array().unwrap().clone();
    stand.until(&format!("{title} is {queue}"), || {
        list().iter().filter(|task| task["title"] == title).all(|task| task["queue"] == queue)
    });
}

fn start_loop(stand: &Stand, session: &str) {
    let words = ["recipe", "start", "plan-execute-review", "--session", session, "--message", "Build it"];
    stand.shop.says(&words);
}

fn question(stand: &Stand, session: &str, expected: &str) -> Value {
    let find = || {
        let pending = stand.shop.json(&["questions"])["questions"].as_array().unwrap().clone();
        pending.into_iter().find(|question| {
            question["session_id"] == session && question["text"].as_str().unwrap().contains(expected)
        })
    };
    stand.until(&format!("{session} asks {expected}"), || find().is_some());
    find().unwrap()
}

fn answer(stand: &Stand, session: &str, expected: &str) {
    let id = question(stand, session, expected)["id"].as_str().unwrap().to_owned();
    stand.shop.says(&["answer", &id, "YES"]);
}

fn fails_alone(stand: &Stand, kind: ItemKind, row: &Row, how: &str) {
    let before = stand.last_event();
    stand.fail(&format!("item:{kind}:{how},{}", row.also));
    (row.act)(stand);
    let failed = stand.item_failure(kind.as_str(), if kind == ItemKind::Prune { 0 } else { before });
    assert_eq!(failed["service"], row.service.as_str(), "{failed:#}");
    assert!(failed["error"].as_str().unwrap().contains("failure injected into item"), "{failed:#}");
    if let Some(task) = failed["task"].as_str() {
        let timeline = get(&stand.address, &format!("/tasks/{task}/timeline")).body;
        assert!(timeline.contains(&format!("{} failed and retries", row.service)), "{timeline}");
    }
    // The service itself is well, and so is everything else.
    let health = stand.health();
    for service in health["services"].as_array().unwrap() {
        assert_eq!(service["state"], "running", "{kind}: {health:#}");
    }
    stand.fail("");
    (row.recovered)(stand);
    stand.until(&format!("no {kind} fails"), || stand.service(row.service.as_str())["items_failing"] == 0);
}

#[test]
fn i23_every_kind_of_item_fails_alone_and_recovers() {
    // The pruner has its first round at once.
    let stand = Stand::start(shop(), "item:prune");
    let mut kinds: Vec<ItemKind> = ItemKind::ALL.to_vec();
    kinds.sort_by_key(|kind| *kind != ItemKind::Prune);
    for (kind, how) in kinds.into_iter().zip(["error", "panic"].into_iter().cycle()) {
        if let Some(row) = row(kind) {
            fails_alone(&stand, kind, &row, how);
        }
    }
    stand.up.end();
}

#[test]
fn i23_a_loop_that_fails_holds_up_no_other() {
    let stand = Stand::start(shop(), "item:loop/bad");
    start_loop(&stand, "bad");
    start_loop(&stand, "good");
    question(&stand, "good", "Ready to execute?");
    let failed = stand.item_failure("loop", 0);
    assert_eq!((failed["item"].as_str(), failed["session"].as_str()), (Some("loop bad"), Some("bad")));
    stand.fail("");
    question(&stand, "bad", "Ready to execute?");
    stand.up.end();
}

#[test]
fn i23_a_log_that_cannot_be_handed_out_is_handed_out_later() {
    let Some(fleet) = fleet("log_item", "turns 1; echo visible; work") else { return };
    let failures = fleet.home.join("failures");
    std::fs::write(&failures, "item:log").unwrap();
    let (desk, mut lab) = (fleet.machine("desk", ""), fleet.machine("lab", ""));
    lab.variables.push((FAIL_VARIABLE.to_owned(), format!("@{}", failures.display())));
    let up = desk.up(&["--agents", "0"]);
    let line = up.hears("Listening on http://");
    let address = line.rsplit("http://").next().unwrap();
    let project = desk.project(&fleet);
    let task = desk.add(&project, "Work", &[]);
    let worker = lab.worker(&["--agents", "1"]);
    desk.until_queue(&task, "provisional");
    let log = || desk.says_or_not(&["task", "log", &task]).1;
    assert!(!log().contains("visible"));
    let failed = Events::after(address, 0).find(|event| event["event"] == "item_failed").unwrap();
    assert_eq!(failed["service"], "log_relay", "{failed:#}");
    std::fs::write(&failures, "").unwrap();
    desk.until("the log is handed out", || log().contains("visible"));
    worker.end();
    up.end();
}
