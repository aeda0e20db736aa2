//! Answers that were laid down before, that come too late, and that are waited for.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};

use super::{add, asks_then_tells, questions};
use crate::engine::shop::Shop;

#[test]
fn an_answer_laid_down_before_is_given_once_and_recorded() {
    let shop = Shop::scripted(&asks_then_tells("Which port?"), "");
    let first = add(&shop, "One");
    let second = add(&shop, "Two");
    shop.json(&["answer", "--queue", "8080", "--task", &second]);
    let up = shop.up();
    shop.until_queue(&second, "done");
    shop.until("the first question", || questions(&shop).len() == 1);
    up.end();
    assert_eq!(shop.show(&second)["output"], format!("{second} heard 8080."));
    assert_eq!(questions(&shop)[0]["task_id"], first);
    // Laid down while the question waits, it is given at once.
    let queued = shop.json(&["answer", "--queue", "9090"]);
    assert_eq!(queued["queued"], json!([]));
    assert!(questions(&shop).is_empty());
}

#[test]
fn a_question_that_expires_without_a_default_ends_its_work() {
    let shop = Shop::scripted(&asks_then_tells("Which port?"), "[asking]\nexpires_after = 1\n");
    let task = add(&shop, "Ask");
    let up = shop.up();
    shop.until("the question", || !questions(&shop).is_empty() || shop.queue(&task) == "failed");
    up.kill();
    // The timer survives the kill.
    let up = shop.up();
    shop.until_queue(&task, "failed");
    up.end();
    assert!(questions(&shop).is_empty());
}

#[test]
fn whoever_follows_the_inbox_sees_a_question_when_it_comes() {
    let shop = Shop::scripted(&asks_then_tells("Which port?"), "");
    let mut following =
        shop.baton(&["--json", "questions", "--follow"]).stdout(Stdio::piped()).spawn().unwrap();
    let task = add(&shop, "Ask");
    let up = shop.up();
    let line = BufReader::new(following.stdout.take().unwrap()).lines().next().unwrap().unwrap();
    let question: Value = serde_json::from_str(&line).unwrap();
    assert_eq!((&question["task_id"], &question["state"]), (&json!(task), &json!("pending")));
    following.kill().unwrap();
    following.wait().unwrap();
    up.end();
}
