//! The same user tasks on the command line.

use super::McpRepo;
use crate::gate::Gate;

#[test]
fn baton_tasks_lists_and_baton_do_streams_and_passes_the_exit_code_on() {
    let repo = McpRepo::with_tasks();
    let list = repo.json(&["tasks"]);
    assert_eq!(list["message"], "Successfully listed 11 user-defined tasks from .agent/Taskfile.yml.");
    let output = repo.baton().args(["do", "greet"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "Hello from your custom Taskfile!\n");
    let output = repo.baton().args(["do", "run-go-tests", "--", "-v", "a b"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "test\n./...\n-v\na b\n");
    assert_eq!(repo.baton().args(["do", "deliberate-fail"]).output().unwrap().status.code(), Some(1));
    let ran = repo.baton().args(["--json", "do", "deliberate-fail"]).output().unwrap();
    assert_eq!(ran.status.code(), Some(1));
    let document: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(
        (&document["task_name"], &document["succeeded"], &document["exit_code"]),
        (&"deliberate-fail".into(), &false.into(), &1.into()),
        "{document}"
    );
    let output = repo.baton().args(["do", "gret"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("the tasks are greet, "));
    let _gate = Gate::closed(repo.folder.join("gate"));
    let output = repo.baton().args(["do", "--timeout", "5", "slow"]).output().unwrap();
    assert_eq!(output.status.code(), Some(124), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "begun\n");
    let empty = McpRepo::new("");
    let output = empty.baton().arg("tasks").output().unwrap();
    assert_eq!(output.status.code(), Some(0));
}
