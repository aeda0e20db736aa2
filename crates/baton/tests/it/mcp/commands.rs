//! The same user tasks on the command line.

use super::Place;
use crate::gate::Gate;

#[test]
fn baton_tasks_lists_and_baton_do_streams_and_passes_the_exit_code_on() {
    let place = Place::with_tasks();
    let list = place.json(&["tasks"]);
    assert_eq!(list["message"], "Successfully listed 11 user-defined tasks from .agent/Taskfile.yml.");
    let output = place.baton().args(["do", "greet"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "Hello from your custom Taskfile!\n");
    let output = place.baton().args(["do", "run-go-tests", "--", "-v", "a b"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "test\n./...\n-v\na b\n");
    assert_eq!(place.baton().args(["do", "deliberate-fail"]).output().unwrap().status.code(), Some(1));
    let output = place.baton().args(["do", "gret"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("the tasks are greet, "));
    let _gate = Gate::closed(place.folder.join("gate"));
    let output = place.baton().args(["do", "--timeout", "1", "slow"]).output().unwrap();
    assert_eq!(output.status.code(), Some(124), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "begun\n");
    let empty = Place::new("");
    let output = empty.baton().arg("tasks").output().unwrap();
    assert_eq!(output.status.code(), Some(0));
}
