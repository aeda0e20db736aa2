//! The person's own commits reach the branch only through a checked landing (I18).

use super::{adding_agent, assert_green, has_event};
use crate::engine::test_repo::{TestRepo, read};

pub(super) const CHECK: &str = "! test -e broken";

/// The person commits a file on their own branch, which is checked out.
pub(super) fn commit(repo: &TestRepo, file: &str) -> String {
    let path = repo.folder.join(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, "mine\n").unwrap();
    repo.git(&["add", "--", file]);
    repo.git(&["commit", "-q", "-m", &format!("Add {file} by hand")]);
    repo.git(&["rev-parse", "HEAD"])
}

pub(super) fn repair(repo: &TestRepo) {
    repo.git(&["rm", "-q", "broken"]);
    repo.git(&["commit", "-q", "-m", "Repair it"]);
}

pub(super) fn next(repo: &TestRepo) -> String {
    repo.git(&["rev-parse", "baton/next"])
}

pub(super) fn files(repo: &TestRepo, branch: &str) -> Vec<String> {
    repo.git(&["ls-tree", "-r", "--name-only", branch]).lines().map(str::to_owned).collect()
}

pub(super) fn land_one(repo: &TestRepo, title: &str) {
    let task = repo.add(title, &[]);
    repo.work_until(&[(&task, "provisional")]);
    repo.stdout(&["accept", &task]);
    assert_eq!(repo.queue(&task), "done");
}

#[test]
fn i18_a_persons_commits_come_in_with_the_first_work_that_lands() {
    let repo = adding_agent(CHECK, "exit 1");
    land_one(&repo, "Add a.txt");
    repo.git(&["merge", "-q", "baton/next"]);
    let (before, mine) = (next(&repo), commit(&repo, "mine.txt"));
    let task = repo.add("Add b.txt", &[]);
    repo.work_until(&[(&task, "provisional")]);
    assert_eq!(next(&repo), before, "nothing has moved it");

    // The agent saw the newest code, and what the person did is not its work.
    let branch = format!("baton/{task}");
    assert!(files(&repo, &branch).contains(&"mine.txt".to_owned()));
    let verified = repo.show(&task)["verified"].clone();
    assert_eq!(verified["base"], mine, "{verified:#}");
    assert_eq!((&verified["commits"], &verified["files_changed"]), (&1.into(), &1.into()), "{verified:#}");
    let diff = repo.stdout(&["task", "diff", &task]);
    assert!(diff.contains("b.txt") && !diff.contains("mine.txt"), "{diff}");

    repo.stdout(&["accept", &task]);
    assert_eq!(repo.queue(&task), "done");
    let landed = files(&repo, "baton/next");
    assert!(landed.contains(&"mine.txt".to_owned()) && landed.contains(&"b.txt".to_owned()), "{landed:?}");
    assert_eq!(repo.git(&["rev-parse", "baton/next^1"]), before, "one checked step");
    let message = repo.git(&["log", "-1", "--format=%B", "baton/next"]);
    assert!(message.contains(&format!("Brings in main at {mine}.")), "{message}");
    let shown = repo.show(&task)["landing"].clone();
    assert_eq!(shown["evidence"]["commit"], next(&repo), "{shown:#}");
    assert_green(&repo, CHECK);
}

#[test]
fn protected_files_that_a_person_changed_are_not_blamed_on_the_task() {
    let repo = TestRepo::with_agent(
        "test -e tests/x && echo work > work.txt; git add -A; git commit -q -m Work; echo Done.",
        "accept_when = \"green\"\nprotect = [\"tests/**\"]\n[checks]\nrules = [\"true\"]",
    );
    repo.git(&["branch", "baton/next"]);
    commit(&repo, "tests/x");
    let task = repo.add("Work", &[]);
    repo.work_until(&[(&task, "done")]);
    assert!(files(&repo, "baton/next").contains(&"tests/x".to_owned()));
    assert!(repo.show(&task)["needs_review"].as_array().is_none_or(Vec::is_empty));
}

#[test]
fn i18_a_red_commit_of_the_persons_never_becomes_the_branch() {
    let repo = adding_agent(CHECK, "exit 1");
    land_one(&repo, "Add a.txt");
    repo.git(&["merge", "-q", "baton/next"]);
    let before = next(&repo);
    commit(&repo, "broken");
    let task = repo.add("Add b.txt", &[]);
    repo.work_until(&[(&task, "provisional")]);
    assert_eq!(repo.show(&task)["verified"]["checks"][0]["fails_without"], true);

    let printed = repo.stdout(&["accept", &task]);
    assert!(printed.contains(&format!("{task}  waiting: main itself fails its checks")), "{printed}");
    assert_eq!((repo.queue(&task), next(&repo)), ("landing".to_owned(), before));
    let inbox = repo.stdout(&["questions"]);
    assert!(inbox.contains(&format!("{task}: main itself fails its checks (rules)")), "{inbox}");

    repair(&repo);
    let printed = repo.stdout(&["accept", &task]);
    assert!(printed.contains(&format!("{task}  landed")), "{printed}");
    assert_eq!(repo.attempts(&task).len(), 1, "the agent was not blamed");
    assert!(!has_event(&repo, &task, "task_sent_back"));
    assert_green(&repo, CHECK);
}

#[test]
fn i18_work_from_before_a_red_commit_lands_without_it_and_work_from_it_waits() {
    let repo = adding_agent(CHECK, "exit 1");
    let early = repo.add("Add a.txt", &[]);
    repo.work_until(&[(&early, "provisional")]);
    commit(&repo, "broken");
    let late = repo.add("Add b.txt", &[]);
    repo.work_until(&[(&late, "provisional")]);
    let printed = repo.stdout(&["accept", &early]);
    assert!(printed.contains(&format!("{early}  landed")), "{printed}");
    assert!(!files(&repo, "baton/next").contains(&"broken".to_owned()));

    // Now each has something that the other has not.
    let printed = repo.stdout(&["accept", &late]);
    assert!(
        printed.contains(&format!("{late}  waiting: accepted work for baton/next started from")),
        "{printed}"
    );
    let landing = repo.stdout(&["landing"]);
    assert!(landing.contains("which it started from, fails the checks of baton/next (rules)"), "{landing}");
    assert_eq!(repo.show(&late)["notes"][0]["reason"]["why"], "start_fails");
    assert_eq!((repo.queue(&late), repo.attempts(&late).len()), ("landing".to_owned(), 1));
    let inbox = repo.stdout(&["questions"]);
    assert!(inbox.contains("which it started from"), "{inbox}");

    repair(&repo);
    repo.git(&["merge", "-q", "--no-edit", "baton/next"]);
    let printed = repo.stdout(&["accept", &late]);
    assert!(printed.contains(&format!("{late}  landed")), "{printed}");
    let landed = files(&repo, "baton/next");
    assert!(landed.contains(&"b.txt".to_owned()) && !landed.contains(&"broken".to_owned()), "{landed:?}");
    assert_eq!(repo.attempts(&late).len(), 1, "the agent was not blamed");
    let shown = repo.stdout(&["task", "show", &late]);
    assert!(
        shown.contains("Waited before: The work started from") && !shown.contains("Sent back"),
        "{shown}"
    );
    assert_green(&repo, CHECK);
}

#[test]
fn checks_that_a_person_has_repaired_hold_at_once() {
    let repo = adding_agent("exit 3", "exit 1");
    repo.git(&["branch", "baton/next"]);
    let file = repo.folder.join(".agent/baton.toml");
    let settings = read(&file).replace("'''exit 3'''", "'''true'''");
    std::fs::write(&file, settings).unwrap();
    repo.git(&["commit", "-q", "-m", "Repair the checks", "--", ".agent"]);
    land_one(&repo, "Add a.txt");
    assert!(repo.git(&["show", "baton/next:.agent/baton.toml"]).contains("'''true'''"));
}

#[test]
fn conflicts_with_a_persons_commits_go_back_with_the_branch_to_merge() {
    let repo = adding_agent(
        CHECK,
        "git merge -q main || { git checkout -q --ours b.txt; git add b.txt; git commit -q -m Merged; }",
    );
    let task = repo.add("Add b.txt", &[]);
    repo.work_until(&[(&task, "provisional")]);
    commit(&repo, "b.txt");
    commit(&repo, "other.txt");
    let output = repo.output(&["accept", &task]);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stdout));
    repo.work_until(&[(&task, "provisional")]);
    let prompt = read(repo.home.join(format!("prompt-{task}")));
    assert!(prompt.contains("Run `git merge main` here"), "{prompt}");
    let verified = repo.show(&task)["verified"].clone();
    assert_eq!(verified["files_changed"], 1, "what it merged is not its work: {verified:#}");
    repo.stdout(&["accept", &task]);
    assert!(files(&repo, "baton/next").contains(&"other.txt".to_owned()));
}

#[test]
fn looking_at_the_branch_of_a_task_does_not_make_it_the_persons() {
    let repo = TestRepo::with_agent("work", "");
    let task = repo.add("Work", &[]);
    repo.work_until(&[(&task, "provisional")]);
    let before = next(&repo);
    repo.git(&["checkout", "-q", &format!("baton/{task}")]);
    let other = repo.add("Other", &[]);
    repo.work_until(&[(&other, "provisional")]);
    repo.git(&["checkout", "-q", "main"]);
    assert_eq!(next(&repo), before, "nobody has accepted it");
}

#[test]
fn without_checks_the_branch_follows_the_persons() {
    let repo = TestRepo::with_agent("work", "");
    repo.git(&["branch", "-f", "baton/next", "HEAD"]);
    let mine = commit(&repo, "mine.txt");
    let task = repo.add("Work", &[]);
    repo.work_until(&[(&task, "provisional")]);
    assert_eq!(next(&repo), mine);
}
