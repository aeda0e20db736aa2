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
