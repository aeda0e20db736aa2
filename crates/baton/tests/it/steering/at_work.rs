//! `baton status`, `cost`, `stop`, `open` and `review`, with an agent at work and with its results.

use std::io::{BufRead, BufReader};

use serde_json::json;

use crate::engine::test_repo::TestRepo;
use crate::gate::Gate;

/// Waits at the gate, costs something, and works.
fn repo_with_gate() -> (TestRepo, Gate) {
    let repo = TestRepo::with_agent("true", "");
    let gate = Gate::closed(repo.home.join("gate"));
    let usage = r#"{"baton":"usage","input_tokens":100,"output_tokens":20,"cost_usd":1.25}"#;
    let started = repo.home.join("started").display().to_string();
    repo.set_agent(&format!("touch {started}\n{}\necho '{usage}'\nwork", gate.wait()));
    (repo, gate)
}

#[test]
fn what_a_stopped_attempt_used_is_part_of_the_cost() {
    let repo = TestRepo::with_agent("true", "");
    let usage = r#"{"baton":"usage","input_tokens":100,"output_tokens":20,"cost_usd":1.25}"#;
    repo.set_agent(&format!("echo '{usage}'\necho 'Used something.'\nsleep 600"));
    let task = repo.add("Paint it", &[]);
    let up = repo.up();
    repo.until("the use is read", || repo.stdout(&["task", "log", &task]).contains("Used something."));
    repo.stdout(&["stop", &task]);
    repo.until("the use is booked", || repo.json(&["cost"])["total"]["cost_micro_usd"] == 1_250_000);
    let record = repo.attempts(&task)[0].clone();
    assert_eq!(record["closing"]["closing"], "stopped", "{record}");
    assert_eq!(record["used"]["input_tokens"], 100, "{record}");
    up.end();
}

#[test]
fn status_and_cost_tell_what_runs_and_what_it_cost() {
    let (repo, gate) = repo_with_gate();
    let idle = repo.stdout(&["status"]);
    assert!(idle.contains("No agent is at work.") && idle.contains("No server is running here"), "{idle}");
    let task = repo.add("Paint it", &[]);
    let up = repo.up();
    repo.until("the agent works", || repo.home.join("started").exists());
    let status = repo.json(&["status"]);
    assert_eq!(status["running"][0]["task_id"], json!(task), "{status}");
    assert_eq!(status["running"][0]["agent"], "mine", "{status}");
    let text = repo.stdout(&["status"]);
    assert!(text.contains("Paint it") && text.contains("Nothing waits for you."), "{text}");
    gate.open();
    repo.until_queue(&task, "provisional");
    let cost = repo.json(&["cost"]);
    assert_eq!(cost["total"]["cost_micro_usd"], 1_250_000, "{cost}");
    assert_eq!(cost["by_agent"][0]["id"], "mine", "{cost}");
    assert_eq!((&cost["by_task"][0]["id"], &cost["by_task"][0]["title"]), (&json!(task), &json!("Paint it")));
    let text = repo.stdout(&["cost", "--since", "2h", "--by", "task"]);
    assert!(text.starts_with("$1.25 since 2h") && text.contains(&task) && !text.contains("AGENT"), "{text}");
    let later = repo.json(&["cost", "--since", "2099-01-01"]);
    assert_eq!(later["total"]["attempts"], 0, "{later}");
    let text = repo.stdout(&["status"]);
    assert!(text.contains("1 task to review") && text.contains("Today: $1.25"), "{text}");
    let wrong = repo.output(&["cost", "--since", "yesterday"]);
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
    up.end();
}

#[test]
fn stop_ends_the_agent_and_holds_the_task() {
    let (repo, _gate) = repo_with_gate();
    assert_eq!(repo.stdout(&["stop", "--all"]), "No agent is at work.\n");
    let task = repo.add("Paint it", &[]);
    let up = repo.up();
    repo.until("the agent works", || repo.home.join("started").exists());
    assert_eq!(repo.json(&["stop", "--all"]), json!({ "stopped": [task] }));
    let held = repo.show(&task);
    assert_eq!(
        (&held["queue"], &held["held_because"]),
        (&json!("incoming"), &json!("stopped by you")),
        "{held}"
    );
    up.end();
}

#[test]
fn open_prints_the_address_of_a_page() {
    let repo = TestRepo::with_working_agent("");
    let task = repo.add("Paint it", &[]);
    let refused = repo.output(&["open"]);
    assert_eq!(refused.status.code(), Some(3), "{refused:?}");
    let up = repo.up();
    repo.until_queue(&task, "provisional");
    let url = repo.stdout(&["open", &task]);
    assert!(url.starts_with("http://127.0.0.1:") && url.ends_with(&format!("/tasks/{task}\n")), "{url}");
    assert_eq!(repo.json(&["open", &task])["url"], url.trim());
    up.end();
}

#[test]
fn review_shows_the_changes_and_decides() {
    let repo = TestRepo::with_working_agent("");
    let task = repo.add("Paint it", &[]);
    let early = repo.output(&["review", &task]);
    assert_eq!(early.status.code(), Some(4), "{early:?}");
    let up = repo.up();
    repo.until_queue(&task, "provisional");
    let shown = repo.stdout(&["review", &task]);
    assert!(shown.contains("Paint it") && shown.contains("diff --git"), "{shown}");
    assert_eq!(repo.queue(&task), "provisional", "without a terminal nothing is decided");
    repo.stdout(&["review", &task, "--request-changes", "Use another colour."]);
    repo.until("it was tried again", || {
        repo.attempts(&task).len() == 2 && repo.queue(&task) == "provisional"
    });
    repo.stdout(&["review", &task, "--accept"]);
    repo.until_queue(&task, "done");
    up.end();
}

#[test]
fn a_log_is_followed_until_the_agent_ends() {
    let (repo, gate) = repo_with_gate();
    repo.set_agent(&format!("echo 'First line.'\n{}\necho 'Last line.'\nwork", gate.wait()));
    let task = repo.add("Paint it", &[]);
    let up = repo.up();
    let mut following =
        repo.baton(&["task", "log", "-f", &task]).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(following.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut until =
        |what: &str| lines.find(|line| line.contains(what)).expect("it is printed while it is written");
    until("First line.");
    gate.open();
    until("Last line.");
    assert!(following.wait().unwrap().success());
    up.end();
}
