//! Questions through the real binary: they survive kills, and each is answered once.

mod answering;
mod notices;
mod refusing;
mod stopping;
mod surviving;

use serde_json::{Value, json};

use crate::engine::test_repo::TestRepo;

/// Asks in its first attempt and reports the answer in the next.
fn asks_then_reports(question: &str) -> Value {
    json!({ "scripts": [
        { "resumed": false, "steps": [{ "ask": { "question": question } }] },
        { "resumed": true, "steps": [
            { "read_answer": "The answer (" },
            { "result": { "status": "COMPLETE", "output": "{{task}} got {{answer}}." } },
        ] },
    ], "otherwise": [] })
}

fn add(repo: &TestRepo, title: &str) -> String {
    repo.json(&["task", "add", title, "--type", "READ_INFO"])["task_id"].as_str().unwrap().to_owned()
}

fn questions(repo: &TestRepo) -> Vec<Value> {
    repo.json(&["questions"])["questions"].as_array().unwrap().clone()
}
