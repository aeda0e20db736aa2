//! I22: an answer that stops the work starts no agent.

use serde_json::{Value, json};

use super::{add, asks_then_reports, questions};
use crate::engine::test_repo::TestRepo;

#[test]
fn i22_stop_as_an_answer_holds_the_task() {
    for (stop, why) in [
        ("stop", "stopped by you"),
        ("Not now.", "stopped by you"),
        ("cancel: we decided otherwise", "stopped by you: we decided otherwise"),
        ("No, not now", "stopped by you"),
        ("Nein, jetzt nicht", "stopped by you"),
        ("いいえ、後で", "stopped by you"),
        ("hör auf", "stopped by you"),
    ] {
        let repo = TestRepo::scripted(&asks_then_reports("Which port?"), "");
        let task = add(&repo, "Ask");
        let up = repo.up();
        repo.until("the question", || !questions(&repo).is_empty());
        repo.json(&["answer", questions(&repo)[0]["id"].as_str().unwrap(), stop]);
        let held = repo.show(&task);
        assert_eq!((&held["queue"], &held["held_because"]), (&json!("incoming"), &json!(why)), "{held:#}");
        // Agents are free, and other work is done; this is not.
        let other = add(&repo, "Something else");
        repo.until("the other question", || questions(&repo).iter().any(|asked| asked["task_id"] == other));
        assert_eq!(repo.show(&task)["attempts"].as_array().unwrap().len(), 1);
        // A release continues where it stopped.
        repo.json(&["task", "release", &task]);
        repo.until_queue(&task, "done");
        up.end();
    }
}

#[test]
fn a_word_that_was_offered_is_an_answer_like_any_other() {
    let script = json!({ "scripts": [
        { "resumed": false, "steps": [{ "ask": { "question": "Stop the server or keep it?", "options": ["stop", "keep"] } }] },
        { "resumed": true, "steps": [
            { "read_answer": "The answer (" },
            { "result": { "status": "COMPLETE", "output": "got {{answer}}." } },
        ] },
    ], "otherwise": [] });
    let repo = TestRepo::scripted(&script, "");
    let task = add(&repo, "Ask");
    let up = repo.up();
    repo.until("the question", || !questions(&repo).is_empty());
    repo.json(&["answer", questions(&repo)[0]["id"].as_str().unwrap(), "stop"]);
    repo.until_queue(&task, "done");
    up.end();
    assert_eq!(repo.show(&task)["output"], "got stop.");
}

#[test]
fn i22_no_to_a_question_whether_to_go_on_holds_the_task() {
    for reason in ["TIMEOUT", "INTERACTIVE_PROMPT"] {
        let script = json!({ "scripts": [], "otherwise": [
            { "result": { "status": "BLOCKED", "reason": reason, "output": "" } } ] });
        let repo = TestRepo::scripted(&script, "");
        let added = repo.json(&["task", "add", "Edit", "--type", "LIGHT_EDIT"]);
        let task = added["task_id"].as_str().unwrap();
        let up = repo.up();
        repo.until("the question", || !questions(&repo).is_empty());
        let question = &questions(&repo)[0];
        let text = question["text"].as_str().unwrap();
        assert!(text.contains("NO holds the task until you release it"), "{text}");
        repo.json(&["answer", question["id"].as_str().unwrap(), "NO: later this week"]);
        assert_eq!(repo.show(task)["held_because"], "stopped by you: later this week");
        up.end();
    }
}

#[test]
fn i22_no_to_any_question_of_batons_own_holds_the_task() {
    let nothing = json!({ "result": { "status": "BLOCKED", "output": "" } });
    let claims = json!({ "result": { "status": "COMPLETE", "output": "All is well." } });
    for (result, task_type, no) in [
        (&nothing, "IMPLEMENTATION", "NO"),
        (&claims, "IMPLEMENTATION", "no"),
        (&nothing, "READ_INFO", "no, leave it"),
    ] {
        let repo = TestRepo::scripted(&json!({ "scripts": [], "otherwise": [result] }), "");
        let added = repo.json(&["task", "add", "Edit", "--type", task_type]);
        let task = added["task_id"].as_str().unwrap();
        let up = repo.up();
        repo.until("the question", || !questions(&repo).is_empty());
        repo.json(&["answer", questions(&repo)[0]["id"].as_str().unwrap(), no]);
        let held = repo.show(task);
        assert_eq!(held["held_because"], "stopped by you", "{task_type}: {held:#}");
        up.end();
    }
}

/// What is neither YES nor NO is refused by name, and starts nobody.
#[test]
fn i22_a_question_of_batons_own_takes_nothing_but_its_answers() {
    let ended = |status: &str, more: Value| {
        let mut result = json!({ "status": status, "output": "" });
        result.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({ "result": result })
    };
    for (result, task_type, choices) in [
        (ended("BLOCKED", json!({})), "READ_INFO", "YES, YES: what the agent should know, NO"),
        (
            ended("BLOCKED", json!({ "reason": "TIMEOUT" })),
            "LIGHT_EDIT",
            "YES, YES: what the agent should know, NO",
        ),
        (ended("BLOCKED", json!({})), "IMPLEMENTATION", "NO"),
    ] {
        let repo = TestRepo::scripted(&json!({ "scripts": [], "otherwise": [result] }), "");
        let added = repo.json(&["task", "add", "Edit", "--type", task_type]);
        let task = added["task_id"].as_str().unwrap();
        let up = repo.up();
        repo.until("the question", || !questions(&repo).is_empty());
        let is_free = task_type == "IMPLEMENTATION";
        let unclear: &[&str] = if is_free {
            &["?", "No, wait for Eva", "nothing"]
        } else {
            &["tomorrow maybe", "I do not know", "?", "maybe", "yes, but later", "YES: after the release"]
        };
        for answer in unclear {
            let refused = repo.output(&["task", "reply", task, answer]);
            assert_eq!(refused.status.code(), Some(2), "{answer}: {refused:?}");
            let said = String::from_utf8_lossy(&refused.stderr).into_owned();
            let is_put_off = said.contains("YES when it may go on now, or NO");
            assert!(is_free || is_put_off || said.contains(choices), "{answer}: {said}");
            assert_eq!(repo.show(task)["status"], "AWAITING_RESPONSE", "{answer}");
        }
        assert_eq!(repo.attempts(task).len(), 1);
        repo.json(&["task", "reply", task, "許可しません"]);
        assert_eq!(repo.show(task)["held_because"], "stopped by you");
        up.end();
    }
}

#[test]
fn a_yes_may_say_what_the_agent_should_know() {
    let script = json!({ "scripts": [
        { "resumed": false, "steps": [{ "result": { "status": "BLOCKED", "output": "" } }] },
        { "resumed": true, "steps": [
            { "read_answer": "The answer (" }, { "result": { "status": "COMPLETE", "output": "got {{answer}}." } } ] },
    ], "otherwise": [] });
    let repo = TestRepo::scripted(&script, "");
    let added = repo.json(&["task", "add", "Look", "--type", "READ_INFO"]);
    let task = added["task_id"].as_str().unwrap();
    let up = repo.up();
    repo.until("the question", || !questions(&repo).is_empty());
    repo.json(&["task", "reply", task, "YES: don't touch the tests"]);
    repo.until_queue(task, "done");
    up.end();
    assert_eq!(repo.show(task)["output"], "got YES: don't touch the tests.");
}

#[test]
fn a_dangerous_operation_is_not_run_again_after_a_crash() {
    let script = json!({ "scripts": [], "otherwise": [{ "say": "I begin." }, "hang"] });
    let repo = TestRepo::scripted(&script, "");
    let added = repo.json(&["task", "add", "Drop it", "--type", "DANGEROUS_OP"]);
    let task = added["task_id"].as_str().unwrap();
    let up = repo.up();
    let log = || String::from_utf8(repo.output(&["task", "log", task]).stdout).unwrap();
    repo.until("the agent works", || log().contains("I begin."));
    up.kill();
    let up = repo.up();
    repo.until("the question", || !questions(&repo).is_empty());
    let shown = repo.show(task);
    assert_eq!(
        (&shown["status"], shown["attempts"].as_array().unwrap().len()),
        (&json!("BLOCKED"), 1),
        "{shown:#}"
    );
    up.end();
}
