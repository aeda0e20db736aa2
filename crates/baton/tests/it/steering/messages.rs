//! `baton say`: a message reaches the agent at work, or the next attempt; it is never lost and never told twice.

use serde_json::{Value, json};

use crate::agents::fake::{self, outcome, prompts, sessions, turns};
use crate::engine::test_repo::TestRepo;
use crate::gate::Gate;

const MESSAGE: &str = "Use port 80.";

/// What was said to the task, with its state.
fn states(repo: &TestRepo, task: &str) -> Vec<(String, String)> {
    let listed = repo.json(&["say", task]);
    let state = |message: &Value| {
        let text = |key: &str| message[key].as_str().unwrap().to_owned();
        (text("content"), text("state"))
    };
    listed["messages"].as_array().unwrap().iter().map(state).collect()
}

fn one(state: &str) -> Vec<(String, String)> {
    vec![(MESSAGE.to_owned(), state.to_owned())]
}

#[test]
fn a_message_reaches_an_agent_in_the_middle_of_its_turn() {
    let script = turns(
        json!([[{ "text": "I use port 8080.\n" }, "hang"], [{ "commit": "port" }, outcome("complete")]]),
    );
    let repo = fake::repo(&script, "", "");
    let task = repo.add("Serve it", &[]);
    let up = repo.up();
    repo.until("the agent works", || sessions(&repo).first().is_some_and(|lines| prompts(lines).len() == 1));
    let sent = repo.json(&["say", &task, MESSAGE]);
    assert_eq!((&sent["state"], &sent["arrives"]), (&json!("queued"), &json!("next_pause")), "{sent}");
    assert_eq!(sent["author"], "mia", "{sent}");
    repo.until_queue(&task, "provisional");
    up.end();
    let sessions = sessions(&repo);
    assert_eq!(sessions.len(), 1, "the same session goes on: {sessions:#?}");
    let told = prompts(&sessions[0]);
    assert_eq!(told.iter().filter(|prompt| prompt.contains(MESSAGE)).count(), 1, "{told:#?}");
    assert!(told[1].contains("The human says"), "{}", told[1]);
    assert_eq!(repo.attempts(&task).len(), 1);
    assert_eq!(states(&repo, &task), one("delivered"));
    let events = repo.stdout(&["export", "--events"]);
    assert_eq!(events.matches("\"messages_delivered\"").count(), 1, "{events}");
}

/// Records its prompt; waits at the gate until it has heard the message, and then does its work.
fn waits_for_message(gate: &Gate) -> String {
    format!(
        "printf %s \"$prompt\" > \"$HOME_OF_TEST/prompt-$BATON_TASK_ID\"\n\
         echo \"${{BATON_RESUME:-0}}\" >> \"$HOME_OF_TEST/resumed\"\n\
         touch \"$HOME_OF_TEST/started\"\n\
         case $prompt in *'{MESSAGE}'*) work ;; *) {} ;; esac",
        gate.wait()
    )
}

fn gated() -> (TestRepo, Gate) {
    let mut repo = TestRepo::with_agent("true", "");
    let gate = Gate::closed(repo.home.join("gate"));
    let home = repo.home.display().to_string();
    repo.set_agent(&waits_for_message(&gate).replace("$HOME_OF_TEST", &home));
    repo.variables.push(("BATON_USER".to_owned(), "mia".to_owned()));
    (repo, gate)
}

#[test]
fn a_program_reads_a_message_when_its_run_ends() {
    let (repo, gate) = gated();
    let task = repo.add("Serve it", &[]);
    let up = repo.up();
    repo.until("the agent works", || repo.home.join("started").exists());
    repo.json(&["say", &task, MESSAGE]);
    assert_eq!(states(&repo, &task), one("queued"));
    gate.open();
    // Without a commit of the first run, its end would have sent the task back.
    repo.until_queue(&task, "provisional");
    up.end();
    assert_eq!(repo.attempts(&task).len(), 1, "both runs are one attempt");
    assert_eq!(std::fs::read_to_string(repo.home.join("resumed")).unwrap(), "0\n1\n");
    assert_eq!(states(&repo, &task), one("delivered"));
}

#[test]
fn a_message_survives_a_kill_and_is_in_the_next_prompt() {
    let (repo, gate) = gated();
    let task = repo.add("Serve it", &[]);
    let up = repo.up();
    repo.until("the agent works", || repo.home.join("started").exists());
    repo.json(&["say", &task, MESSAGE]);
    up.kill();
    gate.open();
    let up = repo.up();
    repo.until_queue(&task, "provisional");
    up.end();
    assert!(repo.prompt(&task).contains(MESSAGE), "{}", repo.prompt(&task));
    assert_eq!(states(&repo, &task), one("delivered"));
}

#[test]
fn without_an_agent_at_work_a_message_is_kept_for_the_next_attempt() {
    let (repo, _gate) = gated();
    let task = repo.add("Serve it", &[]);
    let told = repo.stdout(&["say", &task, MESSAGE]);
    assert_eq!(told, format!("Kept for the next attempt of {task}: no agent works on it now.\n"));
    assert_eq!(states(&repo, &task), one("queued"));
    let up = repo.up();
    repo.until_queue(&task, "provisional");
    assert_eq!(states(&repo, &task), one("delivered"));
    // A task that is over has nobody to read it.
    repo.json(&["accept", &task]);
    repo.until_queue(&task, "done");
    let refused = repo.output(&["say", &task, "Too late"]);
    assert_eq!(refused.status.code(), Some(4), "{refused:?}");
    let error = String::from_utf8(refused.stderr).unwrap();
    assert!(error.contains("no agent will read a message"), "{error}");
    assert_eq!(states(&repo, &task), one("delivered"));
    up.end();
}

#[test]
fn an_agent_may_not_steer_another() {
    let repo = TestRepo::with_agent("true", "");
    let other = repo.add("Another task", &[]);
    repo.json(&["task", "hold", &other]);
    let file = repo.home.join("answer").display().to_string();
    repo.set_agent(&format!("\"$BATON_BIN\" say {other} 'Stop it' > {file} 2>&1 || true\nwork"));
    let task = repo.add("Serve it", &[]);
    repo.work_until(&[(&task, "provisional")]);
    let answer = std::fs::read_to_string(file).unwrap();
    assert!(answer.contains("error"), "{answer}");
    assert_eq!(states(&repo, &other), []);
}
