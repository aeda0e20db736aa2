//! Landing on a shared remote: what is pushed is exactly what was checked (I18).

use super::fleet::Fleet;
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

/// Does what the title says, and what it is told to run about work that comes back.
const ADD_OR_RUN: &str = r#"case "$prompt" in
*"was accepted"*) $(printf '%s\n' "$prompt" | sed -n 's/.*Run `\(git [^`]*\)`.*/\1/p' | head -n 1) ;;
*) name=$(printf '%s\n' "$prompt" | sed -n 's/^# Add \(.*\)$/\1/p'); echo "$BATON_TASK_ID" > "$name"
   git add -A; git commit -q -m "Add $name" ;;
esac; echo Done."#;

#[test]
fn i18_a_commit_that_was_taken_back_from_the_remote_does_not_land_there_again() {
    let Some(fleet) = fleet("taken_back", ADD_OR_RUN) else { return };
    let (office, lab) = (fleet.machine_with("office", CHECKS), fleet.machine_with("lab", CHECKS));
    let up = office.up(&["--agents", "0"]);
    up.wait_for_line("Listening");
    let project = office.project(&fleet);
    fleet.push_file("secret.txt");
    let task = office.add(&project, "Add c.txt", &[]);
    let worker = lab.worker(&["--agents", "1"]);
    office.until_queue(&task, "provisional");
    fleet.take_back();
    // The machine that lands it is not the one that started it.
    let preview = office.json(&["accept", &task, "--dry-run"]);
    assert_eq!(preview["preview"][0]["would_be"], "sent back", "{preview:#}");
    let (landed, printed) = office.try_stdout(&["accept", &task]);
    assert!(!landed && printed.contains("sent back: it contains the commit "), "{printed}");
    office.until_queue(&task, "provisional");
    let (landed, printed) = office.try_stdout(&["accept", &task]);
    assert!(landed && printed.contains(&format!("{task}  landed")), "{printed}");
    let files = fleet.files("main");
    assert!(files.contains(&"c.txt".to_owned()) && !files.contains(&"secret.txt".to_owned()), "{files:?}");
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
    close(&fleet, "exit 1");
    let (ended_well, printed) = office.try_stdout(&["accept", &task]);
    assert!(ended_well, "it only waits: {printed}");
    assert!(printed.contains("waiting: ") && printed.contains("hook declined"), "{printed}");
    assert!(printed.contains("look at its hooks and at the rules of the branch"), "{printed}");
    let standing = office.json(&["questions"])["standstills"][0].clone();
    assert_eq!(standing["reason"], "landing_stopped", "{standing:#}");

    std::fs::remove_file(fleet.remote.join("hooks/update")).unwrap();
    let (landed, printed) = office.try_stdout(&["accept", &task]);
    assert!(landed && printed.contains(&format!("{task}  landed")), "{printed}");
    assert!(fleet.files("main").contains(&"a.txt".to_owned()));
    up.end();
}

#[test]
fn i18_a_second_machine_lands_by_the_verdict_of_the_first() {
    let Some(fleet) = fleet("verdicts", ADD) else { return };
    // A run in a lane, not at the end of an attempt, leaves a line.
    let ran = fleet.home.join("ran");
    let check = format!("case \"$PWD\" in *worktrees*) ;; *) echo ran >> {} ;; esac", ran.display());
    let checks = format!("[checks]\nrules = [\"sh\", \"-c\", '''{check}''']\n");
    let (office, lab) = (fleet.machine_with("office", &checks), fleet.machine_with("lab", &checks));
    let runs = || std::fs::read_to_string(&ran).unwrap_or_default().lines().count();
    let up = office.up(&["--agents", "2"]);
    up.wait_for_line("Listening");
    let project = office.project(&fleet);
    let task = office.add(&project, "Add a.txt", &[]);
    office.until_queue(&task, "provisional");
    close(&fleet, "exit 1");
    let (_, printed) = office.try_stdout(&["accept", &task]);
    assert!(printed.contains("waiting: ") && printed.contains("hook declined"), "{printed}");
    assert_eq!(runs(), 1, "the candidate has passed, and could not be pushed");
    let verdict = office.json(&["landing"])["verdicts"][0].clone();
    up.kill();

    std::fs::remove_file(fleet.remote.join("hooks/update")).unwrap();
    let up = lab.up(&["--agents", "0"]);
    up.wait_for_line("Listening");
    lab.until_queue(&task, "done");
    assert_eq!(runs(), 1, "the second machine did not run them again");
    assert_eq!(fleet.git(&["rev-parse", "main"]), verdict["commit"], "{verdict:#}");
    assert_eq!(lab.task(&task)["landing"]["evidence"]["suite"], verdict["suite"]);
    up.end();
}

#[test]
fn two_machines_take_turns_at_a_remote() {
    let Some(fleet) = fleet("turns", ADD) else { return };
    let (office, lab) = (fleet.machine("office", ""), fleet.machine("lab", ""));
    let up = office.up(&["--agents", "2"]);
    up.wait_for_line("Listening");
    let project = office.project(&fleet);
    let tasks: Vec<String> =
        (0..6).map(|number| office.add(&project, &format!("Add {number}.txt"), &[])).collect();
    for task in &tasks {
        office.until_queue(task, "provisional");
    }
    // A push that finds another at work leaves a mark; each stays long enough to be met.
    let (inside, met) = (fleet.home.join("inside"), fleet.home.join("met"));
    close(
        &fleet,
        &format!(
            "mkdir {0} 2>/dev/null || {{ touch {1}; exit 0; }}; sleep 0.5; rmdir {0}; exit 0",
            inside.display(),
            met.display()
        ),
    );
    let server = lab.up(&["--agents", "0"]);
    server.wait_for_line("Listening");
    std::thread::scope(|scope| {
        for (number, task) in tasks.iter().enumerate() {
            let machine = if number % 2 == 0 { &office } else { &lab };
            scope.spawn(move || machine.stdout(&["accept", task]));
        }
    });
    assert!(!met.exists(), "two machines pushed at the same time");
    let landed = fleet.git(&["log", "--format=%s", "main"]);
    for (number, task) in tasks.iter().enumerate() {
        let subject = format!("Add {number}.txt");
        assert_eq!(landed.lines().filter(|line| **line == subject).count(), 1, "{landed}");
        assert_eq!(office.task(task)["queue"], "done");
    }
    server.end();
    up.end();
}

/// What the remote does when somebody pushes to its main branch. Branches of tasks stay open.
fn close(fleet: &Fleet, script: &str) {
    let hook = fleet.remote.join("hooks/update");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, format!("#!/bin/sh\n[ \"$1\" = refs/heads/main ] || exit 0\n{script}\n")).unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
}
