//! Landing on a shared remote: what is pushed is exactly what was checked (I18).

use super::sharing::fleet;

/// Does what the title says: "Add NAME" writes a file of that name. It gives up on what comes back.
const ADD: &str = r#"case "$prompt" in *"was accepted"*) exit 1 ;; esac
name=$(printf '%s\n' "$prompt" | sed -n 's/^# Add \(.*\)$/\1/p'); echo "$BATON_TASK_ID" > "$name"
git add -A; git commit -q -m "Add $name"; echo Done."#;

const CHECKS: &str = "[checks]\nrules = [\"sh\", \"-c\", \"! (test -e a.txt && test -e b.txt)\"]\n";

#[test]
fn i18_the_remote_gets_the_commit_that_passed_and_no_other() {
    let Some(fleet) = fleet("landing", ADD) else { return };
    let (office, lab) = (fleet.machine_with("office", CHECKS), fleet.machine_with("lab", CHECKS));
    let up = office.up(&["--agents", "0"]);
    up.wait_for_line("Listening");
    let project = office.project(&fleet);
    let tasks = ["Add a.txt", "Add b.txt", "Add c.txt"].map(|title| office.add(&project, title, &[]));
    let worker = lab.worker(&["--agents", "2"]);
    for task in &tasks {
        office.until_queue(task, "provisional");
    }
    // Somebody pushes to the branch before anything lands.
    fleet.push_file("meanwhile.txt");
    let (landed, printed) = office.try_stdout(&["accept", &tasks[0], &tasks[1], &tasks[2]]);
    assert!(!landed && printed.contains(&format!("{}  sent back", tasks[1])), "{printed}");
    assert_eq!(office.task(&tasks[0])["queue"], "done");
    assert_eq!(office.task(&tasks[2])["queue"], "done");
    let files = fleet.files("main");
    for wanted in ["a.txt", "c.txt", "meanwhile.txt"] {
        assert!(files.contains(&wanted.to_owned()), "{files:?}");
    }
    assert!(!files.contains(&"b.txt".to_owned()), "{files:?}");
    let verdicts = office.json(&["landing"])["verdicts"].take();
    let passed: Vec<&str> = verdicts
        .as_array()
        .unwrap()
        .iter()
        .filter(|verdict| verdict["passed"] == true)
        .map(|verdict| verdict["tree"].as_str().unwrap())
        .collect();
    // Every commit that Baton put on the branch has a tree that passed.
    for commit in fleet.git(&["rev-list", "--first-parent", "--merges", "main"]).lines() {
        let tree = fleet.git(&["rev-parse", &format!("{commit}^{{tree}}")]);
        assert!(passed.contains(&tree.as_str()), "{commit}: {verdicts:#}");
    }
    worker.end();
    up.end();
}

#[test]
fn a_push_that_the_remote_refuses_keeps_the_work_waiting_with_the_reason() {
    let Some(fleet) = fleet("refused", ADD) else { return };
    let office = fleet.machine_with("office", CHECKS);
    let up = office.up(&["--agents", "2"]);
    up.wait_for_line("Listening");
    let project = office.project(&fleet);
    let task = office.add(&project, "Add a.txt", &[]);
    office.until_queue(&task, "provisional");
    // The branch is closed to everybody; branches of tasks are not.
    let hook = fleet.remote.join("hooks/update");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, "#!/bin/sh\n[ \"$1\" != refs/heads/main ]\n").unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let (ended_well, printed) = office.try_stdout(&["accept", &task]);
    assert!(ended_well, "it only waits: {printed}");
    assert!(printed.contains("waiting: ") && printed.contains("hook declined"), "{printed}");
    assert!(printed.contains("look at its hooks and at the rules of the branch"), "{printed}");
    let standing = office.json(&["questions"])["standstills"][0].clone();
    assert_eq!(standing["reason"], "landing_stopped", "{standing:#}");

    std::fs::remove_file(&hook).unwrap();
    let (landed, printed) = office.try_stdout(&["accept", &task]);
    assert!(landed && printed.contains(&format!("{task}  landed")), "{printed}");
    assert!(fleet.files("main").contains(&"a.txt".to_owned()));
    up.end();
}
