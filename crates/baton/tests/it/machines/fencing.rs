//! Machines that lost their lease, that are stopped or drained, and tasks that need labels.

use super::fleet::Fleet;
use super::sharing::fleet;
use crate::gate::Gate;

/// Commits a file and leaves another one uncommitted. The first attempt then waits at the gate.
fn agent(fleet: &Fleet, gate: &Gate) -> String {
    let (home, wait) = (fleet.home.display(), gate.wait());
    format!(
        "turns 1; echo mine > \"$BATON_TASK_ID-$BATON_ATTEMPT_NUMBER.txt\"; git add -A; git commit -q -m Part\n\
         echo loose > loose-$BATON_ATTEMPT_NUMBER.txt\n\
         if [ \"$BATON_ATTEMPT_NUMBER\" = 1 ]; then\n\
         touch {home}/begun; {wait}; fi"
    )
}

fn has_begun(fleet: &Fleet) -> bool {
    fleet.home.join("begun").exists()
}

#[test]
fn a_machine_that_lost_its_lease_writes_nothing_and_its_work_is_kept() {
    let Some(fleet) = fleet("fence", "") else { return };
    let gate = Gate::closed(fleet.home.join("gate"));
    fleet.set_agent(&agent(&fleet, &gate));
    // Long enough that a busy machine keeps the leases of the processes that are not stopped.
    let settings = "lease_seconds = 10";
    let (office, away, here) =
        (fleet.machine("office", settings), fleet.machine("away", settings), fleet.machine("here", settings));
    let up = office.up(&["--agents", "0"]);
    up.wait_for_line("Listening");
    let project = office.project(&fleet);
    let task = office.add(&project, "Work", &[]);
    let first = away.worker(&[]);
    office.until("the agent is at work", || has_begun(&fleet));
    // The agent continues, but its machine is stopped.
    first.signal("-STOP");
    let second = here.worker(&[]);
    office.until_queue(&task, "provisional");
    office.stdout(&["accept", &task]);
    let attempts = office.task(&task)["attempts"].as_array().unwrap().clone();
    let lost = attempts[0]["attempt"]["id"].as_str().unwrap().to_owned();
    assert_eq!(attempts[0]["closing"]["closing"], "lost");
    assert_eq!(attempts.len(), 2);

    gate.open();
    first.signal("-CONT");
    let vault = format!("refs/baton/vault/{lost}");
    office.until("its work arrives under its own name", || !fleet.git(&["for-each-ref", &vault]).is_empty());
    first.end();
    second.end();
    assert_eq!(office.task(&task)["attempts"].as_array().unwrap().len(), 2);
    assert_eq!(office.task(&task)["queue"], "done");
    for branch in ["main".to_owned(), format!("baton/{task}")] {
        let files = fleet.files(&branch);
        assert!(files.contains(&format!("{task}-2.txt")), "{branch}: {files:?}");
        assert!(!files.contains(&format!("{task}-1.txt")), "{branch}: {files:?}");
    }
    // Any machine can restore its files, committed or not.
    let into = fleet.home.join("restored");
    office.stdout(&["task", "restore", &lost, into.to_str().unwrap()]);
    assert!(into.join(format!("{task}-1.txt")).exists() && into.join("loose-1.txt").exists());
    up.end();
}

#[test]
fn a_stopped_worker_returns_its_task_with_the_work_so_far() {
    let Some(fleet) = fleet("drain", "") else { return };
    let gate = Gate::closed(fleet.home.join("gate"));
    fleet.set_agent(&agent(&fleet, &gate));
    let (office, one, other) =
        (fleet.machine("office", ""), fleet.machine("one", ""), fleet.machine("other", ""));
    let up = office.up(&["--agents", "0"]);
    up.wait_for_line("Listening");
    let project = office.project(&fleet);
    let task = office.add(&project, "Work", &[]);
    let first = one.worker(&["--grace", "0"]);
    office.until("the agent is at work", || has_begun(&fleet));
    first.end();
    let shown = office.task(&task);
    assert_eq!(
        (&shown["queue"], &shown["attempts"][0]["closing"]["closing"]),
        (&"incoming".into(), &"lost".into())
    );
    let second = other.worker(&[]);
    office.until_queue(&task, "provisional");
    second.end();
    // The second attempt continued from the first one's files, also the uncommitted ones.
    let files = fleet.files(&format!("baton/{task}"));
    for file in [format!("{task}-1.txt"), format!("{task}-2.txt"), "loose-1.txt".to_owned()] {
        assert!(files.contains(&file), "{file}: {files:?}");
    }
    assert_eq!(office.task(&task)["attempts"][1]["closing"]["end"]["verified"]["commits"], 3);
    up.end();
}

#[test]
fn a_draining_worker_finishes_what_it_has_and_takes_nothing_new() {
    let Some(fleet) = fleet("grace", "") else { return };
    let gate = Gate::closed(fleet.home.join("gate"));
    fleet.set_agent(&agent(&fleet, &gate));
    let (office, one) = (fleet.machine("office", ""), fleet.machine("one", ""));
    let up = office.up(&["--agents", "0"]);
    up.wait_for_line("Listening");
    let project = office.project(&fleet);
    let task = office.add(&project, "Work", &[]);
    let worker = one.worker(&["--grace", "60", "--label", "gpu"]);
    office.until("the agent is at work", || has_begun(&fleet));
    worker.signal("-TERM");
    worker.wait_for_line("Draining");
    office.until("others see it", || {
        let workers = office.json(&["workers"]);
        workers["workers"].as_array().unwrap().iter().any(|one| one["state"] == "draining")
    });
    let late = office.add(&project, "Too late", &[]);
    gate.open();
    worker.wait_for_exit();
    assert_eq!(office.task(&task)["queue"], "provisional");
    assert_eq!(office.task(&late)["attempts"].as_array().unwrap().len(), 0);
    up.end();
}

#[test]
fn a_task_runs_on_a_worker_with_the_labels_it_needs() {
    let Some(fleet) = fleet("needs", "turns 1; work") else { return };
    let (office, plain, gpu) =
        (fleet.machine("office", ""), fleet.machine("plain", ""), fleet.machine("gpu", ""));
    let up = office.up(&["--agents", "0"]);
    up.wait_for_line("Listening");
    let project = office.project(&fleet);
    let special = office.add(&project, "Train", &["--needs", "gpu"]);
    let usual = office.add(&project, "Write", &[]);
    let first = plain.worker(&[]);
    office.until_queue(&usual, "provisional");
    assert_eq!(office.task(&special)["queue"], "incoming");
    let second = gpu.worker(&["--label", "gpu"]);
    office.until_queue(&special, "provisional");
    first.end();
    second.end();
    up.end();
}
