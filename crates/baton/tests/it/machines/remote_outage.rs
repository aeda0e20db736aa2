//! While the git remote is unreachable, work waits on its machine and nothing is lost.

use super::fleet::{Fleet, Machine};
use super::sharing::fleet;
use crate::gate::Gate;

/// Commits, reports that it has begun, and waits at the gate.
fn agent(fleet: &Fleet, gate: &Gate) -> String {
    let home = fleet.home.display();
    format!(
        "turns 1; work; touch {home}/begun-$BATON_TASK_ID\n\
         {}",
        gate.wait()
    )
}

/// How many pushes of a machine are pending.
fn unpushed(machine: &Machine) -> usize {
    let notes = std::fs::read_dir(machine.folder.join(".agent/state/unpushed"));
    notes.map_or(0, |notes| {
        notes.flatten().filter(|note| note.path().extension().is_some_and(|end| end == "json")).count()
    })
}

#[test]
fn unpushed_work_is_pushed_once_the_remote_is_back() {
    let Some(fleet) = fleet("away", "") else { return };
    let gate = Gate::closed(fleet.home.join("gate"));
    fleet.set_agent(&agent(&fleet, &gate));
    let (office, lab) = (fleet.machine("office", ""), fleet.machine("lab", ""));
    let up = office.up(&["--agents", "0"]);
    up.wait_for_line("Listening");
    let project = office.project(&fleet);
    let kept = office.add(&project, "Kept", &[]);
    let dropped = office.add(&project, "Dropped", &[]);
    let worker = lab.worker(&["--agents", "2"]);
    office.until("both are at work", || {
        [&kept, &dropped].iter().all(|task| fleet.home.join(format!("begun-{task}")).exists())
    });
    // One branch has to be pushed, and one snapshot of cancelled work.
    let gone = fleet.home.join("gone.git");
    std::fs::rename(&fleet.remote, &gone).unwrap();
    office.stdout(&["task", "cancel", &dropped]);
    let given_up = office.task(&dropped)["attempts"][0]["attempt"]["id"].as_str().unwrap().to_owned();
    gate.open();
    worker.wait_for_line("cannot push its work yet");
    office.until_queue(&kept, "provisional");
    let (is_accepted, printed) = office.try_run(&["accept", &kept]);
    assert!(!is_accepted && printed.contains("remote"), "{printed}");
    assert_eq!(office.task(&kept)["queue"], "provisional", "it waits");
    office.until("both are noted", || unpushed(&lab) == 2);

    // Pending pushes survive a restart of the worker.
    worker.end();
    assert_eq!(unpushed(&lab), 2);
    let worker = lab.worker(&["--agents", "2"]);
    std::fs::rename(&gone, &fleet.remote).unwrap();
    office.until("all has arrived", || unpushed(&lab) == 0);
    assert!(fleet.files(&format!("baton/{kept}")).contains(&format!("{kept}.txt")));
    let vault = format!("refs/baton/vault/{given_up}");
    assert!(fleet.files(&vault).contains(&format!("{dropped}.txt")), "what was given up is kept too (I17)");
    office.stdout(&["accept", &kept]);
    assert!(fleet.files("main").contains(&format!("{kept}.txt")));
    assert_eq!(office.task(&kept)["attempts"].as_array().unwrap().len(), 1, "done once");
    worker.end();
    up.end();
}
