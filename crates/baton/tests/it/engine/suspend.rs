//! A laptop that sleeps for longer than a lease does not lose its own work.

use std::time::{Duration, Instant};

use serde_json::json;

use super::test_repo::{TestRepo, read};
use crate::gate::Gate;
use crate::server::client;

const LEASE: Duration = Duration::from_secs(1);

/// How many rounds the service has completed that renews leases and expires them.
fn lease_rounds(address: &str) -> u64 {
    let health = client::get(address, "/api/health").json();
    let services = health["services"].as_array().unwrap();
    services.iter().find(|service| service["name"] == "leases").unwrap()["rounds"].as_u64().unwrap()
}

#[test]
fn leases_of_live_agents_are_renewed_before_any_expires_after_a_long_pause() {
    let repo = TestRepo::with_agent("", &format!("lease_seconds = {}", LEASE.as_secs()));
    // The agent works for longer than the pause.
    let gate = Gate::closed(repo.home.join("gate"));
    repo.set_agent(&format!("echo started > out.txt\n{}\ngit add -A; git commit -q -m Work", gate.wait()));
    let task = repo.add("Long work", &[]);
    let up = repo.up();
    let line = up.wait_for_line("Listening on http://");
    let address = line.rsplit("http://").next().unwrap();
    repo.until("the agent works", || {
        let attempts = repo.attempts(&task);
        attempts.first().is_some_and(|attempt| {
            let id = attempt["attempt"]["id"].as_str().unwrap();
            repo.state().join("worktrees").join(id).join("out.txt").exists()
        })
    });
    up.signal("-STOP");
    let stopped = Instant::now();
    repo.until("the lease has expired", || stopped.elapsed() > 2 * LEASE);
    up.signal("-CONT");
    // One round may have been interrupted by the pause; the next one is entirely after it.
    let rounds = lease_rounds(address);
    repo.until("a whole round after the pause", || lease_rounds(address) >= rounds + 2);
    assert_eq!(repo.status(&task), "RUNNING");
    gate.open();
    repo.until_queue(&task, "provisional");
    up.end();
    let attempts = repo.attempts(&task);
    assert_eq!(attempts.len(), 1, "{attempts:#?}");
    assert_eq!(repo.show(&task)["verified"]["commits"], json!(1));
    assert_eq!(repo.git(&["log", "--format=%s", &format!("main..baton/{task}")]), "Work");
    repo.stdout(&["accept", &task]);
    repo.git(&["checkout", "-q", "baton/next"]);
    assert_eq!(read(repo.folder.join("out.txt")), "started\n");
}
