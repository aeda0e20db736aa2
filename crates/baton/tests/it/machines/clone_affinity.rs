//! A machine without a clone takes work when those with a clone are full.
//!
//! That a machine with a clone comes first is a head start of one second, which depends on timing here. `HeadStart` and
//! `WorkerFit` have unit tests.

use super::sharing::fleet;
use crate::gate::Gate;

#[test]
fn a_machine_without_a_clone_takes_work_if_the_others_are_full() {
    let Some(fleet) = fleet("warmth", "") else { return };
    let gate = Gate::closed(fleet.home.join("gate"));
    let home = fleet.home.display();
    fleet.set_agent(&format!(
        "turns 1; work\ncase \"$prompt\" in *Long*)\n\
         touch {home}/begun; {};;\nesac",
        gate.wait()
    ));
    let (office, warm, cold) =
        (fleet.machine("office", ""), fleet.machine("warm", ""), fleet.machine("cold", ""));
    let up = office.up(&["--agents", "0"]);
    up.wait_for_line("Listening");
    let project = office.project(&fleet);
    let done_by = |task: &str| {
        let attempts = office.task(task)["attempts"].clone();
        assert_eq!(attempts.as_array().unwrap().len(), 1);
        attempts[0]["attempt"]["worker"].as_str().unwrap().to_owned()
    };
    // The only worker takes the task without a clone, and has one afterwards.
    let first = warm.worker(&["--agents", "1"]);
    let task = office.add(&project, "Clone it", &[]);
    office.until_queue(&task, "provisional");
    let has_clone = done_by(&task);
    let long = office.add(&project, "Long", &[]);
    office.until("the first is full", || fleet.home.join("begun").exists());
    let second = cold.worker(&["--agents", "1"]);
    second.wait_for_line("is running for");
    let task = office.add(&project, "No room there", &[]);
    office.until_queue(&task, "provisional");
    assert_ne!(done_by(&task), has_clone);
    gate.open();
    office.until_queue(&long, "provisional");
    assert_eq!(done_by(&long), has_clone);
    first.end();
    second.end();
    up.end();
}
