//! A used-up budget becomes a question or a hold and never fails the task silently.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::fake::{self, outcome, turns};
use crate::engine::test_repo::TestRepo;
use crate::wait;

fn pending(repo: &TestRepo) -> Value {
    repo.json(&["questions"])["questions"][0].clone()
}

fn until_asked(repo: &TestRepo, about: &str) -> String {
    let mut found = Value::Null;
    repo.until(about, || {
        found = pending(repo);
        found["text"].as_str().is_some_and(|text| text.contains(about))
    });
    found["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_task_that_used_up_its_turns_asks_and_a_yes_grants_as_much_again() {
    // Each attempt continues after its commit up to its limit; the second one uses up the four turns.
    let part = json!([{ "commit": "a part" }, { "calls": 9 }]);
    let done = json!([{ "commit": "the rest" }, outcome("complete")]);
    let script = turns(json!([part, part, done]));
    let repo = fake::repo(&script, "max_turns = 3", "[budgets.task]\nturns = 4\n");
    let task = repo.add("Something", &[]);
    let up = repo.up();
    let question = until_asked(&repo, "of 4 turns");
    repo.until("it waits", || repo.status(&task) == "AWAITING_RESPONSE");
    let used: u64 = repo
        .attempts(&task)
        .iter()
        .map(|one| one["closing"]["end"]["verified"]["turns"].as_u64().unwrap())
        .sum();
    assert_eq!(used, 4, "the budget bounds what the last attempt may use");
    repo.stdout(&["answer", &question, "YES"]);
    repo.until_queue(&task, "provisional");
    up.end();
}

#[test]
fn answering_no_fails_the_task_with_the_reason() {
    let script = turns(json!([[{ "commit": "a part" }, { "calls": 9 }]]));
    let repo = fake::repo(&script, "", "[budgets.task]\nturns = 2\n");
    let task = repo.add("Something", &[]);
    let up = repo.up();
    let question = until_asked(&repo, "of 2 turns");
    repo.stdout(&["answer", &question, "NO"]);
    repo.until_queue(&task, "failed");
    up.end();
    assert!(repo.stdout(&["task", "show", &task]).contains("its budget is used up"));
}

#[test]
fn turns_without_progress_become_a_question_while_the_agent_runs() {
    let script = turns(json!([[{ "calls": 40 }, "hang"]]));
    let repo = fake::repo(&script, "", "[budgets.task]\nidle_turns = 5\n");
    let task = repo.add("Something", &[]);
    let up = repo.up();
    until_asked(&repo, "without a new commit");
    up.end();
    assert_eq!(repo.status(&task), "AWAITING_RESPONSE");
}

/// Waits out the end of a day: a test that begins on one and ends on the next spends on both.
fn until_day_is_long_enough() {
    let left = || {
        let day = 24 * 60 * 60;
        day - SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() % day
    };
    wait::until(Duration::from_mins(6), || left() > 5 * 60, || format!("the day ends in {} s", left()));
}

#[test]
fn a_used_up_daily_budget_holds_every_agent_until_tomorrow() {
    until_day_is_long_enough();
    let script = turns(json!([[{ "cost": 1.5 }, { "commit": "done" }, outcome("complete")]]));
    let repo = fake::repo(&script, "", "max_agents = 1\n[budgets.day]\nusd = 1\n");
    let first = repo.add("First", &[]);
    let second = repo.add("Second", &[]);
    let up = repo.up();
    repo.until_queue(&first, "provisional");
    repo.until("a hold", || repo.json(&["hold", "list"])["holds"][0]["why"] == "budget");
    assert_eq!(repo.queue(&second), "incoming");
    let listed = repo.stdout(&["hold", "list"]);
    assert!(listed.contains("1.50 of 1.00 dollars"), "{listed}");
    // A release is valid for the rest of the day.
    repo.stdout(&["hold", "release", "fake"]);
    repo.until_queue(&second, "provisional");
    up.end();
    assert_eq!(repo.json(&["hold", "list"])["holds"], json!([]));
}

#[test]
fn the_daily_budget_includes_breakdowns() {
    until_day_is_long_enough();
    let plan = json!({ "mcp": { "tool": "submit_breakdown", "arguments": { "items": [{ "title": "The only part" }] } } });
    let script = json!({ "mcp": true, "turns": [[{ "calls": 9 }]], "turns_of_later_sessions": [[[{ "cost": 1.5 }, plan]]] });
    let repo = fake::repo(&script, "max_turns = 3", "[budgets.day]\nusd = 1\n[recycle]\nplan = \"person\"\n");
    let task = repo.add("Too large", &[]);
    repo.work_until(&[(&task, "recycled")]);
    assert_eq!(repo.json(&["hold", "list"])["holds"], json!([]), "its own attempts cost nothing");
    let breakdown =
        repo.json(&["breakdown", "list"])["breakdowns"][0]["task_id"].as_str().unwrap().to_owned();
    repo.stdout(&["breakdown", "run", &breakdown]);
    let up = repo.up();
    repo.until_queue(&breakdown, "provisional");
    repo.until("a hold", || repo.json(&["hold", "list"])["holds"][0]["why"] == "budget");
    up.end();
    assert!(repo.stdout(&["hold", "list"]).contains("1.50 of 1.00 dollars"));
}
