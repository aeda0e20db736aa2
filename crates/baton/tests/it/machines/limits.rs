//! The limit of a project applies to all machines together and does not delay other projects.

use std::path::Path;

use super::sharing::fleet;
use crate::gate::Gate;

/// Leaves a file if two tasks of the limited project run at once, and waits at the gate.
fn agent(home: &Path, gate: &Gate, limited: &str) -> String {
    let (home, wait) = (home.display(), gate.wait());
    format!(
        "turns 1; work\n\
         case \"$prompt\" in *{limited}*)\n\
         mkdir {home}/at-work || touch {home}/too-many\n\
         touch {home}/begun; {wait}\n\
         rmdir {home}/at-work;;\n\
         esac"
    )
}

#[test]
fn a_projects_limit_applies_across_machines_and_is_reported() {
    let Some(fleet) = fleet("limits", "") else { return };
    let gate = Gate::closed(fleet.home.join("gate"));
    fleet.set_agent(&agent(&fleet.home, &gate, "One-by-one"));
    let (office, one, other) =
        (fleet.machine("office", ""), fleet.machine("one", ""), fleet.machine("other", "max_per_person = 9"));
    let up = office.up(&["--agents", "0"]);
    up.wait_for_line("Listening");
    let remote = fleet.remote.to_str().unwrap();
    let made = office.json(&["project", "create", "Limited", "--remote", remote, "--at-once", "3"]);
    let limited = made["project_id"].as_str().unwrap().to_owned();
    assert_eq!(made["at_once_max"], 3);
    let printed = office.stdout(&["project", "limit", &limited, "1"]);
    assert_eq!(printed, format!("{limited} runs at most 1 task at once.\n"));
    let free = office.project(&fleet);

    let tasks: Vec<String> =
        (1..=4).map(|number| office.add(&limited, &format!("One-by-one {number}"), &[])).collect();
    let workers = [one.worker(&["--agents", "2"]), other.worker(&["--agents", "2"])];
    office.until("the first is at work", || fleet.home.join("begun").exists());
    // Three tasks before it have to wait, but both machines have room.
    let beside = office.add(&free, "Beside", &[]);
    office.until_queue(&beside, "provisional");

    let running = |task: &String| office.task(task)["queue"] == "claimed";
    assert_eq!(tasks.iter().filter(|task| running(task)).count(), 1);
    let waiting = tasks.iter().find(|task| !running(task)).unwrap();
    let shown = office.task(waiting);
    assert_eq!((&shown["not_started"]["code"], &shown["asked_by"]), (&"project_full".into(), &"mia".into()));
    let why = format!(
        "project {limited} is at its limit, 1 of 1; wait, or raise it: baton project limit {limited} NUMBER"
    );
    assert!(office.stdout(&["task", "show", waiting]).contains(&format!("Ready, but not started: {why}")));
    let ready = office.stdout(&["task", "ready"]);
    assert!(ready.contains("project full") && ready.contains(&format!("Not started: {why}")), "{ready}");

    gate.open();
    for task in &tasks {
        office.until_queue(task, "provisional");
    }
    assert!(!fleet.home.join("too-many").exists(), "two of them ran at once");
    for worker in workers {
        worker.end();
    }
    up.end();
}
