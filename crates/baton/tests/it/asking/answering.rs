//! Queued answers, expired questions, and following the inbox.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};

use super::{add, asks_then_reports, questions};
use crate::engine::test_repo::TestRepo;

#[test]
fn a_queued_answer_is_given_once() {
    let repo = TestRepo::scripted(&asks_then_reports("Which port?"), "");
    let first = add(&repo, "One");
    let second = add(&repo, "Two");
    repo.json(&["answer", "--queue", "8080", "--task", &second]);
    let up = repo.up();
    repo.until_queue(&second, "done");
    repo.until("the first question", || questions(&repo).len() == 1);
    up.end();
    assert_eq!(repo.show(&second)["output"], format!("{second} got 8080."));
    assert_eq!(questions(&repo)[0]["task_id"], first);
    // An answer that is queued while a question is pending is given at once.
    let queued = repo.json(&["answer", "--queue", "9090"]);
    assert_eq!(queued["queued"], json!([]));
    assert!(questions(&repo).is_empty());
}

#[test]
fn a_question_that_expires_without_a_default_ends_its_work() {
    let repo = TestRepo::scripted(&asks_then_reports("Which port?"), "[asking]\nexpires_after = 1\n");
    let task = add(&repo, "Ask");
    let up = repo.up();
    repo.until("the question", || !questions(&repo).is_empty() || repo.queue(&task) == "failed");
    up.kill();
    // The timer survives the kill.
    let up = repo.up();
    repo.until_queue(&task, "failed");
    up.end();
    assert!(questions(&repo).is_empty());
}

#[test]
fn following_the_inbox_prints_new_questions() {
    let repo = TestRepo::scripted(&asks_then_reports("Which port?"), "");
    let mut following =
        repo.baton(&["--json", "questions", "--follow"]).stdout(Stdio::piped()).spawn().unwrap();
    let task = add(&repo, "Ask");
    let up = repo.up();
    let line = BufReader::new(following.stdout.take().unwrap()).lines().next().unwrap().unwrap();
    let question: Value = serde_json::from_str(&line).unwrap();
    assert_eq!((&question["task_id"], &question["state"]), (&json!(task), &json!("pending")));
    following.kill().unwrap();
    following.wait().unwrap();
    up.end();
}
