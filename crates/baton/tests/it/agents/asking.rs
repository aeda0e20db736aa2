//! An agent asks, is ended, and continues its session with the answer: in a new process, also after Baton was killed.

use serde_json::{Value, json};

use super::fake::{self, outcome, prompts, sessions, turns};
use crate::engine::test_repo::{TestRepo, processes};

/// Agents that wait for an answer are ended after a second, which keeps these tests short.
const IMPATIENT: &str = "[asking]\npatience = 1\n";

fn asks(tool: &str) -> Value {
    json!({ "mcp": { "tool": tool, "arguments": { "question": "Blue or green?" } } })
}

fn question(repo: &TestRepo) -> Value {
    let mut found = Value::Null;
    repo.until("a question", || {
        found = repo.json(&["questions"])["questions"][0].clone();
        !found.is_null()
    });
    found
}

/// Its agent was ended, and only an answer starts it again.
fn until_waiting(repo: &TestRepo, task: &str) {
    repo.until("it waits", || repo.status(task) == "AWAITING_RESPONSE");
}

fn answer(repo: &TestRepo, text: &str) {
    let id = question(repo)["id"].as_str().unwrap().to_owned();
    repo.stdout(&["answer", &id, text]);
}

#[test]
fn an_answer_continues_the_same_session_in_a_new_process() {
    let script = turns(
        json!([[asks("ask_user"), { "text": "I wait." }], [{ "commit": "green" }, outcome("complete")]]),
    );
    let repo = fake::repo(&script, "", IMPATIENT);
    let task = repo.add("Paint it", &[]);
    let up = repo.up();
    until_waiting(&repo, &task);
    assert_eq!(processes(&repo.last_attempt(&task)), [] as [&str; 0], "no process waits for the answer");
    answer(&repo, "Green, please");
    repo.until_queue(&task, "provisional");
    up.end();

    let sessions = sessions(&repo);
    assert_eq!(sessions.len(), 1, "{sessions:#?}");
    assert!(sessions[0].iter().any(|line| line.get("loaded").is_some()));
    let prompts = prompts(&sessions[0]);
    assert_eq!(prompts.len(), 2);
    assert!(prompts[1].contains("Blue or green?") && prompts[1].contains("Green, please"), "{}", prompts[1]);
    let attempts = repo.attempts(&task);
    let ids: Vec<&Value> =
        attempts.iter().map(|attempt| &attempt["attempt"]["agent_session"]["id"]).collect();
    assert_eq!((ids.len(), ids[0]), (2, ids[1]));
}

#[test]
fn a_question_survives_a_kill_of_baton_and_its_answer_continues_the_session() {
    let script = turns(
        json!([[asks("ask_user"), { "text": "I wait." }], [{ "commit": "green" }, outcome("complete")]]),
    );
    // The agent still waits for its answer when Baton dies.
    let repo = fake::repo(&script, "", "");
    let task = repo.add("Paint it", &[]);
    let up = repo.up();
    question(&repo);
    up.kill();
    answer(&repo, "Green");
    let up = repo.up();
    repo.until_queue(&task, "provisional");
    up.end();
    let sessions = sessions(&repo);
    assert_eq!(sessions.len(), 1, "{sessions:#?}");
    assert!(prompts(&sessions[0])[1].contains("Green"));
}

#[test]
fn the_same_question_asked_again_gets_the_stored_answer() {
    let script = turns(json!([
        [asks("ask_user"), { "text": "I wait." }],
        [asks("ask_human"), { "commit": "green" }, outcome("complete")]
    ]));
    let repo = fake::repo(&script, "", IMPATIENT);
    let task = repo.add("Paint it", &[]);
    let up = repo.up();
    until_waiting(&repo, &task);
    answer(&repo, "Green");
    repo.until_queue(&task, "provisional");
    up.end();
    let output = repo.show(&task)["output"].as_str().unwrap().to_owned();
    assert!(output.contains("ask_human: Green"), "{output}");
}

#[test]
fn a_session_that_cannot_be_loaded_is_replaced_by_one_with_the_whole_conversation() {
    let mut script = turns(json!([[asks("ask_user"), { "text": "I wait." }]]));
    let repo = fake::repo(&script, "", IMPATIENT);
    let task = repo.add("Paint it", &[]);
    let up = repo.up();
    until_waiting(&repo, &task);
    script["refuse_load"] = json!(true);
    script["turns"] = json!([[{ "commit": "green" }, outcome("complete")]]);
    std::fs::write(repo.home.join("acp.json"), script.to_string()).unwrap();
    answer(&repo, "Green");
    repo.until_queue(&task, "provisional");
    up.end();
    let sessions = sessions(&repo);
    assert_eq!(sessions.len(), 2, "{sessions:#?}");
    let prompt = &prompts(&sessions[1])[0];
    assert!(
        prompt.contains("Paint it") && prompt.contains("Blue or green?") && prompt.contains("Green"),
        "{prompt}"
    );
}

#[test]
fn a_permission_granted_after_the_agent_exited_covers_one_use() {
    let push = json!({ "permission": { "command": "git push" } });
    let script = turns(json!([[push], [push, push, { "commit": "pushed" }, outcome("complete")]]));
    let repo = fake::repo(&script, "", IMPATIENT);
    let task = repo.add("Push it", &[]);
    let up = repo.up();
    until_waiting(&repo, &task);
    let asked = question(&repo);
    assert_eq!(asked["kind"], "permission");
    assert!(asked["text"].as_str().unwrap().contains("git push"));
    answer(&repo, "Allow");
    // The first use of the second process is covered by that answer; the next is asked again.
    repo.until("it asks again", || {
        repo.attempts(&task).len() == 2 && repo.status(&task) == "AWAITING_RESPONSE"
    });
    answer(&repo, "Deny");
    repo.until("it ends", || repo.attempts(&task).len() == 3 && repo.status(&task) != "RUNNING");
    up.end();
    let log = repo.stdout(&["task", "log", &task]);
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
    let repo = fake::repo(&script, "permissions = \"allow\"", settings);
    let task = repo.add("Something", &[]);
    repo.work_until(&[(&task, "provisional")]);
    let log = repo.stdout(&["task", "log", &task]);
    assert!(
        log.contains("permission for cargo test: Allow") && log.contains("permission for git push: Deny"),
        "{log}"
    );
}

#[test]
fn a_form_of_an_agent_becomes_a_question() {
    let form = json!({ "elicit": { "message": "Which colour?", "requestedSchema": {
        "type": "object", "properties": { "colour": { "type": "string" } }, "required": ["colour"] } } });
    let script = turns(json!([[form, { "commit": "done" }, outcome("complete")]]));
    let repo = fake::repo(&script, "", "");
    let task = repo.add("Something", &[]);
    let up = repo.up();
    let asked = question(&repo);
    assert!(asked["text"].as_str().unwrap().contains("Which colour?"), "{asked}");
    answer(&repo, "green");
    repo.until_queue(&task, "provisional");
    up.end();
    let output = repo.show(&task)["output"].as_str().unwrap().to_owned();
    assert!(output.contains("green"), "{output}");
}
