//! Work that is added on one machine, done on another and accepted on a third, with nothing between them but the store
//! and the remote.

use super::fleet::Fleet;
use crate::engine::store_choice::{address, eprintln_skipped};
use crate::postgres;

pub fn fleet(name: &str, agent: &str) -> Option<Fleet> {
    if let Some(reason) = postgres::missing() {
        eprintln_skipped(&reason);
        return None;
    }
    Some(Fleet::new(address(), name, agent))
}

#[test]
fn a_task_is_done_on_one_machine_and_accepted_on_another() {
    let Some(fleet) = fleet("slice", "turns 2; work") else { return };
    let (desk, lab) = (fleet.machine("desk", ""), fleet.machine("lab", ""));
    let up = desk.up(&["--agents", "0"]);
    up.hears("Listening");
    let project = desk.project(&fleet);
    let first = desk.add(&project, "First", &[]);
    let second = desk.add(&project, "Second", &["--after", &first]);
    let worker = lab.worker(&["--agents", "2"]);
    desk.until_queue(&first, "provisional");
    // The work has left its machine before it can be accepted.
    assert!(fleet.files(&format!("baton/{first}")).contains(&format!("{first}.txt")));
    desk.says(&["accept", &first]);
    desk.until_queue(&second, "provisional");
    desk.says(&["accept", "--all"]);
    assert_eq!(desk.task(&second)["queue"], "done");
    let files = fleet.files("main");
    assert!(files.contains(&format!("{first}.txt")) && files.contains(&format!("{second}.txt")), "{files:?}");

    let workers = desk.json(&["workers"]);
    let seen: Vec<(&str, &str)> = workers["workers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["duty"].as_str().unwrap(), one["state"].as_str().unwrap()))
        .collect();
    assert_eq!(seen.len(), 2, "{workers:#}");
    assert!(seen.contains(&("server", "live")) && seen.contains(&("worker", "live")), "{workers:#}");
    let by = desk.task(&first)["attempts"][0]["attempt"]["worker"].clone();
    assert!(workers["workers"].as_array().unwrap().iter().any(|one| one["name"] == by), "{by}");
    worker.end();
    assert_eq!(desk.json(&["workers"])["workers"].as_array().unwrap().len(), 1, "it took leave");
    up.end();
}
