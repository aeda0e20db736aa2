//! Nobody is blamed for what others did, or for what checks leave behind.

use super::{adding_agent, events, own_history, set_settings};
use crate::engine::test_repo::TestRepo;

/// Replaces the check of [`adding_agent`].
fn set_check(repo: &TestRepo, from: &str, to: &str) {
    let file = repo.folder.join(".agent/baton.toml");
    let settings = std::fs::read_to_string(&file).unwrap();
    let (from, to) = (format!("'''{from}'''"), format!("'''{to}'''"));
    assert!(settings.contains(&from), "{settings}");
    set_settings(repo, &settings.replace(&from, &to));
}

#[test]
fn what_checks_write_is_not_the_work_of_an_agent() {
    let repo = adding_agent(
        "echo report > report.xml; echo junk >> README.md; mkdir -p new; echo x > new/x",
        "exit 1",
    );
    let task = repo.add("Add a.txt", &[]);
    let up = repo.up();
    repo.until_queue(&task, "provisional");
    repo.set_agent("echo more > more.txt; git add more.txt; git commit -q -m More");
    repo.stdout(&["reject", &task, "--reason", "More."]);
    repo.until("a second attempt", || repo.attempts(&task).len() == 2);
    repo.until_queue(&task, "provisional");
    up.end();
    let files = repo.git(&["diff", "--name-only", "main", &format!("baton/{task}")]);
    assert_eq!(files.lines().collect::<Vec<_>>(), ["a.txt", "more.txt"]);
}

#[test]
fn a_check_that_fails_once_at_the_end_of_an_attempt_blames_nobody() {
    let repo = adding_agent("true", "exit 1");
    let seen = repo.home.join("seen");
    set_check(&repo, "true", &format!("test -e {0} || {{ touch {0}; exit 1; }}", seen.display()));
    let task = repo.add("Add a.txt", &[]);
    repo.work_until(&[(&task, "provisional")]);
    assert!(seen.exists());
    assert_eq!(repo.attempts(&task).len(), 1);
}

#[test]
fn the_branch_is_looked_at_again_before_a_task_is_blamed() {
    let repo = adding_agent("true", "exit 1");
    let red = repo.home.join("red");
    // Only in a lane, where no attempt is at work.
    set_check(
        &repo,
        "true",
        &format!("case \"$PWD\" in *worktrees*) exit 0 ;; esac; ! test -e {}", red.display()),
    );
    let (first, second) = (repo.add("Add a.txt", &[]), repo.add("Add b.txt", &[]));
    repo.work_until(&[(&first, "provisional"), (&second, "provisional")]);
    repo.stdout(&["accept", &first]);
    std::fs::write(&red, "").unwrap();
    let printed = repo.stdout(&["accept", &second]);
    assert!(printed.contains(&format!("{second}  waiting: baton/next itself fails its checks")), "{printed}");
    let note = repo.show(&second)["notes"][0].clone();
    assert_eq!(note["reason"]["why"], "branch_fails", "{note:#}");
    assert_eq!(repo.queue(&second), "landing", "it keeps its place");
    std::fs::remove_file(&red).unwrap();
    repo.stdout(&["accept", &second]);
    assert_eq!(own_history(&repo).len(), 2);
}

#[test]
fn a_commit_that_somebody_put_on_the_branch_of_a_task_stays() {
    let repo = adding_agent("true", "ls > seen; git add seen; git commit -q -m Look");
    let task = repo.add("Add a.txt", &[]);
    repo.work_until(&[(&task, "provisional")]);
    let branch = format!("baton/{task}");
    repo.git(&["checkout", "-q", &branch]);
    std::fs::write(repo.folder.join("mine"), "mine\n").unwrap();
    repo.git(&["add", "mine"]);
    repo.git(&["commit", "-q", "-m", "Mine"]);
    repo.git(&["checkout", "-q", "main"]);
    assert_eq!(repo.output(&["accept", &task]).status.code(), Some(1));
    repo.work_until(&[(&task, "provisional")]);
    assert!(repo.git(&["show", &format!("{branch}:seen")]).contains("mine"));
    repo.stdout(&["accept", &task]);
    assert!(repo.git(&["ls-tree", "--name-only", "baton/next"]).contains("mine"));
}

#[test]
fn commits_that_change_nothing_wait_for_a_person() {
    let repo = adding_agent("true", "exit 1");
    repo.set_agent("git commit -q --allow-empty -m Nothing; echo Done.");
    let added = repo.json(&["task", "add", "Do nothing", "--accept-when", "green"]);
    let task = added["task_id"].as_str().unwrap().to_owned();
    let up = repo.up();
    repo.until_queue(&task, "provisional");
    // Long enough for a policy to look at it: another task has landed meanwhile.
    repo.set_agent("work");
    let other = repo.json(&["task", "add", "Work", "--accept-when", "green"]);
    repo.until_queue(other["task_id"].as_str().unwrap(), "done");
    up.end();
    let view = repo.show(&task);
    assert_eq!(view["queue"], "provisional");
    assert!(view["needs_review"].to_string().contains("change no file"), "{view:#}");
    assert!(!events(&repo, &task).iter().any(|event| event["event"] == "task_landing"));
}
