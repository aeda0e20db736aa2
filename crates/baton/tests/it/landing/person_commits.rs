//! What becomes of work that does not go together with commits of the person's own.

use super::person_branch::{CHECK, commit, files, next, repair};
use super::{NOT_BOTH, adding_agent, assert_green, has_event};
use crate::engine::test_repo::{TestRepo, read};

/// The person changes the same file as the task, with or without something that fails the checks.
fn commit_beside(repo: &TestRepo, file: &str, breaks: bool) -> String {
    std::fs::write(repo.folder.join(file), "mine\n").unwrap();
    repo.git(&["add", "--", file]);
    if breaks {
        return commit(repo, "broken");
    }
    repo.git(&["commit", "-q", "-m", "Change it by hand"]);
    repo.git(&["rev-parse", "HEAD"])
}

#[test]
fn i18_work_that_conflicts_with_a_red_commit_of_the_persons_lands_without_it() {
    let repo = adding_agent(CHECK, "exit 1");
    let [one, other] = ["a", "b"].map(|name| repo.add(&format!("Add {name}.txt"), &[]));
    repo.work_until(&[(&one, "provisional"), (&other, "provisional")]);
    commit_beside(&repo, "a.txt", true);

    let printed = repo.stdout(&["accept", &one, "--dry-run"]);
    assert!(
        printed.contains(
            "conflicts with main in a.txt; without your own commits it merges into baton/next, and lands there if those fail"
        ),
        "{printed}"
    );
    let output = repo.output(&["accept", &one]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    assert!(said.contains(&format!("checking main without {one} (")), "{said}");
    assert_eq!((repo.queue(&one), repo.attempts(&one).len()), ("done".to_owned(), 1), "nobody is blamed");
    assert!(!has_event(&repo, &one, "task_sent_back"));
    let landed = files(&repo, "baton/next");
    assert!(landed.contains(&"a.txt".to_owned()) && !landed.contains(&"broken".to_owned()), "{landed:?}");
    assert_ne!(repo.git(&["show", "baton/next:a.txt"]), "mine");

    let printed = repo.stdout(&["accept", &other]);
    assert!(printed.contains(&format!("{other}  landed")), "{printed}");
    assert_green(&repo, CHECK);
}

#[test]
fn a_dry_run_knows_that_the_persons_commits_fail_once_they_have() {
    let repo = adding_agent(CHECK, "exit 1");
    let old = repo.add("Add a.txt", &[]);
    repo.work_until(&[(&old, "provisional")]);
    commit_beside(&repo, "a.txt", true);
    let new = repo.add("Add b.txt", &[]);
    repo.work_until(&[(&new, "provisional")]);
    let printed = repo.stdout(&["accept", &new]);
    assert!(printed.contains("waiting: main itself fails its checks"), "{printed}");
    let preview = repo.json(&["accept", &old, "--dry-run"]);
    assert_eq!(preview["preview"][0]["would_be"], "accepted", "{preview:#}");
    repo.stdout(&["accept", &old]);
    assert_eq!(repo.queue(&old), "done");
    assert_eq!(repo.queue(&new), "landing");
}

#[test]
fn work_that_conflicts_with_a_green_commit_of_the_persons_goes_back() {
    let repo = adding_agent(
        CHECK,
        "git merge -q main || { git checkout -q --ours a.txt; git add a.txt; git commit -q -m Merged; }",
    );
    let task = repo.add("Add a.txt", &[]);
    repo.work_until(&[(&task, "provisional")]);
    commit_beside(&repo, "a.txt", false);
    let output = repo.output(&["accept", &task]);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert!(printed.contains("sent back: conflicts with main in a.txt"), "{printed}");
}

#[test]
fn i18_settings_of_the_persons_that_cannot_be_read_keep_only_what_was_started_on_them() {
    let repo = adding_agent(CHECK, "exit 1");
    let old = repo.add("Add a.txt", &[]);
    repo.work_until(&[(&old, "provisional")]);
    let file = repo.folder.join(".agent/baton.toml");
    let settings = read(&file);
    std::fs::write(&file, format!("no_such_setting = 1\n{settings}")).unwrap();
    repo.git(&["commit", "-q", "-m", "Break the settings", "--", ".agent"]);
    // The checkout itself can be read: only the branch cannot.
    std::fs::write(&file, &settings).unwrap();
    let new = repo.add("Add b.txt", &[]);
    repo.work_until(&[(&new, "provisional")]);

    let printed = repo.stdout(&["accept", &old]);
    assert!(printed.contains(&format!("{old}  landed")), "{printed}");
    assert_eq!(repo.attempts(&old).len(), 1);
    assert!(!repo.git(&["show", "baton/next:.agent/baton.toml"]).contains("no_such_setting"));
    let before = next(&repo);
    let printed = repo.stdout(&["accept", &new]);
    assert!(printed.contains(&format!("{new}  waiting")), "{printed}");
    assert_eq!((repo.queue(&new), next(&repo)), ("landing".to_owned(), before));
}

#[test]
fn commits_of_the_persons_that_came_in_with_other_work_are_named_where_they_break_a_task() {
    let repo = adding_agent(
        NOT_BOTH,
        "git merge -q main || { git checkout -q --ours z.txt; git add z.txt; git commit -q -m Merged; }",
    );
    let [other, late] = ["z", "a"].map(|name| repo.add(&format!("Add {name}.txt"), &[]));
    repo.work_until(&[(&other, "provisional"), (&late, "provisional")]);
    // The other task has to merge them, and they land with it.
    commit_beside(&repo, "z.txt", false);
    let mine = commit(&repo, "b.txt");
    assert_eq!(repo.output(&["accept", &other]).status.code(), Some(1));
    repo.work_until(&[(&other, "provisional")]);
    repo.stdout(&["accept", &other]);
    assert!(files(&repo, "baton/next").contains(&"b.txt".to_owned()));

    let up = repo.up();
    let output = repo.output(&["accept", &late]);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let named = format!("together with {other} and your own commits on main (up to {}", &mine[..7]);
    assert!(printed.contains(&named), "{printed}");
    let line = up.wait_for_line("passed its checks alone and fails them");
    assert!(line.contains("your own commits on main"), "{line}");
    let prompt_of = |task: &str| read(repo.home.join(format!("prompt-{task}")));
    repo.until("its agent is told", || prompt_of(&late).contains("that are no task's"));
    up.end();
    let prompt = prompt_of(&late);
    let (of_task, of_person) = prompt.split_once("Commits on main that are no task's (").unwrap();
    assert!(of_person.contains("Add b.txt by hand") && of_person.contains("+++ b/b.txt"), "{prompt}");
    let of_task = of_task.split_once("(\"Add z.txt\") changed").unwrap().1;
    assert!(of_task.contains("z.txt") && !of_task.contains("b/b.txt"), "only its own changes: {of_task}");
}

#[test]
fn work_that_failed_before_is_not_said_to_have_passed_alone() {
    let repo = adding_agent("! test -e broken && ! test -e evil", "exit 1");
    let early = repo.add("Add a.txt", &[]);
    repo.work_until(&[(&early, "provisional")]);
    commit(&repo, "broken");
    let evil = repo.add("Add evil", &[]);
    repo.work_until(&[(&evil, "provisional")]);
    repo.stdout(&["accept", &early]);
    repair(&repo);
    repo.git(&["merge", "-q", "--no-edit", "baton/next"]);
    let up = repo.up();
    up.wait_for_line("Listening on http://");
    assert_eq!(repo.output(&["accept", &evil]).status.code(), Some(1));
    let line = up.wait_for_line("fails the checks together with");
    assert!(!line.contains("alone"), "{line}");
    up.end();
}

#[test]
fn what_the_person_changed_in_a_merge_is_named_where_it_breaks_a_task() {
    let repo = adding_agent(NOT_BOTH, "exit 1");
    let [other, breaks, conflicts] = ["z", "a", "c"].map(|name| repo.add(&format!("Add {name}.txt"), &[]));
    repo.work_until(&[(&other, "provisional"), (&breaks, "provisional"), (&conflicts, "provisional")]);
    repo.stdout(&["accept", &other]);
    commit(&repo, "p.txt");
    repo.git(&["merge", "-q", "--no-ff", "--no-commit", "baton/next"]);
    for file in ["b.txt", "c.txt"] {
        std::fs::write(repo.folder.join(file), "mine\n").unwrap();
    }
    repo.git(&["add", "-A"]);
    repo.git(&["commit", "-q", "-m", "Merge with more"]);
    let merge = repo.git(&["rev-parse", "--short=7", "HEAD"]);

    let output = repo.output(&["accept", &breaks]);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let named =
        format!("check fails on main together with {other} and your own commits on main (up to {merge}");
    assert!(printed.contains(&named), "{printed}");
    let shown = repo.stdout(&["task", "show", &breaks]);
    assert!(shown.contains("Merge with more") && shown.contains("Add p.txt by hand"), "{shown}");

    let output = repo.output(&["accept", &conflicts]);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(printed.contains("sent back: conflicts with main in c.txt"), "nobody else changed it: {printed}");
    let shown = repo.stdout(&["task", "show", &conflicts]);
    assert!(shown.contains(&format!("{merge} Merge with more")), "{shown}");
}

#[test]
fn a_person_who_repairs_their_branch_in_a_merge_is_named_and_no_other_task() {
    let repo = adding_agent(CHECK, "exit 1");
    let early = repo.add("Add a.txt", &[]);
    repo.work_until(&[(&early, "provisional")]);
    commit(&repo, "broken");
    // Its agent changes what the person takes away.
    let late = repo.add("Add broken", &[]);
    repo.work_until(&[(&late, "provisional")]);
    repo.stdout(&["accept", &early]);
    repo.stdout(&["accept", &late, "--no-wait"]);
    repo.git(&["merge", "-q", "--no-ff", "--no-commit", "baton/next"]);
    repo.git(&["rm", "-qf", "broken"]);
    repo.git(&["commit", "-q", "-m", "Merge and repair"]);
    let output = repo.output(&["accept", &late]);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(printed.contains("sent back: conflicts with main in broken"), "{printed}");
    let shown = repo.stdout(&["task", "show", &late]);
    assert!(shown.contains("Merge and repair") && !shown.contains(&early), "{shown}");
}
