//! A failure of the provider's holds the account and not the task: it resumes by itself, survives a kill of Baton, and
//! a person can end it.

use serde_json::{Value, json};

use super::fake::{self, outcome, prompts, sessions, turns};
use crate::engine::shop::Shop;

fn fails(message: &str) -> Value {
    json!({ "error": { "code": -32603, "message": message } })
}

fn holds(shop: &Shop) -> Vec<Value> {
    shop.json(&["hold", "list"])["holds"].as_array().unwrap().clone()
}

fn until_held(shop: &Shop) -> Value {
    let mut found = None;
    shop.until("a hold", || {
        found = holds(shop).pop();
        found.is_some()
    });
    found.unwrap()
}

#[test]
fn a_limit_holds_everything_on_the_agent_and_goes_on_by_itself() {
    let script = turns(
        json!([[fails("429 Too Many Requests: rate limit, try again in 4s")], [{ "commit": "done" }, outcome("complete")]]),
    );
    let shop = fake::shop(&script, "", "max_agents = 1\n");
    let first = shop.add("First", &[]);
    let second = shop.add("Second", &[]);
    let up = shop.up();
    let hold = until_held(&shop);
    assert_eq!((&hold["agent"], &hold["why"]), (&json!("fake"), &json!("rate_limit")));
    assert!(hold["until"].is_string(), "{hold}");
    assert_eq!(shop.queue(&second), "incoming", "nothing is started on a held account");
    let health = shop.says(&["task", "list"]);
    assert!(!health.is_empty());
    shop.until_queue(&first, "provisional");
    shop.until_queue(&second, "provisional");
    up.end();
    assert_eq!(holds(&shop), [] as [Value; 0]);
    // Its own session, where the limit met it, goes on; and nobody is blamed.
    assert_eq!(shop.attempts(&first).len(), 2);
    let end = &shop.attempts(&first)[0]["closing"]["end"]["reported"];
    assert_eq!((&end["result"], &end["cause"]), (&json!("ERROR"), &json!("systemic")));
    let of_first = &sessions(&shop)[0];
    assert_eq!(prompts(of_first).len(), 2, "{of_first:#?}");
}

#[test]
fn a_hold_that_waits_for_a_person_survives_a_kill_and_ends_when_they_say_so() {
    let script = turns(
        json!([[fails("401 Unauthorized: invalid api key")], [{ "commit": "done" }, outcome("complete")]]),
    );
    let shop = fake::shop(&script, "", "");
    let task = shop.add("Something", &[]);
    let up = shop.up();
    let hold = until_held(&shop);
    assert_eq!((&hold["why"], &hold["until"]), (&json!("authentication"), &Value::Null));
    up.kill();
    let up = shop.up();
    assert_eq!(holds(&shop).len(), 1);
    let listed = shop.says(&["hold", "list"]);
    assert!(
        listed.contains("fake (authentication)") && listed.contains("baton hold release fake"),
        "{listed}"
    );
    shop.until_queue(&task, "incoming");
    assert_eq!(shop.says(&["hold", "release", "fake"]), "Released fake.\n");
    shop.until_queue(&task, "provisional");
    up.end();
    let output = shop.output(&["hold", "release", "fake"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("there is no hold on fake"), "{output:?}");
}

#[test]
fn a_conversation_that_became_too_long_goes_on_in_a_new_session() {
    let mut script = turns(json!([[fails("prompt is too long: 210000 tokens > 200000 maximum")]]));
    script["turns_of_later_sessions"] = json!([[[{ "commit": "done" }, outcome("complete")]]]);
    let shop = fake::shop(&script, "", "");
    let task = shop.add("Paint it green", &[]);
    let up = shop.up();
    shop.until_queue(&task, "provisional");
    up.end();
    assert_eq!(holds(&shop), [] as [Value; 0]);
    let sessions = sessions(&shop);
    assert_eq!(sessions.len(), 2, "{sessions:#?}");
    let told = prompts(sessions.last().unwrap());
    assert!(told[0].contains("Where you are"), "a new session is told everything: {}", told[0]);
    assert_eq!(shop.attempts(&task)[0]["attempt"]["agent_session"]["is_full"], true);
}
