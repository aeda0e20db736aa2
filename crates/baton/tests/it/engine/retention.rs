//! What `baton up` prunes, and how it reports that.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use super::test_repo::TestRepo;

const DAY: Duration = Duration::from_hours(24);

fn old_log(repo: &TestRepo, number: u32, bytes: u64, age: Duration) {
    let folder = repo.state().join(format!("attempts/ATT-{number:016x}"));
    fs::create_dir_all(&folder).unwrap();
    let log = File::create(folder.join("agent.log")).unwrap();
    log.set_len(bytes).unwrap();
    let then = SystemTime::now() - age;
    log.set_modified(then).unwrap();
    File::open(&folder).unwrap().set_modified(then).unwrap();
}

fn logs(repo: &TestRepo) -> Vec<String> {
    let entries = fs::read_dir(repo.state().join("attempts")).unwrap().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn logs_above_the_limit_are_removed_oldest_first_and_reported() {
    let repo = TestRepo::with_working_agent("[retention]\nlogs_mb = 10\nlogs_days = 30");
    // 4 MiB each: the first is too old; then the two oldest are removed until 8 MiB are left.
    for (number, days) in [(1, 60), (2, 5), (3, 4), (4, 3), (5, 2)] {
        old_log(&repo, number, 4 << 20, days * DAY);
    }
    fs::create_dir_all(repo.state().join("attempts/notes of mine")).unwrap();
    let up = repo.up();
    let printed = up.wait_for_line("Removed by [retention]");
    assert!(printed.contains("the logs of 3 attempts (12 MiB)"), "{printed}");
    up.end();
    assert_eq!(logs(&repo), ["ATT-0000000000000004", "ATT-0000000000000005", "notes of mine"]);
}

#[test]
fn the_log_of_a_task_says_that_it_was_removed() {
    let repo = TestRepo::with_working_agent("");
    let task = repo.add("Anything", &[]);
    assert!(repo.stdout(&["task", "log", &task]).contains("no attempt has run yet"));
    repo.work_until(&[(&task, "provisional")]);
    assert!(repo.stdout(&["task", "log", &task]).contains("started"));
    fs::remove_dir_all(repo.state().join("attempts")).unwrap();
    assert!(repo.stdout(&["task", "log", &task]).contains("[retention] removed the logs"));
}

#[test]
fn of_a_long_log_the_beginning_and_the_end_are_kept() {
    let agent = "echo first; seq 1 400000; echo last; turns 1; work";
    let repo = TestRepo::with_agent(agent, "[retention]\nlog_mb = 1");
    let task = repo.add("Talk", &[]);
    repo.work_until(&[(&task, "provisional")]);
    let log = repo.state().join("attempts").join(repo.last_attempt(&task)).join("agent.log");
    let bytes = fs::metadata(log).unwrap().len();
    // A little more than the limit: the note about what was left out.
    assert!((900_000..(1 << 20) + 1_000).contains(&bytes), "{bytes}");
    let shown = repo.stdout(&["task", "log", &task]);
    assert!(
        shown.contains("first") && shown.contains("lines left out …") && shown.contains("last"),
        "{bytes}"
    );
    let has_line = |text: &str| shown.lines().any(|line| line.ends_with(text));
    assert!(has_line(" 399999") && !has_line(" 200000"));
}
