//! What work is judged by comes from the branch that it lands on.

use serde_json::json;

use super::{adding_agent, commit_on_branch, has_event, own_history, set_settings};
use crate::engine::test_repo::{TestRepo, read};
use crate::server::client::get;

const NOTE: &str = "baton/next has other checks than your checkout: landing uses the branch's";

/// Replaces the check in the person's checkout, and commits nothing.
fn change_checkout(repo: &TestRepo, from: &str, to: &str) {
    let file = repo.folder.join(".agent/baton.toml");
    let settings = read(&file);
    assert!(settings.contains(from), "{settings}");
    std::fs::write(&file, settings.replace(from, to)).unwrap();
}

fn narrated(repo: &TestRepo, arguments: &[&str]) -> String {
    let output = repo.output(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn landing_uses_the_checks_of_the_branch_and_says_where_the_checkout_differs() {
    let repo = adding_agent("echo as on the branch", "exit 1");
    let branch = repo.git(&["rev-parse", "main"]);
    change_checkout(&repo, "'''echo as on the branch'''", "'''echo as in the checkout; exit 3'''");
    let task = repo.add("Add a.txt", &[]);
    repo.work_until(&[(&task, "provisional")]);
    let checks = repo.show(&task)["verified"]["checks"].clone();
    assert_eq!(
        (&checks[0]["exit_code"], &checks[0]["output_tail"]),
        (&json!(0), &json!("as on the branch\n"))
    );

    repo.stdout(&["accept", &task, "--no-wait"]);
    let lanes = repo.stdout(&["landing"]);
    assert!(lanes.contains(NOTE) && lanes.contains("git merge baton/next"), "{lanes}");
    let doctor = repo.stdout(&["doctor"]);
    assert!(doctor.contains(NOTE) && doctor.contains("commit .agent and run git merge"), "{doctor}");
    let said = narrated(&repo, &["accept", &task]);
    assert_eq!(said.matches(NOTE).count(), 1, "once: {said}");
    assert_eq!(repo.queue(&task), "done");

    let landed = repo.show(&task)["landing"].clone();
    assert_eq!(landed["evidence"]["suite_from"], branch, "{landed:#}");
    assert_eq!(landed["evidence"]["checks"][0]["output_tail"], "as on the branch\n", "{landed:#}");
    let verdict = repo.json(&["landing"])["verdicts"][0].clone();
    assert_eq!((&verdict["suite_from"], &verdict["passed"]), (&json!(branch), &json!(true)), "{verdict:#}");
    assert_eq!(verdict["checks"][0]["output_tail"], "as on the branch\n", "{verdict:#}");
    let shown = repo.stdout(&["task", "show", &task, "--checks"]);
    assert!(shown.contains("rules (landing, exit code 0):\nas on the branch\n"), "{shown}");
    assert!(shown.contains("rules (end of the attempt, exit code 0):\nas on the branch\n"), "{shown}");
}

#[test]
fn a_branch_and_a_checkout_that_agree_need_no_word() {
    let repo = adding_agent("true", "exit 1");
    let task = repo.add("Add a.txt", &[]);
    repo.work_until(&[(&task, "provisional")]);
    let said = narrated(&repo, &["accept", &task]);
    assert!(!said.contains("note:"), "{said}");
    assert!(!repo.stdout(&["doctor"]).contains("than your checkout"));
}

#[test]
fn user_tasks_that_are_checks_are_those_of_the_branch() {
    let tasks = |words: &str| format!("version: '3'\ntasks:\n  rules: {{cmds: ['{words}'], silent: true}}\n");
    let repo = TestRepo::with_agent("work", "checks = [\"rules\"]");
    let file = repo.folder.join(".agent/Taskfile.yml");
    let including = "version: '3'\nincludes: {more: {taskfile: ../tools/more.yml, flatten: true}}\n";
    std::fs::create_dir(repo.folder.join("tools")).unwrap();
    std::fs::write(&file, including).unwrap();
    std::fs::write(repo.folder.join("tools/more.yml"), tasks("echo as on the branch")).unwrap();
    repo.git(&["add", "-A"]);
    repo.git(&["commit", "-q", "-m", "Define it"]);
    std::fs::write(&file, tasks("exit 3")).unwrap();
    let task = repo.add("Work", &[]);
    repo.work_until(&[(&task, "provisional")]);
    let checks = repo.show(&task)["verified"]["checks"].clone();
    assert_eq!(
        (&checks[0]["exit_code"], &checks[0]["output_tail"]),
        (&json!(0), &json!("as on the branch\n"))
    );
    let said = narrated(&repo, &["accept", &task]);
    assert!(said.contains(NOTE), "{said}");
    assert_eq!(repo.queue(&task), "done");
    assert!(repo.json(&["landing"])["verdicts"][0]["suite_from"].is_string());
}

#[test]
fn i18_where_the_rules_of_a_branch_cannot_be_read_work_waits_with_the_reason() {
    let repo = adding_agent("true", "exit 1");
    let task = repo.add("Add a.txt", &[]);
    repo.work_until(&[(&task, "provisional")]);
    let settings = read(repo.folder.join(".agent/baton.toml"));
    commit_on_branch(&repo, ".agent/baton.toml", "checks = 3\n");
    let up = repo.up();
    let line = up.wait_for_line("Listening on http://");
    let address = line.split("http://").nth(1).unwrap().split('/').next().unwrap().trim().to_owned();
    let printed = repo.stdout(&["accept", &task]);
    assert!(printed.contains("waiting: baton/next:.agent/baton.toml"), "{printed}");
    assert_eq!(repo.queue(&task), "landing");
    let standing = repo.json(&["questions"])["standstills"][0].clone();
    assert_eq!(standing["reason"], "landing_stopped", "{standing:#}");
    assert!(standing["message"].as_str().unwrap().contains("baton/next:.agent/baton.toml"), "{standing:#}");
    let page = get(&address, "/landing").body;
    assert!(
        page.contains("Nothing lands on this branch for now") && page.contains(".agent/baton.toml"),
        "{page}"
    );
    assert!(repo.git(&["show", "--stat", "baton/next"]).contains("By hand"), "nothing has landed");

    commit_on_branch(&repo, ".agent/baton.toml", &settings);
    let printed = repo.stdout(&["accept", &task]);
    assert!(printed.contains(&format!("{task}  landed")), "{printed}");
    up.end();
}

#[test]
fn i18_rules_that_land_are_for_the_next_candidate() {
    let repo = adding_agent("true", "exit 1");
    repo.set_agent(
        r#"case "$prompt" in
*"was accepted"*) hang ;;
*"Be stricter"*) sed -i "s/'''true'''/'''! test -e b.txt'''/" .agent/baton.toml ;;
*) echo b > b.txt ;;
esac
git add -A; git commit -q -m Work; echo Done."#,
    );
    let (stricter, work) = (repo.add("Be stricter", &[]), repo.add("Add it", &[]));
    repo.work_until(&[(&stricter, "provisional"), (&work, "provisional")]);
    // Both wait in the lane before anything is checked.
    repo.stdout(&["accept", &stricter, "--force", "--no-wait"]);
    repo.stdout(&["accept", &work, "--no-wait"]);
    let up = repo.up();
    repo.until_queue(&stricter, "done");
    repo.until("the other is sent back", || has_event(&repo, &work, "task_sent_back"));
    up.end();
    assert_eq!(own_history(&repo).len(), 1, "one landed, alone");
    assert!(repo.git(&["show", "baton/next:.agent/baton.toml"]).contains("! test -e b.txt"));
}

#[test]
fn what_the_branch_protects_needs_a_person_whatever_the_checkout_says() {
    let repo = TestRepo::with_agent(
        "mkdir -p tests; echo x > tests/x; git add -A; git commit -q -m Work; echo Done.",
        "accept_when = \"green\"\nprotect = [\"tests/**\"]\n[checks]\nrules = [\"true\"]",
    );
    change_checkout(&repo, "protect = [\"tests/**\"]\n", "protect = []\n");
    let task = repo.add("Work", &[]);
    repo.work_until(&[(&task, "provisional")]);
    let reasons = repo.show(&task)["needs_review"].to_string();
    assert!(reasons.contains("tests/x"), "{reasons}");
    assert!(repo.stdout(&["doctor"]).contains("baton/next protects other files than your checkout"));
}

#[test]
fn settings_that_were_committed_and_brought_over_count() {
    let repo = adding_agent("true", "exit 1");
    let task = repo.add("Add a.txt", &[]);
    repo.work_until(&[(&task, "provisional")]);
    let settings = read(repo.folder.join(".agent/baton.toml"));
    set_settings(&repo, &settings.replace("'''true'''", "'''! test -e a.txt'''"));
    let output = repo.output(&["accept", &task]);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(printed.contains("sent back") && output.status.code() == Some(1), "{printed}");
}
