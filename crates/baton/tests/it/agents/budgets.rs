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
fn answering_no_holds_the_task_until_it_is_released() {
    let part = json!([{ "commit": "a part" }, { "calls": 9 }]);
    let done = json!([{ "commit": "the rest" }, outcome("complete")]);
    let repo = fake::repo(&turns(json!([part, done])), "", "[budgets.task]\nturns = 2\n");
    let task = repo.add("Something", &[]);
    let up = repo.up();
    let question = until_asked(&repo, "of 2 turns");
    repo.until("it waits", || repo.status(&task) == "AWAITING_RESPONSE");
    repo.stdout(&["answer", &question, "NO"]);
    assert_eq!(repo.show(&task)["held_because"], "stopped by you");
    assert_eq!(repo.attempts(&task).len(), 1);
    // Released, it asks again, because nothing is left of its budget.
    repo.stdout(&["task", "release", &task]);
    let again = until_asked(&repo, "of 2 turns");
    assert_ne!(again, question);
    repo.until("it waits again", || repo.status(&task) == "AWAITING_RESPONSE");
    repo.stdout(&["answer", &again, "YES"]);
    repo.until_queue(&task, "provisional");
    up.end();
}

/// Ends only when it is stopped: without a limit on the running attempt the test would wait for ever.
fn stopped_by(budget: &str) {
    let first = json!([{ "commit": "a part" }, { "cost": 1.25 }, "hang"]);
    let done = json!([{ "commit": "the rest" }, outcome("complete")]);
    let repo = fake::repo(&turns(json!([first, done])), "", budget);
    let project = repo.json(&["project", "create"])["project_id"].as_str().unwrap().to_owned();
    let added = repo.json(&["task", "add", "Something", "--project", &project]);
    let task = added["task_id"].as_str().unwrap().to_owned();
    let up = repo.up();
    let question = until_asked(&repo, "1.25 of 1.00 dollars");
    repo.until("it waits", || repo.status(&task) == "AWAITING_RESPONSE");
    repo.stdout(&["answer", &question, "YES"]);
    repo.until_queue(&task, "provisional");
    up.end();
    let sessions = fake::sessions(&repo);
    assert_eq!(sessions.len(), 1, "it goes on in the same session");
    assert_eq!(fake::prompts(&sessions[0]).len(), 2);
}

#[test]
fn a_running_attempt_stops_when_its_money_is_used_up() {
    stopped_by("[budgets.task]\nusd = 1\n");
}

#[test]
fn a_running_attempt_stops_when_the_money_of_its_project_is_used_up() {
    stopped_by("[budgets.project]\nusd = 1\n");
}

#[test]
fn a_command_agent_stops_when_its_tokens_are_used_up() {
    let script =
        "echo '{\"baton\":\"usage\",\"input_tokens\":90,\"output_tokens\":20}'; exec tail -f /dev/null";
    let repo = TestRepo::with_agent(script, "[budgets.task]\ntokens = 100\n");
    let task = repo.add("Something", &[]);
    let up = repo.up();
    until_asked(&repo, "110 of 100 tokens");
    repo.until("it waits", || repo.status(&task) == "AWAITING_RESPONSE");
    up.end();
}

#[test]
fn what_a_resumed_session_cost_before_is_counted_once() {
    // Agents report the cost of their whole session: 0.60 in all, of which 0.40 before the question.
    let ask = json!({ "mcp": { "tool": "ask_user", "arguments": { "question": "Which port?" } } });
    let done = json!([{ "cost": 0.6 }, { "commit": "done" }, outcome("complete")]);
    let script = turns(json!([[{ "cost": 0.4 }, ask], done]));
    let repo = fake::repo(&script, "", "[asking]\npatience = 0\n[budgets.task]\nusd = 0.8\n");
    let task = repo.add("Something", &[]);
    let up = repo.up();
    let question = until_asked(&repo, "Which port?");
    repo.until("it waits", || repo.status(&task) == "AWAITING_RESPONSE");
    repo.stdout(&["answer", &question, "80"]);
    repo.until_queue(&task, "provisional");
    up.end();
    let costs: Vec<u64> = repo
        .attempts(&task)
        .iter()
        .map(|one| one["closing"]["end"]["verified"]["cost_micro_usd"].as_u64().unwrap())
        .collect();
    assert_eq!(costs, [400_000, 200_000]);
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
    // The attempt that uses it up is stopped, and goes back to the queue without blame.
    let first = json!([{ "commit": "a part" }, { "cost": 1.5 }, "hang"]);
    let done = json!([{ "commit": "the rest" }, { "cost": 1.75 }, outcome("complete")]);
    let script = json!({ "mcp": true, "turns": [first, done], "turns_of_later_sessions": [[done]] });
    let repo = fake::repo(&script, "", "max_agents = 1\n[budgets.day]\nusd = 1\n");
    let first = repo.add("First", &[]);
    let second = repo.add("Second", &[]);
    let up = repo.up();
    repo.until("a hold", || repo.json(&["hold", "list"])["holds"][0]["why"] == "budget");
    repo.until_queue(&first, "incoming");
    assert_eq!(repo.queue(&second), "incoming");
    let listed = repo.stdout(&["hold", "list"]);
    assert!(listed.contains("1.50 of 1.00 dollars"), "{listed}");
    // A release is valid for the rest of the day.
    repo.stdout(&["hold", "release", "fake"]);
    repo.until_queue(&first, "provisional");
    repo.until_queue(&second, "provisional");
    up.end();
    assert_eq!(repo.json(&["hold", "list"])["holds"], json!([]));
}

#[test]
fn the_daily_budget_includes_breakdowns() {
    until_day_is_long_enough();
    let plan = json!({ "mcp": { "tool": "submit_breakdown", "arguments": { "items": [{ "title": "The only part" }] } } });
    let script = json!({ "mcp": true, "turns": [[{ "calls": 9 }]], "turns_of_later_sessions": [[[plan, { "usage": { "inputTokens": 90, "outputTokens": 20 } }]]] });
    let repo =
        fake::repo(&script, "max_turns = 3", "[budgets.day]\ntokens = 100\n[recycle]\nplan = \"person\"\n");
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
    assert!(repo.stdout(&["hold", "list"]).contains("110 of 100 tokens"));
}
