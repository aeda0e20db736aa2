//! A laptop that sleeps for longer than a lease does not lose its own work.

use std::time::{Duration, Instant};

use serde_json::json;

use super::shop::{Shop, read};
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
    let shop = Shop::with_agent("", &format!("lease_seconds = {}", LEASE.as_secs()));
    // The agent works for longer than the pause.
    let gate = Gate::closed(shop.home.join("gate"));
    shop.agent_does(&format!("echo started > out.txt\n{}\ngit add -A; git commit -q -m Work", gate.wait()));
    let task = shop.add("Long work", &[]);
    let up = shop.up();
    let line = up.hears("Listening on http://");
    let address = line.rsplit("http://").next().unwrap();
    shop.until("the agent works", || {
        let attempts = shop.attempts(&task);
        attempts.first().is_some_and(|attempt| {
            let id = attempt["attempt"]["id"].as_str().unwrap();
            shop.state().join("worktrees").join(id).join("out.txt").exists()
        })
    });
    up.signal("-STOP");
    let stopped = Instant::now();
    shop.until("the lease has expired", || stopped.elapsed() > 2 * LEASE);
    up.signal("-CONT");
    // One round may have been interrupted by the pause; the next one is entirely after it.
    let rounds = lease_rounds(address);
    shop.until("a whole round after the pause", || lease_rounds(address) >= rounds + 2);
    assert_eq!(shop.status(&task), "RUNNING");
    gate.open();
    shop.until_queue(&task, "provisional");
    up.end();
    let attempts = shop.attempts(&task);
    assert_eq!(attempts.len(), 1, "{attempts:#?}");
    assert_eq!(shop.show(&task)["verified"]["commits"], json!(1));
    assert_eq!(shop.git(&["log", "--format=%s", &format!("main..baton/{task}")]), "Work");
    shop.says(&["accept", &task]);
    shop.git(&["checkout", "-q", "baton/next"]);
    assert_eq!(read(shop.folder.join("out.txt")), "started\n");
}
