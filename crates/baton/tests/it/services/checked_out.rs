//! A merge target that is checked out or locked delays only the task that needs it.

use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::engine::test_repo::TestRepo;
use crate::looping::fixture::LoopFixture;
use crate::wait;

const PATIENCE: Duration = Duration::from_mins(4);

/// Answers the next question of the session, which has to contain `expected`.
fn answer(fixture: &LoopFixture, session: &str, expected: &str, answer: &str) {
    let question = next_question(fixture, session, expected);
    fixture.repo.stdout(&["answer", question["id"].as_str().unwrap(), answer]);
}

fn next_question(fixture: &LoopFixture, session: &str, expected: &str) -> Value {
    let find = || fixture.questions().into_iter().find(|question| question["session_id"] == session);
    let question = wait::until_some(PATIENCE, find, || format!("{session} did not ask \"{expected}\""));
    assert!(question["text"].as_str().unwrap().contains(expected), "{question:#}");
    question
}

#[test]
fn i23_a_checked_out_branch_delays_only_its_task() {
    let fixture = LoopFixture::new();
    let up = fixture.repo.up();
    up.wait_for_line("Listening");
    for session in ["one", "two"] {
        fixture.repo.stdout(&[
            "recipe",
            "start",
            "plan-execute-review",
            "--session",
            session,
            "--message",
            "Build it",
        ]);
        answer(&fixture, session, "Ready to execute?", "YES");
        answer(&fixture, session, "Execute: First part?", "YES");
    }
    let waiting = next_question(&fixture, "one", "Done: First part?");
    let task = waiting["text"].as_str().unwrap().split("TASK-").nth(1).unwrap();
    let task = format!("TASK-{}", &task[..8]);
    fixture.repo.git(&["switch", "-q", "baton/next"]);

    answer(&fixture, "one", "Done: First part?", "YES");
    // The other loop continues while the first one cannot merge.
    answer(&fixture, "two", "Done: First part?", "NO");
    next_question(&fixture, "two", "Execute: Second part?");
    let reason = |task: &str| fixture.repo.show(task)["problem"]["error"].as_str().map(str::to_owned);
    fixture.repo.until("the task says what is in the way", || {
        reason(&task).is_some_and(|error| error.contains("baton/next is checked out"))
    });
    assert_eq!(fixture.repo.queue(&task), "provisional");
    // Accepting it by hand is refused with the same reason.
    let refused = fixture.repo.output(&["accept", &task]);
    let printed = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(4), "{printed}");
    assert!(
        printed.contains("baton/next is checked out") && printed.contains("switch --detach"),
        "{printed}"
    );

    // Work that needs no merge continues.
    let other = fixture.add("Something else");
    fixture.repo.until_queue(&other, "provisional");

    fixture.repo.git(&["switch", "-q", "main"]);
    fixture.repo.until_queue(&task, "done");
    assert_eq!(reason(&task), None);
    next_question(&fixture, "one", "Execute: Second part?");
    up.end();
}

#[test]
fn i23_a_locked_branch_is_a_refusal_that_says_what_to_do() {
    let repo = TestRepo::with_working_agent("");
    let task = repo.add("Fix it", &[]);
    repo.work_until(&[(&task, "provisional")]);
    let lock = repo.folder.join(".git/refs/heads/baton/next.lock");
    std::fs::create_dir_all(lock.parent().unwrap()).unwrap();
    std::fs::write(&lock, "").unwrap();
    // The lock counts while a git runs in the repository.
    let mut git = Command::new("git")
        .args(["cat-file", "--batch"])
        .current_dir(&repo.folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let refused = repo.output(&["accept", &task]);
    let printed = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(4), "{printed}");
    assert!(printed.contains("another git is at work"), "{printed}");
    assert_eq!(repo.queue(&task), "provisional");
    drop(git.stdin.take());
    git.wait().unwrap();
    repo.stdout(&["accept", &task]);
    assert_eq!(repo.queue(&task), "done");
}
