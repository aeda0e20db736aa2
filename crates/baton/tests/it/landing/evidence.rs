//! What work rests on, and what people are told about it: forced merges, a branch that has moved, checks that are missing.

use serde_json::json;

use super::{adding_agent, own_history};
use crate::engine::test_repo::TestRepo;
use crate::server::client::get;

#[test]
fn i18_forced_work_is_one_commit_that_names_who_forced_it() {
    let repo = adding_agent("true", "exit 1");
    repo.set_agent(
        "for name in one two three; do echo 1 > $name; git add $name; git commit -q -m \"WIP $name\"; done; echo Done.",
    );
    let task = repo.add("Work", &[]);
    let up = repo.up();
    repo.until_queue(&task, "provisional");
    repo.stdout(&["accept", &task, "--force"]);
    up.wait_for_line("landed by force of mia, past the checks");
    up.end();
    assert_eq!(own_history(&repo).len(), 1, "not one for each commit of the agent's");
    let message = repo.git(&["log", "-1", "--format=%B", "baton/next"]);
    assert!(message.starts_with(&format!("Merge {task}: Work\n")), "{message}");
    assert!(message.contains("Forced past the checks by mia."), "{message}");
}

#[test]
fn i18_a_name_that_cannot_be_recorded_forces_nothing() {
    let repo = adding_agent("true", "exit 1");
    let task = repo.add("Add a.txt", &[]);
    let up = repo.up();
    repo.until_queue(&task, "provisional");
    for name in ["eve\nx", &"e".repeat(65)] {
        let refused = repo.baton(&["accept", &task, "--force"]).env("BATON_USER", name).output().unwrap();
        let text = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(2), "{text}");
        assert!(text.contains("invalid name of a person") && text.contains("BATON_USER"), "{text}");
    }
    assert_eq!(repo.queue(&task), "provisional");
    up.end();
    let refused = repo.baton(&["accept", &task, "--force"]).env("BATON_USER", "eve\nx").output().unwrap();
    assert_eq!(refused.status.code(), Some(2), "without a server, too");
    assert!(own_history(&repo).is_empty());
}

#[test]
fn evidence_names_its_commits_and_says_when_the_branch_has_moved_since() {
    let repo = adding_agent("true", "exit 1");
    let (one, other) = (repo.add("Add a.txt", &[]), repo.add("Add b.txt", &[]));
    repo.work_until(&[(&one, "provisional"), (&other, "provisional")]);
    let base = repo.git(&["rev-parse", "main"]);
    let head = repo.git(&["rev-parse", &format!("baton/{other}")]);
    let measured = format!("Measured at {} from {}", &head[..10], &base[..10]);
    let shown = repo.stdout(&["task", "show", &other]);
    assert!(shown.contains(&measured) && !shown.contains("has moved"), "{shown}");
    assert_eq!(repo.show(&other)["standing"], json!({ "into": "baton/next", "moved_by": 0 }));

    repo.stdout(&["accept", &one]);
    let shown = repo.stdout(&["task", "show", &other]);
    assert!(shown.contains(&format!("{measured}; baton/next has moved since: 1 commit\n")), "{shown}");
    assert_eq!(repo.show(&other)["standing"]["moved_by"], 1);
    let up = repo.up();
    let line = up.wait_for_line("Listening on http://");
    let address = line.split("http://").nth(1).unwrap().split('/').next().unwrap().trim().to_owned();
    let page = get(&address, &format!("/tasks/{other}/details")).body;
    assert!(page.contains("baton/next has moved since: 1 commit"), "{page}");
    assert!(page.contains("Measured at") && page.contains(&base[..7]), "{page}");
    up.end();
}

#[test]
fn a_policy_without_any_check_says_why_finished_work_waits() {
    let repo = TestRepo::with_agent("work", "accept_when = \"green\"");
    let task = repo.add("Work", &[]);
    repo.work_until(&[(&task, "provisional")]);
    let words = "accept_when = \"green\" accepts only work that something has checked";
    let shown = repo.stdout(&["task", "show", &task]);
    assert!(shown.contains(&format!("Waits for you: {words}")), "{shown}");
    assert!(repo.show(&task)["standing"]["waits_because"].as_str().unwrap().starts_with(words));
    let doctor = repo.stdout(&["doctor"]);
    assert!(doctor.contains(words), "{doctor}");

    let verified = repo.json(&["task", "add", "Verified", "--verify", "test -e no-such-file"]);
    let verified = verified["task_id"].as_str().unwrap();
    assert!(repo.show(verified)["standing"].is_null(), "it has done nothing yet");
}

#[test]
fn the_doctor_finds_checks_that_cannot_run_and_globs_that_protect_nothing() {
    let repo = TestRepo::with_agent(
        "work",
        "protect = [\"README.md\", \"tset/**\"]\n[checks]\nmissing = [\"no-such-program-here\"]\nthere = [\"sh\", \"-c\", \"true\"]\nunit = { task = \"unit\" }",
    );
    let output = repo.output(&["doctor"]);
    assert!(!output.status.success(), "what cannot run is broken");
    let findings = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        findings.contains("the check missing runs no-such-program-here, which is not there"),
        "{findings}"
    );
    assert!(findings.contains("the check unit is the user task unit, and there is no"), "{findings}");
    assert!(!findings.contains("the check there"), "{findings}");
    assert!(findings.contains("tset/**") && !findings.contains("README.md"), "{findings}");
}

#[test]
fn a_glob_that_means_nothing_is_an_error_of_the_settings() {
    let repo = TestRepo::with_agent("work", "");
    let file = repo.folder.join(".agent/baton.toml");
    let settings = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("protect = [\"tests/[ab\"]\n{settings}")).unwrap();
    let output = repo.output(&["task", "list"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("protect: \"tests/[ab\" has [ ]"), "{said}");
}
