//! A merge target that somebody has checked out holds up the task that needs it, and nothing else.

use std::time::Duration;

use serde_json::Value;

use crate::engine::shop::Shop;
use crate::looping::round::Round;
use crate::wait;

const PATIENCE: Duration = Duration::from_mins(1);

/// Answers the next question of the session, which has to contain `expected`.
fn answer(round: &Round, session: &str, expected: &str, answer: &str) {
    let question = next_question(round, session, expected);
    round.shop.says(&["answer", question["id"].as_str().unwrap(), answer]);
}

fn next_question(round: &Round, session: &str, expected: &str) -> Value {
    let find = || round.questions().into_iter().find(|question| question["session_id"] == session);
    let question = wait::until_some(PATIENCE, find, || format!("{session} did not ask \"{expected}\""));
    assert!(question["text"].as_str().unwrap().contains(expected), "{question:#}");
    question
}

#[test]
fn i23_a_checked_out_branch_holds_up_its_task_and_nothing_else() {
    let round = Round::new();
    let up = round.shop.up();
    up.hears("Listening");
    for session in ["one", "two"] {
        round.shop.says(&[
            "recipe",
            "start",
            "plan-execute-review",
            "--session",
            session,
            "--message",
            "Build it",
        ]);
        answer(&round, session, "Ready to execute?", "YES");
        answer(&round, session, "Execute: First part?", "YES");
    }
    let waiting = next_question(&round, "one", "Done: First part?");
    let task = waiting["text"].as_str().unwrap().split("TASK-").nth(1).unwrap();
    let task = format!("TASK-{}", &task[..8]);
    round.shop.git(&["switch", "-q", "baton/next"]);

    answer(&round, "one", "Done: First part?", "YES");
    // The other loop goes on while the first one cannot merge.
    answer(&round, "two", "Done: First part?", "NO");
    next_question(&round, "two", "Execute: Second part?");
    let reason = |task: &str| round.shop.show(task)["problem"]["error"].as_str().map(str::to_owned);
    round.shop.until("the task says what is in the way", || {
        reason(&task).is_some_and(|error| error.contains("baton/next is checked out"))
    });
    assert_eq!(round.shop.queue(&task), "provisional");
    // Whoever accepts it by hand is told the same, as a refusal.
    let refused = round.shop.output(&["accept", &task]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(4), "{said}");
    assert!(said.contains("baton/next is checked out") && said.contains("switch --detach"), "{said}");

    // Nothing else stands still: work that needs no merge is done as ever.
    let other = round.add("Something else");
    round.shop.until_queue(&other, "provisional");

    round.shop.git(&["switch", "-q", "main"]);
    round.shop.until_queue(&task, "done");
    assert_eq!(reason(&task), None);
    next_question(&round, "one", "Execute: Second part?");
    up.end();
}

#[test]
fn i23_a_locked_branch_is_a_refusal_that_says_what_to_do() {
    let shop = Shop::diligent("");
    let task = shop.add("Fix it", &[]);
    shop.work_until(&[(&task, "provisional")]);
    let lock = shop.folder.join(".git/refs/heads/baton/next.lock");
    std::fs::create_dir_all(lock.parent().unwrap()).unwrap();
    std::fs::write(&lock, "").unwrap();
    let refused = shop.output(&["accept", &task]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(4), "{said}");
    assert!(said.contains("another git is at work"), "{said}");
    assert_eq!(shop.queue(&task), "provisional");
    std::fs::remove_file(lock).unwrap();
    shop.says(&["accept", &task]);
    assert_eq!(shop.queue(&task), "done");
}
