//! Six agents at once leak no processes, files or memory.
//!
//! `BATON_SOAK_SECONDS=600 scripts/test -p baton soak` runs for ten minutes; an ordinary test run for a few rounds.

use std::time::{Duration, Instant};

use serde_json::json;

use super::fake::{self, outcome, turns};
use crate::engine::test_repo::{BatonProcess, TestRepo, processes};

const AGENTS: usize = 6;
/// Enough to see a trend in.
const ROUNDS_MIN: usize = 5;
/// What the store's pages, caches and the allocator may take after the first round.
const GROWTH_KIB_MAX: u64 = 48 * 1024;
/// Connections that are being closed.
const FILES_GROWTH_MAX: usize = 24;

struct Size {
    memory_kib: u64,
    files: usize,
    children: usize,
}

fn size(up: &BatonProcess) -> Size {
    let pid = up.pid();
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    let memory_kib = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    let files = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count();
    let children = std::fs::read_dir("/proc").unwrap().flatten().filter(|entry| {
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let command = std::fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default();
        // The git process that resolves refs and the watchdog run as long as Baton does.
        !command.contains("cat-file")
            && !command.contains("agent-watchdog")
            && stat
                .rsplit(')')
                .next()
                .is_some_and(|rest| rest.split_whitespace().nth(1) == Some(&pid.to_string()))
    });
    Size { memory_kib, files, children: children.count() }
}

/// Adds a task for each agent and waits until all are finished.
fn round(repo: &TestRepo, number: usize) -> Vec<String> {
    let tasks: Vec<String> =
        (0..AGENTS).map(|task| repo.add(&format!("Round {number}, task {task}"), &[])).collect();
    for task in &tasks {
        repo.until_queue(task, "provisional");
    }
    tasks
}

#[test]
fn soak_six_agents_leave_no_process_no_file_and_no_memory_behind() {
    let seconds = std::env::var("BATON_SOAK_SECONDS").map_or(0, |text| text.parse().unwrap());
    let script = turns(
        json!([[{ "calls": 5 }, { "text": "working\n" }, { "commit": "work" }, "spawn", outcome("complete")]]),
    );
    let repo = fake::repo(&script, "", "max_agents = 6\nmax_unaccepted = 100000\n");
    let up = repo.up();
    round(&repo, 0);
    let before = size(&up);
    let started = Instant::now();
    let mut rounds = 0;
    let mut last = Vec::new();
    while started.elapsed() < Duration::from_secs(seconds) || rounds < ROUNDS_MIN {
        rounds += 1;
        last = round(&repo, rounds);
    }
    repo.until("the last processes are gone", || size(&up).children == 0);
    let after = size(&up);
    for task in &last {
        assert_eq!(processes(&repo.last_attempt(task)), [] as [&str; 0]);
    }
    let grown = after.memory_kib.saturating_sub(before.memory_kib);
    assert!(
        grown <= GROWTH_KIB_MAX,
        "{} KiB before, {} after {rounds} rounds",
        before.memory_kib,
        after.memory_kib
    );
    assert!(
        after.files <= before.files + FILES_GROWTH_MAX,
        "{} files before, {} after",
        before.files,
        after.files
    );
    up.end();
}
