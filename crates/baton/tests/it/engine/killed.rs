//! Agents end with a killed Baton, also if Baton is not started again.

use super::test_repo::{TestRepo, processes};

#[test]
fn the_tree_of_an_agent_ends_with_a_killed_baton() {
    let repo = TestRepo::with_agent("", "");
    repo.set_agent("trap '' TERM; setsid --fork tail -f /dev/null; touch ready.scratch; hang");
    let task = repo.add("Wait", &[]);
    let up = repo.up();
    repo.until("the agent is started", || !repo.attempts(&task).is_empty());
    let attempt = repo.last_attempt(&task);
    let folder = repo.state().join("worktrees").join(&attempt);
    repo.until("the agent waits", || folder.join("ready.scratch").exists());
    // The agent itself becomes the second one only after it has said that it is ready.
    let tails = || processes(&attempt).iter().filter(|line| line.starts_with("tail ")).count();
    repo.until("the agent and its daemon run", || tails() == 2);
    up.kill();
    repo.until("nothing of the attempt runs", || processes(&attempt).is_empty());
}
