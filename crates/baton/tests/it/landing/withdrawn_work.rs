//! Withdrawn commits that work contains without having been started from the person's branch: from a branch on which nothing has
//! landed, from a merge, from the work of other tasks, in every kind of lane.

use super::person_branch::{CHECK, commit, files, land_one, next};
use super::withdrawn::{AS_TOLD, assert_lands, assert_sent_back, has};
use super::{adding_agent, assert_green, has_event, set_settings};
use crate::engine::test_repo::{TestRepo, read};

/// The person's last commit becomes another.
pub(super) fn replace(repo: &TestRepo, file: &str, by: &str) {
    repo.git(&["mv", file, by]);
    repo.git(&["commit", "-q", "--amend", "-m", &format!("Add {by} by hand")]);
}

pub(super) fn take_back(repo: &TestRepo) {
    repo.git(&["reset", "-q", "--hard", "HEAD~1"]);
}

/// A repository with more settings.
fn with_settings(check: &str, settings: &str) -> TestRepo {
    let repo = adding_agent(check, AS_TOLD);
    let known = read(repo.folder.join(".agent/baton.toml"));
    set_settings(&repo, &format!("{settings}\n{known}"));
    repo
}

#[test]
fn i18_a_branch_on_which_nothing_has_landed_lets_go_of_a_commit_that_was_taken_back() {
    for is_replaced in [true, false] {
        let repo = adding_agent(CHECK, AS_TOLD);
        let mine = commit(&repo, "dropped.txt");
        let task = repo.add("Add b.txt", &[]);
        repo.work_until(&[(&task, "provisional")]);
        assert_eq!(next(&repo), mine, "the branch was made here");
        if is_replaced {
            replace(&repo, "dropped.txt", "better.txt");
        } else {
            take_back(&repo);
        }
        assert_sent_back(&repo, &task, &[]);
        // What starts now does not have it either.
        let later = repo.add("Add c.txt", &[]);
        repo.work_until(&[(&later, "provisional")]);
        assert!(!has(&repo, &format!("baton/{later}"), "dropped.txt"));
        assert_lands(&repo, &task, &[]);
        assert!(has(&repo, "baton/next", "b.txt") && !has(&repo, "baton/next", "dropped.txt"));
        assert_eq!(has(&repo, "baton/next", "better.txt"), is_replaced);
        assert_green(&repo, CHECK);
    }
}

#[test]
fn i18_a_red_commit_at_which_the_branch_was_made_is_replaced_with_the_persons() {
    let repo = adding_agent(CHECK, AS_TOLD);
    commit(&repo, "broken");
    let task = repo.add("Add b.txt", &[]);
    repo.work_until(&[(&task, "provisional")]);
    let printed = repo.stdout(&["accept", &task]);
    assert!(printed.contains(&format!("{task}  waiting")), "{printed}");
    replace(&repo, "broken", "fine.txt");
    let up = repo.up();
    repo.until("it came back and was moved", || {
        has_event(&repo, &task, "task_sent_back") && repo.queue(&task) == "provisional"
    });
    up.end();
    assert_lands(&repo, &task, &[]);
    assert!(has(&repo, "baton/next", "fine.txt") && !has(&repo, "baton/next", "broken"));
    assert_green(&repo, CHECK);
}

#[test]
fn a_branch_on_which_something_has_landed_stays_where_it_is() {
    let repo = adding_agent(CHECK, AS_TOLD);
    commit(&repo, "mine.txt");
    land_one(&repo, "Add a.txt");
    let before = next(&repo);
    take_back(&repo);
    let task = repo.add("Add b.txt", &[]);
    repo.work_until(&[(&task, "provisional")]);
    assert_eq!(next(&repo), before);
    assert_lands(&repo, &task, &[]);
}

#[test]
fn i18_a_commit_that_the_agent_was_told_to_merge_does_not_land_once_it_is_taken_back() {
    let repo = adding_agent(CHECK, AS_TOLD);
    land_one(&repo, "Add z.txt");
    repo.git(&["merge", "-q", "baton/next"]);
    let task = repo.add("Add a.txt", &[]);
    repo.work_until(&[(&task, "provisional")]);
    std::fs::write(repo.folder.join("a.txt"), "mine\n").unwrap();
    repo.git(&["add", "a.txt"]);
    commit(&repo, "dropped.txt");
    let output = repo.output(&["accept", &task]);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(printed.contains("sent back: conflicts with main"), "{printed}");
    repo.work_until(&[(&task, "provisional")]);
    assert!(has(&repo, &format!("baton/{task}"), "dropped.txt"));

    take_back(&repo);
    assert_sent_back(&repo, &task, &[]);
    assert_lands(&repo, &task, &[]);
    assert!(has(&repo, "baton/next", "a.txt") && !has(&repo, "baton/next", "dropped.txt"));
}

#[test]
fn i18_every_task_of_a_chain_leaves_a_replaced_commit_out_and_nobody_decides() {
    let repo = with_settings(CHECK, "start_on = \"landing\"\naccept_when = \"green\"");
    repo.git(&["branch", "baton/next"]);
    commit(&repo, "broken");
    let first = repo.add("Add a.txt", &[]);
    let second = repo.add("Add b.txt", &[&first]);
    let third = repo.add("Add c.txt", &[&second]);
    let up = repo.up();
    for task in [&first, &second, &third] {
        repo.until_queue(task, "landing");
    }
    replace(&repo, "broken", "fine.txt");
    for task in [&first, &second, &third] {
        repo.until_queue(task, "done");
    }
    up.end();
    for task in [&first, &second, &third] {
        assert_eq!(repo.attempts(task).len(), 2, "sent back once: {task}");
    }
    let (landed, log) = (files(&repo, "baton/next"), repo.git(&["log", "--format=%s", "baton/next"]));
    for file in ["a.txt", "b.txt", "c.txt", "fine.txt"] {
        let of_it = log.lines().filter(|subject| subject.starts_with(&format!("Add {file}")));
        assert_eq!(of_it.count(), 1, "each is put on the one before, not on a copy of it: {log}");
        assert!(landed.contains(&file.to_owned()), "{landed:?}");
    }
    assert!(!landed.contains(&"broken".to_owned()), "{landed:?}");
    assert_green(&repo, CHECK);
}

#[test]
fn i18_work_on_the_work_of_another_task_leaves_a_replaced_commit_out_too() {
    let repo = adding_agent(CHECK, AS_TOLD);
    land_one(&repo, "Add z.txt");
    repo.git(&["merge", "-q", "baton/next"]);
    commit(&repo, "dropped.txt");
    let up = repo.up();
    up.wait_for_line("Listening on http://");
    let say = |text: &str| {
        let words = ["--json", "chat", "--session", "one", "--type", "IMPLEMENTATION", text];
        let output = repo.output(&words);
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let first = serde_json::from_str::<serde_json::Value>(printed.lines().next().unwrap()).unwrap();
        let task = first["message"]["task_id"].as_str().unwrap().to_owned();
        repo.until_queue(&task, "provisional");
        task
    };
    let (first, second) = (say("Add a.txt"), say("Add b.txt"));
    up.end();
    assert!(has(&repo, &format!("baton/{second}"), "a.txt"), "it stands on the first");
    replace(&repo, "dropped.txt", "better.txt");
    assert_sent_back(&repo, &first, &[]);
    assert_lands(&repo, &first, &[]);
    assert_sent_back(&repo, &second, &[]);
    assert_lands(&repo, &second, &[]);
    let landed = files(&repo, "baton/next");
    assert!(!landed.contains(&"dropped.txt".to_owned()), "{landed:?}");
    assert!(landed.contains(&"better.txt".to_owned()) && landed.contains(&"b.txt".to_owned()), "{landed:?}");
}

#[test]
fn i18_force_for_a_closer_look_takes_no_withdrawn_commit_along() {
    let repo = with_settings(CHECK, "protect = [\"tests/**\"]");
    commit(&repo, "tests/x");
    land_one(&repo, "Add a.txt");
    repo.git(&["merge", "-q", "baton/next"]);
    commit(&repo, "broken");
    let task = repo.add("Add tests/m", &[]);
    repo.work_until(&[(&task, "provisional")]);
    let before = next(&repo);
    take_back(&repo);
    assert_sent_back(&repo, &task, &["--force"]);
    assert_eq!(next(&repo), before);
    let preview = repo.stdout(&["accept", &task, "--force", "--dry-run"]);
    assert!(preview.contains("the checks decide whether it lands"), "{preview}");
    assert_lands(&repo, &task, &["--force"]);
    assert!(has(&repo, "baton/next", "tests/m") && !has(&repo, "baton/next", "broken"));
    assert_green(&repo, CHECK);
}

#[test]
fn i18_a_commit_that_was_taken_back_from_a_feature_branch_does_not_land_there() {
    let repo = adding_agent(CHECK, AS_TOLD);
    let made = repo.json(&["project", "create", "Share links", "--feature"]);
    let (project, branch) = (made["project_id"].as_str().unwrap(), made["feature_branch"].as_str().unwrap());
    repo.git(&["checkout", "-q", "-B", branch]);
    commit(&repo, "dropped.txt");
    repo.git(&["checkout", "-q", "main"]);
    let made = repo.json(&["task", "add", "Add b.txt", "--project", project]);
    let task = made["task_id"].as_str().unwrap().to_owned();
    repo.work_until(&[(&task, "provisional")]);
    assert!(has(&repo, &format!("baton/{task}"), "dropped.txt"));
    repo.git(&["branch", "-f", branch, &format!("{branch}~1")]);
    assert_sent_back(&repo, &task, &[]);
    assert_lands(&repo, &task, &[]);
    assert!(has(&repo, branch, "b.txt") && !has(&repo, branch, "dropped.txt"));
}

#[test]
fn without_checks_a_commit_that_was_taken_back_does_not_come_in_either() {
    let repo = TestRepo::with_agent("", "");
    let program = format!(
        "case \"$prompt\" in *\"was accepted\"*) {AS_TOLD} ;; *) echo new > b.txt; git add -A; git commit -q -m Add ;; esac"
    );
    repo.set_agent(&program);
    commit(&repo, "dropped.txt");
    let task = repo.add("Add b.txt", &[]);
    repo.work_until(&[(&task, "provisional")]);
    take_back(&repo);
    assert_sent_back(&repo, &task, &[]);
    repo.stdout(&["accept", &task]);
    assert_eq!(repo.queue(&task), "done");
    assert!(has(&repo, "baton/next", "b.txt") && !has(&repo, "baton/next", "dropped.txt"));
}
