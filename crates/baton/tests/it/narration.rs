//! `baton up` tells the person at its terminal what happens.

use crate::engine::test_repo::TestRepo;

#[test]
fn up_tells_what_happens_to_each_task() {
    let repo = TestRepo::with_working_agent("");
    let known = repo.add("Known before it starts", &[]);
    let up = repo.up();
    up.wait_for_line(&format!("▶ {known} “Known before it starts”: agent started"));
    up.wait_for_line(&format!("○ {known} “Known before it starts”: ready for review"));
    repo.stdout(&["accept", &known]);
    up.wait_for_line(&format!("✔ {known} “Known before it starts”: accepted and landed"));
    up.end();
}

#[test]
fn quiet_up_tells_nothing_of_tasks() {
    let repo = TestRepo::with_working_agent("");
    let task = repo.add("Work", &[]);
    let up = repo.up_with(&["--quiet"]);
    repo.until_queue(&task, "provisional");
    up.signal("-TERM");
    // The line of the shutdown is the next one about anything that happens.
    let mut seen = String::new();
    while !seen.contains("Stopping") {
        seen = up.wait_for_line("");
        assert!(!seen.contains(&task), "{seen}");
    }
    up.wait_for_exit();
}
