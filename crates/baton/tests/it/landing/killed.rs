//! A killed Baton leaves the branch at a commit that passed, and the lane as it was.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;

use super::{adding_agent, assert_green, events, own_history, set_settings};

#[test]
fn i18_killed_in_the_middle_of_a_check_it_goes_on_after_a_restart() {
    let repo = adding_agent("true", "exit 1");
    let task = repo.add("Add a.txt", &[]);
    repo.work_until(&[(&task, "provisional")]);
    // The first run hangs until it is killed with Baton.
    let (begun, go) = (repo.home.join("begun"), repo.home.join("go"));
    let check = format!("touch {}; test -e {} || exec tail -f /dev/null", begun.display(), go.display());
    let file = repo.folder.join(".agent/baton.toml");
    let settings = std::fs::read_to_string(&file).unwrap();
    set_settings(&repo, &settings.replace("'''true'''", &format!("'''{check}'''")));

    let up = repo.up();
    let before = repo.git(&["rev-parse", "baton/next"]);
    repo.stdout(&["accept", &task, "--no-wait"]);
    repo.until("the check runs", || begun.exists());
    up.kill();
    assert_eq!(repo.git(&["rev-parse", "baton/next"]), before);
    assert_eq!(repo.queue(&task), "landing");

    std::fs::write(&go, "").unwrap();
    repo.work_until(&[(&task, "done")]);
    assert_eq!(own_history(&repo).len(), 1);
    assert_green(&repo, "test -e a.txt");
}

/// A `git` that kills whoever started it, as soon as it has moved the branch.
const DEADLY_GIT: &str = r#"#!/bin/sh
at() { "{GIT}" -C "{FOLDER}" rev-parse baton/next; }
before=$(at)
"{GIT}" "$@"
code=$?
test "$before" = "$(at)" || kill -9 $PPID
exit $code
"#;

#[test]
fn i18_killed_after_the_branch_has_moved_it_records_where_and_by_what_evidence() {
    let repo = adding_agent("true", "exit 1");
    let added = repo.json(&["task", "add", "Add a.txt", "--verify", "test -e a.txt"]);
    let task = added["task_id"].as_str().unwrap().to_owned();
    repo.work_until(&[(&task, "provisional")]);
    let path = std::env::var("PATH").unwrap();
    let real = std::env::split_paths(&path).map(|folder| folder.join("git")).find(|git| git.is_file());
    let program = DEADLY_GIT
        .replace("{GIT}", real.unwrap().to_str().unwrap())
        .replace("{FOLDER}", repo.folder.to_str().unwrap());
    let bin = repo.home.join("deadly");
    std::fs::create_dir(&bin).unwrap();
    std::fs::write(bin.join("git"), program).unwrap();
    std::fs::set_permissions(bin.join("git"), PermissionsExt::from_mode(0o755)).unwrap();

    let path = format!("{}:{path}", bin.display());
    let accepted = repo.baton(&["accept", &task]).env("PATH", path).output().unwrap();
    assert_eq!(accepted.status.signal(), Some(9), "{}", String::from_utf8_lossy(&accepted.stderr));
    assert_eq!(own_history(&repo).len(), 1);
    assert_eq!(repo.queue(&task), "landing");

    // What is merged after it does not become the commit that it landed with.
    let landed_with = repo.git(&["rev-parse", "baton/next"]);
    repo.git(&["checkout", "-q", "baton/next"]);
    repo.git(&[
        "-c",
        "user.name=mia",
        "-c",
        "user.email=mia@localhost",
        "commit",
        "-q",
        "--allow-empty",
        "-m",
        "Mine",
    ]);
    repo.git(&["checkout", "-q", "main"]);
    repo.work_until(&[(&task, "done")]);
    let landed = events(&repo, &task).into_iter().find(|event| event["event"] == "task_landed").unwrap();
    assert_eq!(landed["commit"], landed_with, "{landed:#}");
    assert_eq!(landed["verified"][0]["after"], 0, "{landed:#}");
    assert_ne!(landed["verified"][0]["before"], 0, "{landed:#}");
}
