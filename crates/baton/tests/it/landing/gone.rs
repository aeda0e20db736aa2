//! The branch that work lands on is deleted or moved back by hand, with what had landed there.

use super::adding_agent;
use super::person_branch::{commit, land_one};
use super::withdrawn::has;
use crate::engine::test_repo::TestRepo;

fn landed() -> (TestRepo, Vec<String>) {
    let repo = adding_agent("true", "exit 1");
    for title in ["Add a.txt", "Add b.txt"] {
        land_one(&repo, title);
    }
    let tasks = repo.json(&["task", "list", "--queue", "done"])["tasks"].clone();
    let tasks = tasks.as_array().unwrap().iter().map(|task| task["task_id"].as_str().unwrap().to_owned());
    let tasks: Vec<String> = tasks.collect();
    assert_eq!(tasks.len(), 2);
    (repo, tasks)
}

fn doctor(repo: &TestRepo) -> String {
    String::from_utf8_lossy(&repo.output(&["doctor"]).stdout).into_owned()
}

const GONE: &str = "baton/next no longer has all that landed there";

#[test]
fn landed_work_that_went_with_its_branch_is_named_with_the_way_back() {
    let (repo, tasks) = landed();
    let tip = repo.git(&["rev-parse", "baton/next"]);
    assert!(!doctor(&repo).contains(GONE));
    repo.git(&["branch", "-q", "-D", "baton/next"]);
    let said = doctor(&repo);
    assert!(said.contains(GONE) && said.contains(&format!("git branch baton/next {tip}")), "{said}");
    assert!(tasks.iter().all(|task| said.contains(task)), "{said}");

    // The next work makes the branch anew, and the next landing says what is missing.
    let task = repo.add("Add c.txt", &[]);
    repo.work_until(&[(&task, "provisional")]);
    let output = repo.output(&["accept", &task]);
    let narrated = String::from_utf8_lossy(&output.stderr).into_owned();
    let restore = format!("git merge {tip}, then git merge baton/next, on your own branch");
    assert!(narrated.contains(GONE) && narrated.contains(&restore), "{narrated}");
    assert_eq!(repo.queue(&task), "done");
    assert!(!has(&repo, "baton/next", "a.txt"), "nothing is brought back by itself");

    // Still known, now that the branch has other work, until the person has done so.
    assert!(doctor(&repo).contains(&restore), "{}", doctor(&repo));
    repo.git(&["merge", "-q", "--no-edit", &tip]);
    repo.git(&["merge", "-q", "--no-edit", "baton/next"]);
    assert!(!doctor(&repo).contains(GONE), "{}", doctor(&repo));
    land_one(&repo, "Add d.txt");
    assert!(has(&repo, "baton/next", "a.txt") && has(&repo, "baton/next", "c.txt"));
    assert!(!doctor(&repo).contains(GONE), "{}", doctor(&repo));
}

#[test]
fn what_the_person_has_on_their_own_branch_is_not_gone() {
    for way in [&["merge", "-q", "baton/next"][..], &["merge", "-q", "--squash", "baton/next"]] {
        let (repo, _) = landed();
        repo.git(way);
        if way.contains(&"--squash") {
            repo.git(&["commit", "-q", "-m", "All of it"]);
        }
        commit(&repo, "mine.txt");
        repo.git(&["branch", "-q", "-D", "baton/next"]);
        assert!(!doctor(&repo).contains(GONE), "{way:?}: {}", doctor(&repo));
        let task = repo.add("Add c.txt", &[]);
        repo.work_until(&[(&task, "provisional")]);
        let output = repo.output(&["accept", &task]);
        let narrated = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!narrated.contains(GONE), "{way:?}: {narrated}");
        // And the next time is noticed again.
        repo.git(&["branch", "-q", "-D", "baton/next"]);
        assert!(doctor(&repo).contains(&task), "{way:?}: {}", doctor(&repo));
    }
}

#[test]
fn a_branch_that_was_moved_back_on_purpose_is_forgotten_by_one_command() {
    let (repo, _) = landed();
    repo.git(&["branch", "-f", "-q", "baton/next", "main"]);
    let said = doctor(&repo);
    let forget = "git update-ref -d refs/baton/landed/baton/next";
    assert!(said.contains(GONE) && said.contains(forget), "{said}");
    repo.git(&["update-ref", "-d", "refs/baton/landed/baton/next"]);
    assert!(!doctor(&repo).contains(GONE));
}
