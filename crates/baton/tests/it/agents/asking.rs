//! An agent asks, is let go, and goes on with the answer in the same session of its own: in a new process, and after
//! Baton itself was killed.

use serde_json::{Value, json};

use super::fake::{self, outcome, prompts, sessions, turns};
use crate::engine::shop::{Shop, processes};

/// Agents are let go after a second, so that nobody waits for them here.
const IMPATIENT: &str = "[asking]\npatience = 1\n";

fn asks(tool: &str) -> Value {
    json!({ "mcp": { "tool": tool, "arguments": { "question": "Blue or green?" } } })
}

fn question(shop: &Shop) -> Value {
    let mut found = Value::Null;
    shop.until("a question", || {
        found = shop.json(&["questions"])["questions"][0].clone();
        !found.is_null()
    });
    found
}

/// Its agent was let go, and only the answer brings it back.
fn until_waiting(shop: &Shop, task: &str) {
    shop.until("it waits", || shop.status(task) == "AWAITING_RESPONSE");
}

fn answer(shop: &Shop, text: &str) {
    let id = question(shop)["id"].as_str().unwrap().to_owned();
    shop.says(&["answer", &id, text]);
}

#[test]
fn the_answer_goes_on_in_the_same_session_in_a_new_process() {
    let script = turns(
        json!([[asks("ask_user"), { "text": "I wait." }], [{ "commit": "green" }, outcome("complete")]]),
    );
    let shop = fake::shop(&script, "", IMPATIENT);
    let task = shop.add("Paint it", &[]);
    let up = shop.up();
    until_waiting(&shop, &task);
    assert_eq!(processes(&shop.last_attempt(&task)), [] as [&str; 0], "nobody is kept alive for an answer");
    answer(&shop, "Green, please");
    shop.until_queue(&task, "provisional");
    up.end();

    let sessions = sessions(&shop);
    assert_eq!(sessions.len(), 1, "{sessions:#?}");
    assert!(sessions[0].iter().any(|line| line.get("loaded").is_some()));
    let prompts = prompts(&sessions[0]);
    assert_eq!(prompts.len(), 2);
    assert!(prompts[1].contains("Blue or green?") && prompts[1].contains("Green, please"), "{}", prompts[1]);
    let attempts = shop.attempts(&task);
    let ids: Vec<&Value> =
        attempts.iter().map(|attempt| &attempt["attempt"]["agent_session"]["id"]).collect();
    assert_eq!((ids.len(), ids[0]), (2, ids[1]));
}

#[test]
fn a_question_outlives_a_kill_of_baton_and_its_answer_finds_the_session_again() {
    let script = turns(
        json!([[asks("ask_user"), { "text": "I wait." }], [{ "commit": "green" }, outcome("complete")]]),
    );
    // The agent still waits for its answer when Baton dies.
    let shop = fake::shop(&script, "", "");
    let task = shop.add("Paint it", &[]);
    let up = shop.up();
    question(&shop);
    up.kill();
    answer(&shop, "Green");
    let up = shop.up();
    shop.until_queue(&task, "provisional");
    up.end();
    let sessions = sessions(&shop);
    assert_eq!(sessions.len(), 1, "{sessions:#?}");
    assert!(prompts(&sessions[0])[1].contains("Green"));
}

#[test]
fn the_same_question_asked_again_gets_the_stored_answer() {
    let script = turns(json!([
        [asks("ask_user"), { "text": "I wait." }],
        [asks("ask_human"), { "commit": "green" }, outcome("complete")]
    ]));
    let shop = fake::shop(&script, "", IMPATIENT);
    let task = shop.add("Paint it", &[]);
    let up = shop.up();
    until_waiting(&shop, &task);
    answer(&shop, "Green");
    shop.until_queue(&task, "provisional");
    up.end();
    let output = shop.show(&task)["output"].as_str().unwrap().to_owned();
    assert!(output.contains("ask_human: Green"), "{output}");
}

#[test]
fn a_session_that_cannot_be_loaded_is_followed_by_one_that_is_told_everything() {
    let mut script = turns(json!([[asks("ask_user"), { "text": "I wait." }]]));
    let shop = fake::shop(&script, "", IMPATIENT);
    let task = shop.add("Paint it", &[]);
    let up = shop.up();
    until_waiting(&shop, &task);
    script["refuse_load"] = json!(true);
    script["turns"] = json!([[{ "commit": "green" }, outcome("complete")]]);
    std::fs::write(shop.home.join("acp.json"), script.to_string()).unwrap();
    answer(&shop, "Green");
    shop.until_queue(&task, "provisional");
    up.end();
    let sessions = sessions(&shop);
    assert_eq!(sessions.len(), 2, "{sessions:#?}");
    let told = &prompts(&sessions[1])[0];
    assert!(told.contains("Paint it") && told.contains("Blue or green?") && told.contains("Green"), "{told}");
}

#[test]
fn a_permission_is_a_question_and_covers_one_use_after_the_agent_was_gone() {
    let push = json!({ "permission": { "command": "git push" } });
    let script = turns(json!([[push], [push, push, { "commit": "pushed" }, outcome("complete")]]));
    let shop = fake::shop(&script, "", IMPATIENT);
    let task = shop.add("Push it", &[]);
    let up = shop.up();
    until_waiting(&shop, &task);
    let asked = question(&shop);
    assert_eq!(asked["kind"], "permission");
    assert!(asked["text"].as_str().unwrap().contains("git push"));
    answer(&shop, "Allow");
    // The first use of the second process is covered by that answer; the next is asked again.
    shop.until("it asks again", || {
        shop.attempts(&task).len() == 2 && shop.status(&task) == "AWAITING_RESPONSE"
    });
    answer(&shop, "Deny");
    shop.until("it ends", || shop.attempts(&task).len() == 3 && shop.status(&task) != "RUNNING");
    up.end();
    let log = shop.says(&["task", "log", &task]);
    assert!(log.contains("permission"), "{log}");
}

#[test]
fn permissions_are_decided_by_the_settings_of_the_role() {
    let script = turns(json!([[
        { "permission": { "command": "cargo test" } },
        { "permission": { "command": "git push" } },
        { "commit": "done" },
        outcome("complete")
    ]]));
    let settings = "[roles.implement]\npermissions = { otherwise = \"deny\", allow = [\"cargo \"] }\n";
    let shop = fake::shop(&script, "permissions = \"allow\"", settings);
    let task = shop.add("Something", &[]);
    shop.work_until(&[(&task, "provisional")]);
    let log = shop.says(&["task", "log", &task]);
    assert!(
        log.contains("permission for cargo test: Allow") && log.contains("permission for git push: Deny"),
        "{log}"
    );
}

#[test]
fn a_form_of_the_agents_is_a_question_like_any_other() {
    let form = json!({ "elicit": { "message": "Which colour?", "requestedSchema": {
        "type": "object", "properties": { "colour": { "type": "string" } }, "required": ["colour"] } } });
    let script = turns(json!([[form, { "commit": "done" }, outcome("complete")]]));
    let shop = fake::shop(&script, "", "");
    let task = shop.add("Something", &[]);
    let up = shop.up();
    let asked = question(&shop);
    assert!(asked["text"].as_str().unwrap().contains("Which colour?"), "{asked}");
    answer(&shop, "green");
    shop.until_queue(&task, "provisional");
    up.end();
    let output = shop.show(&task)["output"].as_str().unwrap().to_owned();
    assert!(output.contains("green"), "{output}");
}
