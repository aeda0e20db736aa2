//! A task is added on one machine and done on another; they share only the store and the remote.

use super::fleet::Fleet;
use crate::engine::store_choice::{address, report_skipped};
use crate::postgres;

pub(crate) fn fleet(name: &str, agent: &str) -> Option<Fleet> {
    if let Some(reason) = postgres::missing() {
        report_skipped(&reason);
        return None;
    }
    Some(Fleet::new(address(), name, agent))
}

#[test]
fn a_task_is_done_on_one_machine_and_accepted_on_another() {
    let Some(fleet) = fleet("slice", "turns 2; work") else { return };
    let (office, lab) = (fleet.machine("office", ""), fleet.machine("lab", ""));
    let up = office.up(&["--agents", "0"]);
    up.wait_for_line("Listening");
    let project = office.project(&fleet);
    let first = office.add(&project, "First", &[]);
    let second = office.add(&project, "Second", &["--after", &first]);
    let worker = lab.worker(&["--agents", "2"]);
    office.until_queue(&first, "provisional");
    // The branch is pushed before the work can be accepted.
    assert!(fleet.files(&format!("baton/{first}")).contains(&format!("{first}.txt")));
    office.stdout(&["accept", &first]);
    office.until_queue(&second, "provisional");
    office.stdout(&["accept", "--all"]);
    assert_eq!(office.task(&second)["queue"], "done");
    let files = fleet.files("main");
    assert!(files.contains(&format!("{first}.txt")) && files.contains(&format!("{second}.txt")), "{files:?}");

    let workers = office.json(&["workers"]);
    let seen: Vec<(&str, &str)> = workers["workers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["duty"].as_str().unwrap(), one["state"].as_str().unwrap()))
        .collect();
    assert_eq!(seen.len(), 2, "{workers:#}");
    assert!(seen.contains(&("server", "live")) && seen.contains(&("worker", "live")), "{workers:#}");
    let by = office.task(&first)["attempts"][0]["attempt"]["worker"].clone();
    assert!(workers["workers"].as_array().unwrap().iter().any(|one| one["name"] == by), "{by}");
    worker.end();
    assert_eq!(office.json(&["workers"])["workers"].as_array().unwrap().len(), 1, "it signed off");
    up.end();
}
