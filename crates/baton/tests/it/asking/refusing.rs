//! Questions that are refused, and the reason that is returned.

use std::fs;
use std::process::{Child, Output, Stdio};

use serde_json::Value;

use super::questions;
use crate::engine::test_repo::TestRepo;
use crate::gate::Gate;
use crate::server::client;

/// An agent that writes its token to a file and waits until the gate opens.
const WAITS: &str = r#"
printf '%s' "$BATON_TOKEN" > "$BATON_TOKEN_FILE.part"
mv "$BATON_TOKEN_FILE.part" "$BATON_TOKEN_FILE"
flock --shared "$BATON_TOKEN_FILE.gate" true
echo Done.
"#;

fn repo() -> (TestRepo, Gate) {
    let mut repo = TestRepo::with_agent(WAITS, "");
    repo.variables.push(("BATON_TOKEN_FILE".to_owned(), repo.home.join("token").display().to_string()));
    let settings = repo.folder.join(".agent/baton.toml");
    let text = fs::read_to_string(&settings).unwrap();
    fs::write(&settings, text + "env = [\"BATON_TOKEN_FILE\"]\n").unwrap();
    let gate = Gate::closed(repo.home.join("token.gate"));
    (repo, gate)
}

fn asking(repo: &TestRepo, token: &str, question: &str) -> Child {
    let mut command = repo.baton(&["ask", question]);
    command.env("BATON_TOKEN", token).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn parse_stdout(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

/// I6: one question at a time, and the other is refused, not queued.
#[test]
fn i6_of_two_concurrent_questions_one_is_refused() {
    let (repo, gate) = repo();
    super::add(&repo, "Ask twice");
    let up = repo.up();
    repo.until("the token", || repo.home.join("token").exists());
    let token = fs::read_to_string(repo.home.join("token")).unwrap();
    let both = ["Which port?", "Which colour?"].map(|question| asking(&repo, &token, question));
    let answers = both.map(|child| child.wait_with_output().unwrap());
    let mut codes: Vec<Option<i32>> = answers.iter().map(|output| output.status.code()).collect();
    codes.sort();
    assert_eq!(codes, [Some(0), Some(4)], "{answers:?}");
    let refused = answers.iter().map(parse_stdout).find_map(|answer| answer.get("refused").cloned()).unwrap();
    assert_eq!(refused["code"], "question_pending", "{refused}");
    for key in ["message", "next"] {
        assert!(refused[key].as_str().is_some_and(|text| !text.trim().is_empty()), "{refused}");
    }
    assert_eq!(questions(&repo).len(), 1, "a refused question is not stored");
    gate.open();
    up.end();
}

#[test]
fn i6_the_agent_of_a_lost_attempt_may_not_ask() {
    let (repo, gate) = repo();
    let task = super::add(&repo, "Ask");
    let up = repo.up();
    repo.until("the token", || repo.home.join("token").exists());
    let first = fs::read_to_string(repo.home.join("token")).unwrap();
    fs::remove_file(repo.home.join("token")).unwrap();
    // Baton is killed; another agent continues the task, and the first one still has its token.
    up.kill();
    let up = repo.up();
    repo.until("another token", || repo.home.join("token").exists());
    let second = fs::read_to_string(repo.home.join("token")).unwrap();
    assert_ne!(first, second);
    let line = up.wait_for_line("Listening on http://");
    let address = line.split_once("http://").unwrap().1;
    let bearer = format!("Bearer {first}");
    let body = br#"{"question":"May I still ask?"}"#;
    let answer =
        client::send(address, "POST", "/api/attempt/questions", &[("authorization", &bearer)], Some(body));
    assert_eq!(answer.error(), (403, "FORBIDDEN".to_owned()), "{answer:?}");
    assert_eq!(answer.json()["reason"], "not_owner");
    let refused = asking(&repo, &first, "May I still ask?").wait_with_output().unwrap();
    assert_eq!(refused.status.code(), Some(4), "{refused:?}");
    assert_eq!(parse_stdout(&refused)["refused"]["code"], "not_owner", "{refused:?}");
    assert!(questions(&repo).is_empty());
    let asked = asking(&repo, &second, "May I ask?").wait_with_output().unwrap();
    assert_eq!(asked.status.code(), Some(0), "{asked:?}");
    assert_eq!(questions(&repo)[0]["task_id"], task.as_str());
    let bearer = format!("Bearer {second}");
    let answer =
        client::send(address, "POST", "/api/attempt/questions", &[("authorization", &bearer)], Some(body));
    assert_eq!(answer.error(), (409, "CONFLICT".to_owned()), "{answer:?}");
    assert_eq!(answer.json()["reason"], "question_pending");
    gate.open();
    up.end();
}
