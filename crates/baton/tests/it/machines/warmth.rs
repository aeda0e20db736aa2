//! Work goes where its code is at hand, and elsewhere when there is no room.
//!
//! That the machine with the clone comes first is a head start of a second, which a test could only lose or win by its
//! luck: `HeadStart` and `WorkerFit` have tests of their own. Here is what holds without luck.

use super::sharing::fleet;
use crate::gate::Gate;

#[test]
fn a_machine_without_the_clone_takes_work_when_nobody_else_can() {
    let Some(fleet) = fleet("warmth", "") else { return };
    let gate = Gate::closed(fleet.home.join("gate"));
    let home = fleet.home.display();
    fleet.agent_does(&format!(
        "turns 1; work\ncase \"$prompt\" in *Long*)\n\
         touch {home}/begun; {};;\nesac",
        gate.wait()
    ));
    let (desk, warm, cold) =
        (fleet.machine("desk", ""), fleet.machine("warm", ""), fleet.machine("cold", ""));
    let up = desk.up(&["--agents", "0"]);
    up.hears("Listening");
    let project = desk.project(&fleet);
    let done_by = |task: &str| {
        let attempts = desk.task(task)["attempts"].clone();
        assert_eq!(attempts.as_array().unwrap().len(), 1);
        attempts[0]["attempt"]["worker"].as_str().unwrap().to_owned()
    };
    // Alone, it takes what is not at hand, and has a clone from then on.
    let first = warm.worker(&["--agents", "1"]);
    let task = desk.add(&project, "Clone it", &[]);
    desk.until_queue(&task, "provisional");
    let has_clone = done_by(&task);
    let long = desk.add(&project, "Long", &[]);
    desk.until("the first is full", || fleet.home.join("begun").exists());
    let second = cold.worker(&["--agents", "1"]);
    second.hears("is running for");
    let task = desk.add(&project, "No room there", &[]);
    desk.until_queue(&task, "provisional");
    assert_ne!(done_by(&task), has_clone);
    gate.open();
    desk.until_queue(&long, "provisional");
    assert_eq!(done_by(&long), has_clone);
    first.end();
    second.end();
    up.end();
}
