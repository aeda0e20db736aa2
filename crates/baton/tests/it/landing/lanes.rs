//! One lane: landing, waiting, going back, and forcing.

use serde_json::json;

use super::{NOT_BOTH, adding_agent, assert_green, events, has_event, own_history, set_settings};
use crate::engine::test_repo::TestRepo;

/// Two tasks whose checks pass alone, ready to be accepted.
fn pair(repo: &TestRepo) -> (String, String) {
    let (one, other) = (repo.add("Add a.txt", &[]), repo.add("Add b.txt", &[]));
    repo.work_until(&[(&one, "provisional"), (&other, "provisional")]);
    (one, other)
}

fn sent_back(repo: &TestRepo, one: &str, other: &str) {
    let output = repo.output(&["accept", one, other]);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{printed}{}", String::from_utf8_lossy(&output.stderr));
    assert!(printed.contains(&format!("{one}  landed  Add a.txt")), "{printed}");
    let back = format!("{other}  sent back: check fails on baton/next together with {one}: rules");
    assert!(printed.contains(&back), "{printed}");
    assert_eq!(repo.queue(one), "done");
    assert!(repo.git(&["ls-tree", "--name-only", "baton/next"]).contains("a.txt"));
    assert!(!repo.git(&["ls-tree", "--name-only", "baton/next"]).contains("b.txt"));
}

#[test]
fn i18_of_two_tasks_that_fail_together_one_lands_and_the_other_goes_back_with_the_reason() {
    let again = "git merge -q --no-edit baton/next; git mv b.txt c.txt; git commit -q -m 'Rename it'";
    let repo = adding_agent(NOT_BOTH, again);
    let (one, other) = pair(&repo);
    // Without a server the command runs the checks itself.
    sent_back(&repo, &one, &other);
    let note = &repo.show(&other)["notes"][0];
    assert_eq!((&note["note"], &note["reason"]["why"]), (&json!("not_landed"), &json!("checks_failed")));
    assert_eq!(note["reason"]["met"], json!([{ "task_id": one, "title": "Add a.txt" }]));

    // Its agent goes on with the output, the name of the other task and one instruction.
    repo.work_until(&[(&other, "provisional")]);
    let prompt = repo.prompt(&other);
    for part in [
        "a.txt and b.txt must not both exist",
        &format!("{one}: Add a.txt"),
        &format!("{one} (\"Add a.txt\") changed:"),
        &format!("+++ b/a.txt\n@@ -0,0 +1 @@\n+{one}"),
        "Run `git merge baton/next` here",
    ] {
        assert!(prompt.contains(part), "{part}: {prompt}");
    }
    assert!(!prompt.contains("all of it, and nothing else"), "one instruction: {prompt}");
    assert_eq!(prompt.matches("git merge").count(), 1, "{prompt}");
    let attempts = repo.attempts(&other);
    assert_eq!(attempts[1]["attempt"]["resumes"], attempts[0]["attempt"]["id"], "{attempts:#?}");
    repo.stdout(&["accept", &other]);
    assert_eq!(repo.queue(&other), "done");
    assert_green(&repo, NOT_BOTH);
}

#[test]
fn i18_a_server_lands_what_is_accepted_while_the_command_waits() {
    let repo = adding_agent(NOT_BOTH, "exit 1");
    let (one, other) = (repo.add("Add a.txt", &[]), repo.add("Add b.txt", &[]));
    let up = repo.up();
    repo.until_queue(&one, "provisional");
    repo.until_queue(&other, "provisional");
    sent_back(&repo, &one, &other);
    up.end();
    assert_eq!(own_history(&repo).len(), 1, "the batch has one commit of its own");
    assert_green(&repo, NOT_BOTH);
    let landing = repo.json(&["landing"]);
    assert_eq!(landing["lanes"], json!([]));
    let verdicts = landing["verdicts"].as_array().unwrap();
    assert!(verdicts.iter().any(|verdict| verdict["passed"] == true), "{landing:#}");
    let failed = verdicts.iter().find(|verdict| verdict["passed"] == false).unwrap();
    assert_eq!(failed["failed"][0]["exit_code"], 3, "{landing:#}");
}

#[test]
fn without_checks_accepting_merges_at_once() {
    let repo = TestRepo::with_working_agent("");
    let task = repo.add("Work", &[]);
    repo.work_until(&[(&task, "provisional")]);
    let printed = repo.stdout(&["accept", &task]);
    assert!(printed.contains(&format!("{task}  landed  Work")), "{printed}");
    assert!(has_event(&repo, &task, "task_done") && !has_event(&repo, &task, "task_landing"));
    assert_eq!(repo.stdout(&["landing"]), "Nothing waits to land.\n");
}

#[test]
fn a_lane_shows_who_waits_for_whom_until_somebody_runs_the_checks() {
    let repo = adding_agent("true", "exit 1");
    let (one, other) = pair(&repo);
    let printed = repo.stdout(&["accept", &one, &other, "--no-wait"]);
    assert!(printed.contains(&format!("{one}  waiting: next to land on baton/next")), "{printed}");
    assert!(printed.contains(&format!("{other}  waiting: behind {one} to land on baton/next")), "{printed}");
    assert_eq!((repo.queue(&one), repo.status(&one)), ("landing".to_owned(), "RUNNING".to_owned()));
    let printed = repo.stdout(&["landing"]);
    assert!(printed.contains(&format!("{other}  behind {one}  Add b.txt")), "{printed}");
    repo.work_until(&[(&one, "done"), (&other, "done")]);
    assert!(repo.stdout(&["landing"]).starts_with("Nothing waits to land.\n\nLast checks:\n"));
    assert!(has_event(&repo, &one, "task_landing") && has_event(&repo, &one, "task_landed"));
}

#[test]
fn i18_only_a_person_forces_work_past_the_checks_and_that_is_recorded() {
    let repo = adding_agent(NOT_BOTH, "exit 1");
    let [one, other, third] = ["a", "b", "c"].map(|name| repo.add(&format!("Add {name}.txt"), &[]));
    repo.work_until(&[(&one, "provisional"), (&other, "provisional"), (&third, "provisional")]);
    repo.stdout(&["accept", &one]);
    repo.stdout(&["accept", &other, "--no-wait"]);
    repo.stdout(&["accept", &other, "--force"]);
    assert_eq!(repo.queue(&other), "done");
    let events = events(&repo, &other);
    let forced = events.iter().find(|event| event["event"] == "task_forced").unwrap();
    assert_eq!(forced["by"], json!({ "kind": "human", "name": "mia" }), "{forced:#}");
    assert_eq!(forced["commit"], repo.git(&["rev-parse", "baton/next"]), "{forced:#}");

    // The branch fails now, and that is nobody's fault: the next task waits, and a person may take it past the checks, too.
    let printed = repo.stdout(&["accept", &third]);
    assert!(printed.contains(&format!("{third}  waiting: baton/next itself fails its checks")), "{printed}");
    assert_eq!(repo.queue(&third), "landing");
    assert!(repo.stdout(&["landing"]).contains("waiting: baton/next itself fails its checks (rules)"));
    repo.stdout(&["accept", &third, "--force"]);
    assert_eq!(repo.queue(&third), "done");
}

#[test]
fn i18_a_person_may_take_accepted_work_back_before_it_lands() {
    let repo = adding_agent("true", "exit 1");
    let (one, other) = pair(&repo);
    repo.stdout(&["accept", &one, &other, "--no-wait"]);
    repo.stdout(&["reject", &one, "--reason", "not yet"]);
    repo.stdout(&["task", "cancel", &other]);
    assert_eq!((repo.queue(&one), repo.queue(&other)), ("incoming".to_owned(), "rejected".to_owned()));
    assert_eq!(repo.stdout(&["landing"]), "Nothing waits to land.\n");
}

#[test]
fn a_flaky_check_is_run_again_and_reported_and_blames_nobody() {
    let repo = adding_agent("true", "exit 1");
    let marker = repo.home.join("failed-once");
    let (one, other) = pair(&repo);
    let flaky = format!("test -e {0} || {{ touch {0}; echo out of luck; exit 1; }}", marker.display());
    let settings = std::fs::read_to_string(repo.folder.join(".agent/baton.toml")).unwrap();
    set_settings(&repo, &settings.replace("'''true'''", &format!("'''{flaky}'''")));
    let output = repo.output(&["accept", &one, &other]);
    let narrated = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(narrated.contains(", flaky: rules"), "{narrated}");
    assert_eq!((repo.queue(&one), repo.queue(&other)), ("done".to_owned(), "done".to_owned()));
    let evidence = repo.show(&one)["landing"]["evidence"].clone();
    assert_eq!(evidence["flaky"], json!([{ "name": "rules", "exit_code": 1 }]), "{evidence:#}");
    assert!(repo.stdout(&["task", "show", &one]).contains("flaky, failed first: rules (exit code 1)"));
    assert!(repo.stdout(&["landing"]).contains("passed, flaky: rules"), "{}", repo.stdout(&["landing"]));
}
