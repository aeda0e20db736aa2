//! An attempt is judged by what Baton measured (tool calls, commits, files, refusals), never by what the agent claims.

use serde_json::{Value, json};

use super::fake::{self, outcome, turns};

fn last_end(attempts: &[Value]) -> Value {
    attempts.last().unwrap()["closing"]["end"].clone()
}

#[test]
fn work_of_an_agent_that_never_listed_its_tools_is_judged_like_any_other() {
    let script = json!({ "mcp": false, "turns": [[{ "commit": "blind" }, { "text": "All is done." }]] });
    let repo = fake::repo(&script, "", "");
    let task = repo.add("Something", &[]);
    repo.work_until(&[(&task, "provisional")]);
    let attempts = repo.attempts(&task);
    assert_eq!((attempts.len(), &last_end(&attempts)["verified"]["commits"]), (1, &json!(1)));
    let output = repo.show(&task)["output"].as_str().unwrap().to_owned();
    assert!(output.contains("never looked at Baton's tools"), "{output}");
}

#[test]
fn an_agent_that_never_listed_its_tools_and_left_nothing_is_a_systemic_error() {
    // It reports success, but without tools it could not have asked.
    let script = json!({ "mcp": false, "turns": [[{ "text": "All is done." }]] });
    let repo = fake::repo(&script, "", "");
    let task = repo.add("Something", &[]);
    let up = repo.up();
    repo.until("it ended once", || repo.attempts(&task).iter().any(|attempt| !attempt["closing"].is_null()));
    up.end();
    let end = repo.attempts(&task)[0]["closing"]["end"].clone();
    assert_eq!(
        (&end["reported"]["result"], &end["reported"]["cause"]),
        (&json!("ERROR"), &json!("systemic"))
    );
    assert!(end["reported"]["message"].as_str().unwrap().contains("never looked at Baton's tools"), "{end}");
    assert_eq!(repo.show(&task)["queue"], "incoming");
}

#[test]
fn uncommitted_work_is_kept_and_is_not_burn_out() {
    let script = turns(json!([[{ "calls": 3 }, { "write": "half done" }, outcome("complete")]]));
    let repo = fake::repo(&script, "max_turns = 5", "");
    let task = repo.add("Something", &[]);
    repo.work_until(&[(&task, "provisional")]);
    let shown = repo.show(&task);
    let verified = &last_end(&repo.attempts(&task))["verified"];
    assert_eq!((&verified["uncommitted_changes"], &verified["commits"]), (&json!(true), &json!(0)));
    let text = repo.stdout(&["task", "show", &task]);
    assert!(!text.contains("burned"), "{text}\n{shown:#}");
    let diff = repo.stdout(&["task", "diff", &task]);
    assert!(diff.contains("+half done"), "{diff}");
}

#[test]
fn the_stderr_of_a_failing_launcher_is_shown_on_the_task() {
    let script = json!({ "stderr": "error: libfoo.so.3 is missing", "exit": 127 });
    let repo = fake::repo(&script, "", "");
    let task = repo.add("Something", &[]);
    let up = repo.up();
    repo.until("it ended once", || repo.attempts(&task).iter().any(|attempt| !attempt["closing"].is_null()));
    up.end();
    let end = repo.attempts(&task)[0]["closing"]["end"].clone();
    assert_eq!(end["reported"]["cause"], "systemic");
    assert!(end["reported"]["message"].as_str().unwrap().contains("libfoo.so.3 is missing"), "{end}");
    assert!(repo.stdout(&["task", "show", &task]).contains("libfoo.so.3 is missing"));
}

#[test]
fn an_agent_whose_every_call_was_refused_is_blocked() {
    let script = turns(json!([[{ "permission": { "command": "make" } }, { "text": "All is done." }]]));
    let repo = fake::repo(&script, "permissions = \"deny\"", "");
    let task = repo.add("Something", &[]);
    let up = repo.up();
    repo.until("it waits", || repo.status(&task) == "AWAITING_RESPONSE");
    up.end();
    assert_eq!(last_end(&repo.attempts(&task))["reported"]["result"], "BLOCKED");
}

#[test]
fn after_the_turn_limit_the_next_attempt_continues_from_the_commits() {
    let script =
        turns(json!([[{ "commit": "a part" }, { "calls": 9 }, outcome("complete")], [outcome("complete")]]));
    let repo = fake::repo(&script, "max_turns = 4", "");
    let task = repo.add("Something", &[]);
    repo.work_until(&[(&task, "provisional")]);
    let attempts = repo.attempts(&task);
    assert_eq!(attempts[0]["closing"]["end"]["reported"]["result"], "TURN_LIMIT");
    assert_eq!(attempts[0]["closing"]["end"]["verified"]["turns"], 4);
    assert_eq!(attempts.len(), 2);
    assert_eq!(attempts[0]["attempt"]["agent_session"]["id"], attempts[1]["attempt"]["agent_session"]["id"]);
}
