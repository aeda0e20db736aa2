//! `baton/next` lets go of withdrawn commits while nothing has landed on it; looking at work moves it never, and force takes such
//! commits along by name.

use super::person_branch::{CHECK, commit, next};
use super::withdrawn::{AS_TOLD, assert_lands, assert_sent_back, has};
use super::withdrawn_work::{replace, take_back};
use super::{adding_agent, set_settings};
use crate::engine::test_repo::{TestRepo, read};

fn remove_checks(repo: &TestRepo) {
    let known = read(repo.folder.join(".agent/baton.toml"));
    let rest = known.lines().filter(|line| !line.starts_with("[checks]") && !line.starts_with("rules = "));
    set_settings(repo, &rest.collect::<Vec<_>>().join("\n"));
}

#[test]
fn i18_a_branch_lets_go_of_a_commit_while_another_is_checked_out() {
    for (is_checked, leaves) in [(true, "main"), (false, "dev")] {
        let repo = adding_agent(CHECK, AS_TOLD);
        if !is_checked {
            // The branch follows whatever the person is on.
            remove_checks(&repo);
            let early = repo.add("Add a.txt", &[]);
            repo.work_until(&[(&early, "provisional")]);
            repo.git(&["checkout", "-q", "-b", "dev"]);
        }
        let mine = commit(&repo, "dropped.txt");
        let task = repo.add("Add b.txt", &[]);
        repo.work_until(&[(&task, "provisional")]);
        assert_eq!(next(&repo), mine, "the branch was made here, or has followed");
        repo.git(&["checkout", "-q", "-b", "elsewhere", "HEAD~1"]);
        repo.git(&["branch", "-q", "-f", leaves, "elsewhere"]);
        assert_sent_back(&repo, &task, &[]);
        repo.stdout(&["accept", &task]);
        assert_eq!(repo.queue(&task), "done");
        assert!(has(&repo, "baton/next", "b.txt") && !has(&repo, "baton/next", "dropped.txt"), "{leaves}");
    }
}

#[test]
fn a_branch_keeps_what_the_branch_has_that_the_person_works_on() {
    let repo = adding_agent(CHECK, AS_TOLD);
    commit(&repo, "mine.txt");
    let task = repo.add("Add b.txt", &[]);
    repo.work_until(&[(&task, "provisional")]);
    let before = next(&repo);
    // The person moves the commit to a branch of its own, and stays there.
    repo.git(&["checkout", "-q", "-b", "mine"]);
    repo.git(&["branch", "-q", "-f", "main", "HEAD~1"]);
    assert!(repo.show(&task)["standing"].get("withdrawn").is_none());
    assert_eq!(next(&repo), before);
    assert_lands(&repo, &task, &[]);
    // A branch that got another name has withdrawn nothing.
    let repo = adding_agent(CHECK, AS_TOLD);
    commit(&repo, "mine.txt");
    let task = repo.add("Add b.txt", &[]);
    repo.work_until(&[(&task, "provisional")]);
    repo.git(&["branch", "-q", "-m", "main", "trunk"]);
    assert!(repo.show(&task)["standing"].get("withdrawn").is_none());
    assert_lands(&repo, &task, &[]);
}

#[test]
fn looking_at_work_moves_no_branch() {
    for is_checked in [true, false] {
        let repo = adding_agent(CHECK, AS_TOLD);
        if !is_checked {
            remove_checks(&repo);
        }
        commit(&repo, "dropped.txt");
        let task = repo.add("Add b.txt", &[]);
        repo.work_until(&[(&task, "provisional")]);
        replace(&repo, "dropped.txt", "better.txt");
        let before = repo.git(&["for-each-ref"]);
        let preview = repo.json(&["accept", &task, "--dry-run"]);
        assert_eq!(preview["preview"][0]["would_be"], "sent back", "{preview:#}");
        let preview = repo.json(&["accept", &task, "--dry-run", "--force"]);
        assert_eq!(preview["preview"][0]["would_be"], "accepted", "{preview:#}");
        repo.stdout(&["task", "show", &task]);
        repo.stdout(&["task", "diff", &task]);
        assert_eq!(repo.git(&["for-each-ref"]), before);
        assert_sent_back(&repo, &task, &[]);
    }
}

#[test]
fn i18_force_that_takes_withdrawn_commits_along_without_checks_is_recorded_as_such() {
    let repo = TestRepo::with_agent("echo new > b.txt; git add -A; git commit -q -m Add", "");
    commit(&repo, "dropped.txt");
    let task = repo.add("Add b.txt", &[]);
    repo.work_until(&[(&task, "provisional")]);
    take_back(&repo);
    repo.stdout(&["accept", &task, "--force"]);
    assert_eq!(repo.queue(&task), "done");
    let landing = repo.show(&task)["landing"].clone();
    assert!(landing["withdrawn"][0].as_str().unwrap().contains("Add dropped.txt by hand"), "{landing:#}");
    let log = repo.git(&["log", "-1", "--format=%B", "baton/next"]);
    assert!(log.contains("Forced by ") && log.contains("Add dropped.txt by hand"), "{log}");
}
