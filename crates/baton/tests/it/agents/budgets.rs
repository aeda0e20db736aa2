//! Budgets: what is used up is a question or a hold, never silent, and never the task's fault.

use serde_json::{Value, json};

use super::fake::{self, outcome, turns};
use crate::engine::shop::Shop;

fn pending(shop: &Shop) -> Value {
    shop.json(&["questions"])["questions"][0].clone()
}

fn until_asked(shop: &Shop, about: &str) -> String {
    let mut found = Value::Null;
    shop.until(about, || {
        found = pending(shop);
        found["text"].as_str().is_some_and(|text| text.contains(about))
    });
    found["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_task_that_used_up_its_turns_asks_and_a_yes_grants_as_much_again() {
    // Each attempt goes on after its commit until its limit; four turns are used up by the second.
    let part = json!([{ "commit": "a part" }, { "calls": 9 }]);
    let done = json!([{ "commit": "the rest" }, outcome("complete")]);
    let script = turns(json!([part, part, done]));
    let shop = fake::shop(&script, "max_turns = 3", "[budgets.task]\nturns = 4\n");
    let task = shop.add("Something", &[]);
    let up = shop.up();
    let question = until_asked(&shop, "of 4 turns");
    shop.until("it waits", || shop.status(&task) == "AWAITING_RESPONSE");
    let used: u64 = shop
        .attempts(&task)
        .iter()
        .map(|one| one["closing"]["end"]["verified"]["turns"].as_u64().unwrap())
        .sum();
    assert_eq!(used, 4, "the budget bounds what the last attempt may use");
    shop.says(&["answer", &question, "YES"]);
    shop.until_queue(&task, "provisional");
    up.end();
}

#[test]
fn a_no_ends_the_task_and_says_why() {
    let script = turns(json!([[{ "commit": "a part" }, { "calls": 9 }]]));
    let shop = fake::shop(&script, "", "[budgets.task]\nturns = 2\n");
    let task = shop.add("Something", &[]);
    let up = shop.up();
    let question = until_asked(&shop, "of 2 turns");
    shop.says(&["answer", &question, "NO"]);
    shop.until_queue(&task, "failed");
    up.end();
    assert!(shop.says(&["task", "show", &task]).contains("its budget is used up"));
}

#[test]
fn turns_without_anything_new_are_a_question_while_the_agent_is_at_it() {
    let script = turns(json!([[{ "calls": 40 }, "hang"]]));
    let shop = fake::shop(&script, "", "[budgets.task]\nidle_turns = 5\n");
    let task = shop.add("Something", &[]);
    let up = shop.up();
    until_asked(&shop, "without a new commit");
    up.end();
    assert_eq!(shop.status(&task), "AWAITING_RESPONSE");
}

#[test]
fn a_day_that_used_up_its_money_holds_every_agent_until_tomorrow() {
    let script = turns(json!([[{ "cost": 1.5 }, { "commit": "done" }, outcome("complete")]]));
    let shop = fake::shop(&script, "", "max_agents = 1\n[budgets.day]\nusd = 1\n");
    let first = shop.add("First", &[]);
    let second = shop.add("Second", &[]);
    let up = shop.up();
    shop.until_queue(&first, "provisional");
    shop.until("a hold", || shop.json(&["hold", "list"])["holds"][0]["why"] == "budget");
    assert_eq!(shop.queue(&second), "incoming");
    let listed = shop.says(&["hold", "list"]);
    assert!(listed.contains("1.50 of 1.00 dollars"), "{listed}");
    // A person who lets it go on means it for the rest of the day.
    shop.says(&["hold", "release", "fake"]);
    shop.until_queue(&second, "provisional");
    up.end();
    assert_eq!(shop.json(&["hold", "list"])["holds"], json!([]));
}

#[test]
fn what_a_breakdown_used_is_on_the_days_account_too() {
    let plan = json!({ "mcp": { "tool": "submit_breakdown", "arguments": { "items": [{ "title": "The only part" }] } } });
    let script = json!({ "mcp": true, "turns": [[{ "calls": 9 }]], "turns_of_later_sessions": [[[{ "cost": 1.5 }, plan]]] });
    let shop = fake::shop(&script, "max_turns = 3", "[budgets.day]\nusd = 1\n");
    let task = shop.add("Too large", &[]);
    shop.work_until(&[(&task, "recycled")]);
    assert_eq!(shop.json(&["hold", "list"])["holds"], json!([]), "its own attempts cost nothing");
    let breakdown =
        shop.json(&["breakdown", "list"])["breakdowns"][0]["task_id"].as_str().unwrap().to_owned();
    shop.says(&["breakdown", "run", &breakdown]);
    let up = shop.up();
    shop.until_queue(&breakdown, "provisional");
    shop.until("a hold", || shop.json(&["hold", "list"])["holds"][0]["why"] == "budget");
    up.end();
    assert!(shop.says(&["hold", "list"]).contains("1.50 of 1.00 dollars"));
}
