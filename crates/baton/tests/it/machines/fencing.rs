//! A machine that was away and comes back: its word counts for nothing, and its work is not lost.

use super::fleet::Fleet;
use super::sharing::fleet;
use crate::gate::Gate;

/// Commits something of its attempt's own. The first attempt says that it is there, and waits until it may end.
fn agent(fleet: &Fleet, gate: &Gate) -> String {
    let (home, wait) = (fleet.home.display(), gate.wait());
    format!(
        "turns 1; echo mine > \"$BATON_TASK_ID-$BATON_ATTEMPT_NUMBER.txt\"; git add -A; git commit -q -m Part\n\
         echo loose > loose-$BATON_ATTEMPT_NUMBER.txt\n\
         if [ \"$BATON_ATTEMPT_NUMBER\" = 1 ]; then\n\
         touch {home}/begun; {wait}; fi"
    )
}

fn begun(fleet: &Fleet) -> bool {
    fleet.home.join("begun").exists()
}

#[test]
fn a_machine_that_was_away_writes_nothing_and_its_work_is_kept() {
    let Some(fleet) = fleet("fence", "") else { return };
    let gate = Gate::closed(fleet.home.join("gate"));
    fleet.agent_does(&agent(&fleet, &gate));
    let settings = "lease_seconds = 2";
    let (desk, away, here) =
        (fleet.machine("desk", settings), fleet.machine("away", settings), fleet.machine("here", settings));
    let up = desk.up(&["--agents", "0"]);
    up.hears("Listening");
    let project = desk.project(&fleet);
    let task = desk.add(&project, "Work", &[]);
    let first = away.worker(&[]);
    desk.until("the agent is at work", || begun(&fleet));
    // Its agent works on; the machine itself is as good as gone.
    first.signal("-STOP");
    let second = here.worker(&[]);
    desk.until_queue(&task, "provisional");
    desk.says(&["accept", &task]);
    let attempts = desk.task(&task)["attempts"].as_array().unwrap().clone();
    let lost = attempts[0]["attempt"]["id"].as_str().unwrap().to_owned();
    assert_eq!(attempts[0]["closing"]["closing"], "lost");
    assert_eq!(attempts.len(), 2);

    gate.open();
    first.signal("-CONT");
    let vault = format!("refs/baton/vault/{lost}");
    desk.until("its work arrives under its own name", || !fleet.git(&["for-each-ref", &vault]).is_empty());
    first.end();
    second.end();
    assert_eq!(desk.task(&task)["attempts"].as_array().unwrap().len(), 2);
    assert_eq!(desk.task(&task)["queue"], "done");
    for branch in ["main".to_owned(), format!("baton/{task}")] {
        let files = fleet.files(&branch);
        assert!(files.contains(&format!("{task}-2.txt")), "{branch}: {files:?}");
        assert!(!files.contains(&format!("{task}-1.txt")), "{branch}: {files:?}");
    }
    // Any machine can bring back what it had, committed or not.
    let into = fleet.home.join("restored");
    desk.says(&["task", "restore", &lost, into.to_str().unwrap()]);
    assert!(into.join(format!("{task}-1.txt")).exists() && into.join("loose-1.txt").exists());
    up.end();
}

#[test]
fn a_worker_that_is_told_to_end_hands_its_work_over_unblamed() {
    let Some(fleet) = fleet("drain", "") else { return };
    let gate = Gate::closed(fleet.home.join("gate"));
    fleet.agent_does(&agent(&fleet, &gate));
    let (desk, one, other) =
        (fleet.machine("desk", ""), fleet.machine("one", ""), fleet.machine("other", ""));
    let up = desk.up(&["--agents", "0"]);
    up.hears("Listening");
    let project = desk.project(&fleet);
    let task = desk.add(&project, "Work", &[]);
    let first = one.worker(&["--grace", "0"]);
    desk.until("the agent is at work", || begun(&fleet));
    first.end();
    let shown = desk.task(&task);
    assert_eq!(
        (&shown["queue"], &shown["attempts"][0]["closing"]["closing"]),
        (&"incoming".into(), &"lost".into())
    );
    let second = other.worker(&[]);
    desk.until_queue(&task, "provisional");
    second.end();
    // It went on from what the first had, also from what was not committed.
    let files = fleet.files(&format!("baton/{task}"));
    for file in [format!("{task}-1.txt"), format!("{task}-2.txt"), "loose-1.txt".to_owned()] {
        assert!(files.contains(&file), "{file}: {files:?}");
    }
    assert_eq!(desk.task(&task)["attempts"][1]["closing"]["end"]["verified"]["commits"], 3);
    up.end();
}

#[test]
fn a_draining_worker_finishes_what_it_has_and_takes_nothing_new() {
    let Some(fleet) = fleet("grace", "") else { return };
    let gate = Gate::closed(fleet.home.join("gate"));
    fleet.agent_does(&agent(&fleet, &gate));
    let (desk, one) = (fleet.machine("desk", ""), fleet.machine("one", ""));
    let up = desk.up(&["--agents", "0"]);
    up.hears("Listening");
    let project = desk.project(&fleet);
    let task = desk.add(&project, "Work", &[]);
    let worker = one.worker(&["--grace", "60", "--label", "gpu"]);
    desk.until("the agent is at work", || begun(&fleet));
    worker.signal("-TERM");
    worker.hears("Draining");
    desk.until("others see it", || {
        let workers = desk.json(&["workers"]);
        workers["workers"].as_array().unwrap().iter().any(|one| one["state"] == "draining")
    });
    let late = desk.add(&project, "Too late", &[]);
    gate.open();
    worker.ended();
    assert_eq!(desk.task(&task)["queue"], "provisional");
    assert_eq!(desk.task(&late)["attempts"].as_array().unwrap().len(), 0);
    up.end();
}

#[test]
fn work_goes_where_what_it_needs_is() {
    let Some(fleet) = fleet("needs", "turns 1; work") else { return };
    let (desk, plain, gpu) =
        (fleet.machine("desk", ""), fleet.machine("plain", ""), fleet.machine("gpu", ""));
    let up = desk.up(&["--agents", "0"]);
    up.hears("Listening");
    let project = desk.project(&fleet);
    let special = desk.add(&project, "Train", &["--needs", "gpu"]);
    let usual = desk.add(&project, "Write", &[]);
    let first = plain.worker(&[]);
    desk.until_queue(&usual, "provisional");
    assert_eq!(desk.task(&special)["queue"], "incoming");
    let second = gpu.worker(&["--label", "gpu"]);
    desk.until_queue(&special, "provisional");
    first.end();
    second.end();
    up.end();
}
