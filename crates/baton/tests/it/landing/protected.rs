//! Protected files of forced work: the checks that judge it are those of the branch.

use super::{events, own_history};
use crate::engine::test_repo::TestRepo;

/// The check is a script that is in the repository, and protected.
fn with_protected_check() -> TestRepo {
    let repo =
        TestRepo::with_agent("", "protect = [\"tests/**\"]\n[checks]\nrules = [\"sh\", \"tests/run.sh\"]");
    std::fs::create_dir_all(repo.folder.join("tests")).unwrap();
    std::fs::write(repo.folder.join("tests/run.sh"), "! test -e bad.txt\n").unwrap();
    repo.git(&["add", "tests"]);
    repo.git(&["commit", "-q", "-m", "Test it"]);
    repo
}

#[test]
fn work_is_not_judged_by_checks_that_its_own_agent_wrote() {
    let repo = with_protected_check();
    repo.set_agent(
        r#"case "$prompt" in *"was accepted"*) hang ;; esac
        touch bad.txt; echo true > tests/run.sh; git add -A; git commit -q -m Bad"#,
    );
    let task = repo.add("Do it", &[]);
    repo.work_until(&[(&task, "provisional")]);
    let output = repo.output(&["accept", &task, "--force"]);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{printed}{}", String::from_utf8_lossy(&output.stderr));
    assert!(printed.contains("rules (with the protected files of the branch)"), "{printed}");
    let reason = repo.show(&task)["notes"][0]["reason"].clone();
    assert_eq!(reason["protected"][0], "tests/run.sh", "{reason:#}");
    assert!(own_history(&repo).is_empty());

    // Its agent cannot decide that. A person who wants it all the same says so a second time, and that is recorded.
    assert_eq!((repo.queue(&task).as_str(), repo.attempts(&task).len()), ("provisional", 1));
    assert!(repo.stdout(&["task", "show", &task]).contains("waits for a person: check fails on baton/next"));
    repo.stdout(&["accept", &task, "--force"]);
    assert_eq!(repo.queue(&task), "done");
    assert!(events(&repo, &task).iter().any(|event| event["event"] == "task_forced"));
}

#[test]
fn forced_work_that_the_old_checks_and_its_own_pass_lands_with_its_own_files() {
    let repo = with_protected_check();
    repo.set_agent("echo '! test -e worse.txt' >> tests/run.sh; git add -A; git commit -q -m Stricter");
    let task = repo.add("Do it", &[]);
    repo.work_until(&[(&task, "provisional")]);
    repo.stdout(&["accept", &task, "--force"]);
    assert_eq!(repo.queue(&task), "done");
    assert!(repo.git(&["show", "baton/next:tests/run.sh"]).contains("worse.txt"));
    let landed = repo.show(&task)["landing"].clone();
    let names: Vec<&str> = landed["evidence"]["checks"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|check| check["name"].as_str())
        .collect();
    assert_eq!(names, ["rules (with the protected files of the branch)", "rules"], "{landed:#}");
}
