//! A laptop that sleeps longer than a lease does not lose its work to itself.

use serde_json::json;

use super::shop::{Shop, read};

#[test]
fn leases_of_live_agents_are_renewed_before_expiry_is_judged_after_a_long_pause() {
    // The agent works on for as long as the file is not there, which is longer than the pause.
    let agent = "echo started > out.txt
        while ! test -e \"$(git rev-parse --git-common-dir)/go-on\"; do sleep 0.05; done
        git add -A && git commit -q -m Work";
    let shop = Shop::with_agent(agent, "lease_seconds = 1");
    let task = shop.add("Long work", &[]);
    let up = shop.up();
    shop.until("the agent works", || {
        let attempts = shop.attempts(&task);
        attempts.first().is_some_and(|attempt| {
            shop.state()
                .join("worktrees")
                .join(attempt["attempt"]["id"].as_str().unwrap())
                .join("out.txt")
                .exists()
        })
    });
    up.signal("-STOP");
    // Asleep until the lease has run out, as the store's own clock tells it.
    let started = std::time::Instant::now();
    shop.until("the lease is over", || started.elapsed().as_millis() > 2_500);
    up.signal("-CONT");
    // Awake for longer than another lease, so that whatever would be judged has been.
    let awake = std::time::Instant::now();
    shop.until("it had time to judge", || awake.elapsed().as_millis() > 1_500);
    assert_eq!(shop.status(&task), "RUNNING");
    std::fs::write(shop.folder.join(".git/go-on"), "").unwrap();
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
