//! Batches that wait behind another are checked beside it, where there is room.

use super::{adding_agent, assert_green, own_history, set_settings};

#[test]
fn i18_a_second_batch_is_checked_while_the_first_one_is() {
    let repo = adding_agent("true", "exit 1");
    let tasks: Vec<String> = (1..=18).map(|n| repo.add(&format!("Add file-{n}"), &[])).collect();
    let up = repo.up_with(&["--agents", "2"]);
    for task in &tasks {
        repo.until_queue(task, "provisional");
    }
    up.end();
    // Passes when two of its kind are at work, and never before.
    let begun = repo.home.join("begun");
    let check = format!(
        "echo >> {0}; until test $(wc -l < {0}) -ge 2; do sleep 0.1; done; ls file-*",
        begun.display()
    );
    let file = repo.folder.join(".agent/baton.toml");
    let settings = std::fs::read_to_string(&file).unwrap().replace("'''true'''", &format!("'''{check}'''"));
    set_settings(&repo, &format!("checks_at_once = 2\n{settings}"));

    let ids: Vec<&str> = tasks.iter().map(String::as_str).collect();
    repo.stdout(&[&["accept"], &ids[..]].concat());
    for task in &tasks {
        assert_eq!(repo.queue(task), "done");
    }
    assert_eq!(own_history(&repo).len(), 2, "sixteen together, then two");
    assert_eq!(std::fs::read_to_string(&begun).unwrap().lines().count(), 2, "each batch was checked once");
    assert_green(&repo, "ls file-1");
}

/// Only in a lane: at the end of an attempt the check passes at once.
fn in_lane(repo: &crate::engine::test_repo::TestRepo, check: &str) {
    let file = repo.folder.join(".agent/baton.toml");
    let check = format!("'''case \"$PWD\" in *worktrees*) exit 0 ;; esac; {check}'''");
    let settings = std::fs::read_to_string(&file).unwrap().replace("'''true'''", &check);
    set_settings(repo, &format!("checks_at_once = 2\n{settings}"));
}

#[test]
fn what_comes_in_while_another_is_checked_is_checked_beside_it() {
    let repo = adding_agent("true", "exit 1");
    let begun = repo.home.join("begun");
    in_lane(
        &repo,
        &format!("echo >> {0}; until test $(wc -l < {0}) -ge 2; do sleep 0.1; done", begun.display()),
    );
    let (first, second) = (repo.add("Add a.txt", &[]), repo.add("Add b.txt", &[]));
    let up = repo.up();
    repo.until_queue(&first, "provisional");
    repo.until_queue(&second, "provisional");
    repo.stdout(&["accept", &first, "--no-wait"]);
    repo.until("its check runs", || begun.exists());
    repo.stdout(&["accept", &second, "--no-wait"]);
    repo.until_queue(&first, "done");
    repo.until_queue(&second, "done");
    up.end();
    assert_eq!(own_history(&repo).len(), 2);
}

#[test]
fn the_check_of_work_that_is_taken_back_ends() {
    let repo = adding_agent("true", "exit 1");
    let begun = repo.home.join("begun");
    in_lane(&repo, &format!("if test -e a.txt; then touch {}; exec tail -f /dev/null; fi", begun.display()));
    let (first, second) = (repo.add("Add a.txt", &[]), repo.add("Add b.txt", &[]));
    let up = repo.up();
    repo.until_queue(&first, "provisional");
    repo.until_queue(&second, "provisional");
    repo.set_agent("hang");
    repo.stdout(&["accept", &first, "--no-wait"]);
    repo.until("its check runs", || begun.exists());
    repo.stdout(&["accept", &second, "--no-wait"]);
    repo.stdout(&["reject", &first, "--reason", "Not like this."]);
    repo.until_queue(&second, "done");
    up.end();
    assert!(!repo.git(&["ls-tree", "--name-only", "baton/next"]).contains("a.txt"));
}

#[test]
fn the_commit_that_lands_is_the_one_that_was_checked() {
    let repo = adding_agent("true", "exit 1");
    let heads = repo.home.join("heads");
    // It takes longer than the resolution of a commit's date.
    in_lane(&repo, &format!("git rev-parse HEAD >> {}; sleep 1.1", heads.display()));
    let task = repo.add("Add a.txt", &[]);
    repo.work_until(&[(&task, "provisional")]);
    repo.stdout(&["accept", &task]);
    let checked = std::fs::read_to_string(&heads).unwrap();
    let landed = repo.git(&["rev-parse", "baton/next"]);
    assert!(checked.lines().any(|head| head == landed.trim()), "{landed} is not among {checked}");
}
