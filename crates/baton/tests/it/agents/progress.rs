//! An agent that gets nowhere is stopped, and a person is told what was seen.

use serde_json::{Value, json};

use super::fake::{self, outcome, prompts, sessions, turns};
use crate::engine::test_repo::TestRepo;

/// One tool call as agents show it, with its input, and its result.
fn call(number: usize, command: &str, status: &str, result: &str) -> [Value; 2] {
    let id = format!("call-{number}");
    let begun = json!({ "sessionUpdate": "tool_call", "toolCallId": id, "title": "shell", "kind": "execute",
        "rawInput": { "command": command } });
    let ended = json!({ "sessionUpdate": "tool_call_update", "toolCallId": id, "status": status,
        "rawOutput": result });
    [json!({ "update": begun }), json!({ "update": ended })]
}

/// The calls, and then nothing more until it is stopped.
fn calls(all: impl Iterator<Item = [Value; 2]>) -> Vec<Value> {
    all.flatten().chain([json!("hang")]).collect()
}

fn until_asked(repo: &TestRepo, task: &str) -> Value {
    repo.until("it waits", || repo.status(task) == "AWAITING_RESPONSE");
    repo.json(&["questions"])["questions"][0].clone()
}

#[test]
fn the_same_calls_again_and_again_become_a_question_and_the_agent_goes_on_with_the_answer() {
    let stuck = calls((0..30).map(|number| match number % 2 {
        0 => call(number, "cat notes.txt", "completed", "nothing new"),
        _ => call(number, "ls", "completed", "notes.txt"),
    }));
    let done = json!([{ "commit": "done" }, outcome("complete")]);
    let repo = fake::repo(&turns(json!([stuck, done])), "", "");
    let task = repo.add("Read the notes", &[]);
    let up = repo.up();
    let question = until_asked(&repo, &task);
    let text = question["text"].as_str().unwrap();
    for part in ["6 times in a row", "cat notes.txt", "ls", "Read the notes", "notes.txt"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let end = &repo.attempts(&task)[0]["closing"]["end"];
    assert_eq!(end["reported"]["result"], "ASKED", "{end}");
    assert!(end["verified"]["turns"].as_u64().unwrap() >= 12, "{end}");
    repo.stdout(&["answer", question["id"].as_str().unwrap(), "The notes are in docs/notes.txt"]);
    repo.until_queue(&task, "provisional");
    up.end();
    let sessions = sessions(&repo);
    assert_eq!(sessions.len(), 1, "it goes on in its session");
    assert!(prompts(&sessions[0])[1].contains("docs/notes.txt"));
}

#[test]
fn the_same_error_three_times_becomes_a_question_and_no_holds_the_task() {
    let stuck = calls((0..30).map(|number| call(number, "make", "failed", "make: cc: not found")));
    let repo = fake::repo(&turns(json!([stuck])), "", "");
    let task = repo.add("Build it", &[]);
    let up = repo.up();
    let question = until_asked(&repo, &task);
    let text = question["text"].as_str().unwrap();
    assert!(text.contains("the same error came 3 times") && text.contains("make: cc: not found"), "{text}");
    repo.stdout(&["answer", question["id"].as_str().unwrap(), "NO"]);
    up.end();
    assert_eq!(repo.show(&task)["held_because"], "stopped by you");
}

#[test]
fn turns_without_anything_new_are_noticed_without_a_budget() {
    let script = turns(json!([[{ "calls": 40 }, "hang"]]));
    let repo = fake::repo(&script, "", "[progress]\nidle_turns = 5\n");
    let task = repo.add("Something", &[]);
    let up = repo.up();
    let question = until_asked(&repo, &task);
    assert!(question["text"].as_str().unwrap().contains("without a new commit"), "{question}");
    up.end();
}

#[test]
fn what_looks_alike_and_is_not_goes_on() {
    let polls = (0..12).map(|number| call(number, "make status", "completed", &format!("{number} of 12")));
    let alike = (20..32).map(|number| call(number, "make status", "completed", "waiting"));
    let mut steps: Vec<Value> = polls.flatten().collect();
    let repo = |steps: &[Value], settings: &str| {
        let end = [json!({ "commit": "done" }), outcome("complete")];
        let all: Vec<Value> = steps.iter().cloned().chain(end).collect();
        fake::repo(&turns(json!([all])), "", settings)
    };
    let moving = repo(&steps, "");
    let task = moving.add("Wait for it", &[]);
    moving.work_until(&[(&task, "provisional")]);
    // Whoever does not want it turns it off.
    steps.extend(alike.flatten());
    let off = repo(&steps, "[progress]\nrepeated_calls = 0\n");
    let task = off.add("Wait for it", &[]);
    off.work_until(&[(&task, "provisional")]);
}
