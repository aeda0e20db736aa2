//! Many pending questions survive kills of Baton; each is answered once, and its agent continues with the answer.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use super::asks_then_reports;
use crate::server::client::Events;
use crate::server::test_server::TestServer;

/// Questions that are pending at once, each with its own worktree. `BATON_QUESTIONS` sets another number.
const QUESTIONS: usize = 200;
/// How many of them are answered by one command each.
const BY_COMMAND: usize = 10;

/// All items of a list, page by page.
fn all(server: &TestServer, path: &str, key: &str) -> Vec<Value> {
    let (mut items, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = server.read(&format!("{path}&limit=500{cursor}"));
        items.extend(page[key].as_array().unwrap().iter().cloned());
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return items,
        }
    }
}

/// Follows the events until there were this many of the kind.
fn until(server: &TestServer, kind: &str, count: usize) {
    let mut left = count;
    for event in Events::after(&server.address, 0) {
        left -= usize::from(event["event"] == kind);
        if left == 0 {
            return;
        }
    }
    panic!("the server ended {left} short of {count} {kind}");
}

fn answer_all(server: &TestServer, answers: &[(String, String)]) {
    let lines: Vec<String> =
        answers.iter().map(|(question, answer)| format!("{question} {answer}")).collect();
    let mut answering =
        server.command().args(["answer", "-"]).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    answering.stdin.take().unwrap().write_all(lines.join("\n").as_bytes()).unwrap();
    assert!(answering.wait().unwrap().success());
}

#[test]
fn many_questions_survive_kills_and_every_agent_gets_its_own_answer() {
    let count = std::env::var("BATON_QUESTIONS").map_or(QUESTIONS, |count| count.parse().unwrap());
    let script = asks_then_reports("What is the word for {{task}}?");
    let mut server = TestServer::new(&script["scripts"]);
    let settings = server.folder.join(".agent/baton.toml");
    let text = std::fs::read_to_string(&settings).unwrap() + "max = 50\n";
    std::fs::write(&settings, format!("max_unaccepted = 10000\n{text}")).unwrap();
    let up = ["--listen", "127.0.0.1:0", "--agents", "8"];
    server.up(&up);
    let tasks: Vec<String> = (0..count)
        .map(|number| {
            let body = json!({ "title": format!("Ask {number}"), "task_type": "READ_INFO" });
            let answer = server.post("/api/tasks", &body);
            assert_eq!(answer.status, 201, "{answer:?}");
            answer.json()["task_id"].as_str().unwrap().to_owned()
        })
        .collect();
    until(&server, "question_asked", count);
    server.kill();
    server.up(&up);

    let pending = all(&server, "/api/questions?state=pending", "questions");
    let of_task: BTreeMap<&str, &str> = pending
        .iter()
        .map(|question| (question["task_id"].as_str().unwrap(), question["id"].as_str().unwrap()))
        .collect();
    assert_eq!(of_task.len(), count, "one for each task");
    let answers: Vec<(String, String)> =
        tasks.iter().map(|task| (of_task[task.as_str()].to_owned(), format!("word-of-{task}"))).collect();
    // Some while Baton is down, the others while it runs: by commands, over HTTP, and many at once.
    let (down, running) = answers.split_at(count / 3);
    let (by_command, over_http) = running.split_at(BY_COMMAND.min(running.len()));
    server.kill();
    answer_all(&server, down);
    server.up(&up);
    for (question, answer) in by_command {
        assert!(
            server
                .command()
                .args(["answer", question, answer])
                .stdout(Stdio::null())
                .status()
                .unwrap()
                .success()
        );
    }
    for (question, answer) in over_http {
        let taken = server.post(&format!("/api/questions/{question}/answer"), &json!({ "answer": answer }));
        assert_eq!(taken.status, 200, "{taken:?}");
    }
    until(&server, "task_done", count);
    let done = all(&server, "/api/tasks?queue=done", "tasks");
    assert_eq!(done.len(), count);
    for task in &tasks {
        let view = server.task(task);
        assert_eq!(view["output"], format!("{task} got word-of-{task}."), "{view}");
    }
    // The first answer stands.
    let (question, _) = &answers[0];
    let again = server.post(&format!("/api/questions/{question}/answer"), &json!({ "answer": "other" }));
    assert_eq!(again.error(), (409, "ALREADY_ANSWERED".to_owned()));
    assert!(all(&server, "/api/questions?state=pending", "questions").is_empty());
    server.stop();
}
