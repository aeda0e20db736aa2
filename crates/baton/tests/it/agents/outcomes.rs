//! What an attempt is worth is what Baton saw: tools that were used, commits, files, refusals. Never the agent's word.

use serde_json::{Value, json};

use super::fake::{self, outcome, turns};

fn last_end(attempts: &[Value]) -> Value {
    attempts.last().unwrap()["closing"]["end"].clone()
}

#[test]
fn an_agent_that_never_looked_at_its_tools_is_an_error_and_not_the_tasks_fault() {
    // It commits, and says that all is well; but it could not have asked.
    let script = json!({ "mcp": false, "turns": [[{ "commit": "blind" }, { "text": "All is done." }]] });
    let shop = fake::shop(&script, "", "");
    let task = shop.add("Something", &[]);
    let up = shop.up();
    shop.until("it ended once", || shop.attempts(&task).iter().any(|attempt| !attempt["closing"].is_null()));
    up.end();
    let end = shop.attempts(&task)[0]["closing"]["end"].clone();
    assert_eq!(
        (&end["reported"]["result"], &end["reported"]["cause"]),
        (&json!("ERROR"), &json!("systemic"))
    );
    assert!(end["reported"]["message"].as_str().unwrap().contains("never looked at Baton's tools"), "{end}");
    assert_eq!(shop.show(&task)["queue"], "incoming");
}

#[test]
fn work_that_was_not_committed_is_kept_and_is_not_burn_out() {
    let script = turns(json!([[{ "calls": 3 }, { "write": "half done" }, outcome("complete")]]));
    let shop = fake::shop(&script, "max_turns = 5", "");
    let task = shop.add("Something", &[]);
    shop.work_until(&[(&task, "provisional")]);
    let shown = shop.show(&task);
    let verified = &last_end(&shop.attempts(&task))["verified"];
    assert_eq!((&verified["uncommitted_changes"], &verified["commits"]), (&json!(true), &json!(0)));
    let text = shop.says(&["task", "show", &task]);
    assert!(!text.contains("burned"), "{text}\n{shown:#}");
    let diff = shop.says(&["task", "diff", &task]);
    assert!(diff.contains("+half done"), "{diff}");
}

#[test]
fn what_a_launcher_says_on_standard_error_is_on_the_task() {
    let script = json!({ "stderr": "error: libfoo.so.3 is missing", "exit": 127 });
    let shop = fake::shop(&script, "", "");
    let task = shop.add("Something", &[]);
    let up = shop.up();
    shop.until("it ended once", || shop.attempts(&task).iter().any(|attempt| !attempt["closing"].is_null()));
    up.end();
    let end = shop.attempts(&task)[0]["closing"]["end"].clone();
    assert_eq!(end["reported"]["cause"], "systemic");
    assert!(end["reported"]["message"].as_str().unwrap().contains("libfoo.so.3 is missing"), "{end}");
    assert!(shop.says(&["task", "show", &task]).contains("libfoo.so.3 is missing"));
}

#[test]
fn everything_refused_is_a_question_and_no_success() {
    let script = turns(json!([[{ "permission": { "command": "make" } }, { "text": "All is done." }]]));
    let shop = fake::shop(&script, "permissions = \"deny\"", "");
    let task = shop.add("Something", &[]);
    let up = shop.up();
    shop.until("it waits", || shop.status(&task) == "AWAITING_RESPONSE");
    up.end();
    assert_eq!(last_end(&shop.attempts(&task))["reported"]["result"], "BLOCKED");
}

#[test]
fn the_turn_limit_ends_it_and_commits_are_gone_on_from() {
    let script =
        turns(json!([[{ "commit": "a part" }, { "calls": 9 }, outcome("complete")], [outcome("complete")]]));
    let shop = fake::shop(&script, "max_turns = 4", "");
    let task = shop.add("Something", &[]);
    shop.work_until(&[(&task, "provisional")]);
    let attempts = shop.attempts(&task);
    assert_eq!(attempts[0]["closing"]["end"]["reported"]["result"], "TURN_LIMIT");
    assert_eq!(attempts[0]["closing"]["end"]["verified"]["turns"], 4);
    assert_eq!(attempts.len(), 2);
    assert_eq!(attempts[0]["attempt"]["agent_session"]["id"], attempts[1]["attempt"]["agent_session"]["id"]);
}
