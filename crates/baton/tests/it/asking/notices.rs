//! Notices by command and webhook: every new question and the end of every run, retried until they are accepted.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;

use serde_json::{Value, json};

use super::{add, asks_then_reports};
use crate::engine::test_repo::{TestRepo, read};
use crate::gate::Gate;
use crate::telemetry::receiver::{Authority, Receiver};

/// Settings with a webhook and a command that appends each notice to a file for its kind.
fn notify(webhook: &str) -> String {
    format!(
        "[notify]\nwebhook = \"http://{webhook}/hook\"\n\
         command = [\"sh\", \"-c\", \"cat >> notice-$BATON_NOTICE_KIND.json; echo >> notice-$BATON_NOTICE_KIND.json\"]\n"
    )
}

fn received(repo: &TestRepo, kind: &str) -> Vec<Value> {
    let path = repo.folder.join(format!("notice-{kind}.json"));
    let mut text = String::new();
    repo.until(&format!("{} is written", path.display()), || {
        text = if path.exists() { read(&path) } else { String::new() };
        text.ends_with("}\n")
    });
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_notice_of_a_question_is_retried_until_it_is_accepted() {
    let receiver = TcpListener::bind("127.0.0.1:0").unwrap();
    let settings = notify(&receiver.local_addr().unwrap().to_string());
    let repo = TestRepo::scripted(&asks_then_reports("Which port?"), &settings);
    add(&repo, "Ask");
    let up = repo.up();
    // The first two are refused, the third is accepted; all carry the same id.
    let statuses = ["500 Busy", "503 Busy", "204 No Content"];
    let ids: Vec<Value> = statuses.iter().map(|status| take_post(&receiver, status)["id"].clone()).collect();
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    let notices = received(&repo, "question");
    up.end();
    assert_eq!(notices.len(), 1, "an accepted notice is not sent again: {notices:?}");
    assert_eq!(notices[0]["id"], ids[0]);
    assert!(notices[0]["text"].as_str().unwrap().starts_with("Which port?"), "{notices:?}");
}

#[test]
fn an_https_webhook_is_notified_if_its_authority_is_trusted() {
    let authority = Authority::new();
    let receiver = Receiver::https(&authority);
    let settings = format!("[notify]\nwebhook = \"{}/hook\"\n", receiver.url);
    let mut repo = TestRepo::scripted(&asks_then_reports("Which port?"), &settings);
    repo.variables.push(("SSL_CERT_FILE".to_owned(), authority.root()));
    add(&repo, "Ask");
    let up = repo.up();
    let notice = receiver.next();
    up.end();
    assert_eq!(notice.line, "POST /hook HTTP/1.1");
    let body: Value = serde_json::from_slice(&notice.body).unwrap();
    let key = format!("idempotency-key: {}", body["id"].as_str().unwrap()).to_ascii_lowercase();
    assert!(notice.headers.contains(&key), "{:?}", notice.headers);
    assert!(body["text"].as_str().unwrap().starts_with("Which port?"), "{body}");
}

#[test]
fn a_notice_in_flight_at_shutdown_arrives_once() {
    let settings = "[notify]\ncommand = [\"sh\", \"-c\", \"touch begun; flock --shared gate true; \
                    cat >> notice-question.json; echo >> notice-question.json\"]\n";
    let repo = TestRepo::scripted(&asks_then_reports("Which port?"), settings);
    let gate = Gate::closed(repo.folder.join("gate"));
    add(&repo, "Ask");
    let up = repo.up();
    repo.until("it is on its way", || repo.folder.join("begun").exists());
    up.signal("-TERM");
    up.wait_for_line("Stopping");
    gate.open();
    up.wait_for_exit();
    let first = received(&repo, "question");
    std::fs::remove_file(repo.folder.join("begun")).unwrap();
    // A notice that was still queued would be sent before that of the second question.
    add(&repo, "Ask again");
    let up = repo.up();
    repo.until("the second notice", || received(&repo, "question").len() > first.len());
    up.end();
    let ids: BTreeSet<String> =
        received(&repo, "question").iter().map(|notice| notice["id"].to_string()).collect();
    assert_eq!((received(&repo, "question").len(), ids.len()), (2, 2), "{ids:?}");
}

#[test]
fn every_end_of_a_run_sends_a_notice() {
    let receiver = TcpListener::bind("127.0.0.1:0").unwrap();
    let script = json!({ "scripts": [
        { "when": "well", "steps": [{ "say": "{\"outcome\": \"stop\"}" }] },
        { "when": "badly", "steps": [{ "say": "I am done." }] },
    ], "otherwise": [] });
    let repo = TestRepo::scripted(&script, &notify(&receiver.local_addr().unwrap().to_string()));
    std::fs::create_dir(repo.folder.join(".agent/recipes")).unwrap();
    std::fs::write(
        repo.folder.join(".agent/recipes/one.yml"),
        "id: one\nlabel: One\ndescription: One step\ninitial_step: one\nsteps:\n  one:\n    prompt: Go.\n    \
         outcomes: [stop]\n    on_outcome: { stop: { exit: stopped } }\n",
    )
    .unwrap();
    // One completes, one fails, one is stopped by a person, and a loop finds no tasks.
    for word in ["well", "badly", "soon"] {
        let message = format!("It ends {word}");
        repo.json(&["recipe", "start", "one", "--session", word, "--message", &message]);
    }
    repo.json(&["recipe", "exit", "--session", "soon"]);
    repo.json(&["recipe", "start", "plan-execute-review", "--session", "loop"]);
    let up = repo.up();
    let mut ended = Vec::new();
    while ended.len() < 4 {
        let notice = take_post(&receiver, "200 OK");
        // A failed task sends a notice, too.
        if notice["kind"] == "run_exited" {
            let field = |key: &str| notice[key].as_str().unwrap().to_owned();
            ended.push((field("session_id"), field("text")));
        }
    }
    up.end();
    ended.sort();
    insta::assert_snapshot!(
        ended.iter().map(|(session, text)| format!("{session}: {text}")).collect::<Vec<_>>().join("\n"), @"
        badly: The recipe one ended. The agent did not report a usable outcome
        loop: The recipe plan-execute-review ended. No tasks available to implement

        Iterations: 0
        Tasks completed: 0
        Tasks failed: 0
        Tasks discovered: 0
        Duplicates skipped: 0

        New session: baton loop --session loop. View results: baton task list. Edit tasks: baton task add
        soon: The recipe one ended. Recipe stopped on request
        well: The recipe one ended. Completed: stopped
        ");
}

/// Receives one POST and responds with this status.
fn take_post(receiver: &TcpListener, status: &str) -> Value {
    let (mut stream, _) = receiver.accept().unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length: ") {
            length = value.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n").unwrap();
    serde_json::from_slice(&body).unwrap()
}
