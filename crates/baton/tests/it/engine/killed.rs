//! An agent does not outlive a Baton that was killed, also when no other Baton is started.

use super::shop::{Shop, processes};

#[test]
fn the_tree_of_an_agent_ends_with_a_killed_baton() {
    let shop = Shop::with_agent("", "");
    shop.agent_does("trap '' TERM; setsid --fork tail -f /dev/null; touch ready.scratch; hang");
    let task = shop.add("Wait", &[]);
    let up = shop.up();
    shop.until("the agent is started", || !shop.attempts(&task).is_empty());
    let attempt = shop.last_attempt(&task);
    let folder = shop.state().join("worktrees").join(&attempt);
    shop.until("the agent waits", || folder.join("ready.scratch").exists());
    let running = processes(&attempt);
    assert_eq!(running.iter().filter(|line| line.starts_with("tail ")).count(), 2, "{running:?}");
    up.kill();
    shop.until("nothing of the attempt runs", || processes(&attempt).is_empty());
}
