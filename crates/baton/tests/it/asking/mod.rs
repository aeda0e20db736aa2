//! Questions through the real binary: they outlive everything, and each is answered once.

mod answering;
mod notices;
mod refusing;
mod surviving;

use serde_json::{Value, json};

use crate::engine::shop::Shop;

/// Asks on the first attempt, and says the answer back on the next.
fn asks_then_tells(question: &str) -> Value {
    json!({ "scripts": [
        { "resumed": false, "steps": [{ "ask": { "question": question } }] },
        { "resumed": true, "steps": [
            { "read_answer": "The answer (" },
            { "result": { "status": "COMPLETE", "output": "{{task}} heard {{answer}}." } },
        ] },
    ], "otherwise": [] })
}

fn add(shop: &Shop, title: &str) -> String {
    shop.json(&["task", "add", title, "--type", "READ_INFO"])["task_id"].as_str().unwrap().to_owned()
}

fn questions(shop: &Shop) -> Vec<Value> {
    shop.json(&["questions"])["questions"].as_array().unwrap().clone()
}
