//! Twenty tasks at once, two of which break a rule together with others and one that conflicts.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::{adding_agent, assert_green, own_history};
use crate::engine::test_repo::TestRepo;

/// Kills in an ordinary test run. `BATON_LANDING_KILLS=200` does more.
const KILLS: u64 = 6;
/// The longest life of a server that is killed.
const LIFE_MS_MAX: u64 = 1_500;

/// `left-N` and `right-N` do not go together.
const RULE: &str = "for n in 1 2; do if test -e left-$n && test -e right-$n; then echo left-$n and right-$n clash; exit 3; fi; done";

/// The titles, with who is expected to go back and why.
fn titles() -> Vec<(String, Option<&'static str>)> {
    let mut all: Vec<(String, Option<&'static str>)> =
        (1..=14).map(|n| (format!("Add file-{n}"), None)).collect();
    for (title, back) in [
        ("Add left-1", None),
        ("Add left-2", None),
        ("Add same", None),
        ("Add right-1", Some("checks_failed")),
        ("Add right-2", Some("checks_failed")),
        ("Add same", Some("conflict")),
    ] {
        all.push((title.to_owned(), back));
    }
    all
}

fn set() -> (TestRepo, Vec<(String, Option<&'static str>)>) {
    let repo = adding_agent(RULE, "exit 1");
    let tasks: Vec<_> = titles().into_iter().map(|(title, back)| (repo.add(&title, &[]), back)).collect();
    let up = repo.up_with(&["--agents", "2"]);
    for (task, _) in &tasks {
        repo.until_queue(task, "provisional");
    }
    up.end();
    // Nobody works on what comes back.
    repo.set_agent("hang");
    (repo, tasks)
}

fn check_ends(repo: &TestRepo, tasks: &[(String, Option<&'static str>)]) {
    for (task, back) in tasks {
        let view = repo.show(task);
        match back {
            None => assert_eq!(view["queue"], "done", "{view:#}"),
            Some(why) => {
                assert_ne!(view["queue"], "done", "{view:#}");
                let notes = view["notes"].as_array().unwrap();
                let sent_back = notes.iter().find(|note| note["note"] == "not_landed");
                assert_eq!(sent_back.unwrap()["reason"]["why"], *why, "{view:#}");
            }
        }
    }
    assert_green(repo, RULE);
    // No work is merged twice: each task's commit is a parent of exactly one commit of the branch's own.
    let mut merged: Vec<String> = Vec::new();
    for commit in own_history(repo) {
        let parents = repo.git(&["rev-list", "--parents", "-n", "1", &commit]);
        merged.extend(parents.split(' ').skip(2).map(str::to_owned));
    }
    let count = merged.len();
    merged.sort();
    merged.dedup();
    assert_eq!((merged.len(), count), (17, 17));
}

fn number(variable: &str, otherwise: impl FnOnce() -> u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or_else(otherwise)
}

fn from_clock() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().subsec_nanos().into()
}

#[test]
fn i18_of_twenty_tasks_seventeen_land_and_three_go_back_with_the_right_reason() {
    let (repo, tasks) = set();
    let ids: Vec<&str> = tasks.iter().map(|(task, _)| task.as_str()).collect();
    let output = repo.output(&[&["accept"], &ids[..]].concat());
    assert_eq!(output.status.code(), Some(1));
    check_ends(&repo, &tasks);
}

#[test]
#[expect(clippy::print_stdout, reason = "a failure is repeated with the number it shows")]
fn i18_killed_again_and_again_the_same_seventeen_land() {
    let mut kills = number("BATON_LANDING_KILLS", || KILLS);
    let mut random = number("BATON_DICE", from_clock);
    println!("BATON_DICE={random}");
    // When everything has landed, the rest of the kills is for another twenty.
    while kills > 0 {
        let (repo, tasks) = set();
        let ids: Vec<&str> = tasks.iter().map(|(task, _)| task.as_str()).collect();
        repo.stdout(&[&["accept", "--no-wait"], &ids[..]].concat());
        let is_over =
            || repo.json(&["task", "list", "--queue", "landing"])["tasks"].as_array().unwrap().is_empty();
        while kills > 0 && !is_over() {
            kills -= 1;
            let up = repo.up();
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // A moment of its life, which is what is at random here.
            std::thread::sleep(Duration::from_millis((random >> 33) % LIFE_MS_MAX));
            up.kill();
        }
        if !is_over() {
            let up = repo.up();
            repo.until("nothing waits to land", is_over);
            up.end();
        }
        check_ends(&repo, &tasks);
        println!("{kills} kills left");
    }
}
