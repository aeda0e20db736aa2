//! Queued answers, expired questions, and following the inbox.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::{Value, json};

use super::{add, asks_then_reports, questions};
use crate::engine::test_repo::TestRepo;

#[test]
fn a_queued_answer_is_given_once() {
    let repo = TestRepo::scripted(&asks_then_reports("Which port?"), "");
    let first = add(&repo, "One");
    let second = add(&repo, "Two");
    repo.json(&["answer", "--queue", "8080", "--task", &second]);
    let up = repo.up();
    repo.until_queue(&second, "done");
    repo.until("the first question", || questions(&repo).len() == 1);
    up.end();
    assert_eq!(repo.show(&second)["output"], format!("{second} got 8080."));
    assert_eq!(questions(&repo)[0]["task_id"], first);
    // An answer that is queued while a question is pending is given at once.
    let queued = repo.json(&["answer", "--queue", "9090"]);
    assert_eq!(queued["queued"], json!([]));
    assert!(questions(&repo).is_empty());
}

#[test]
fn a_question_that_expires_without_a_default_ends_its_work() {
    let repo = TestRepo::scripted(&asks_then_reports("Which port?"), "[asking]\nexpires_after = 1\n");
    let task = add(&repo, "Ask");
    let up = repo.up();
    repo.until("the question", || !questions(&repo).is_empty() || repo.queue(&task) == "failed");
    up.kill();
    // The timer survives the kill.
    let up = repo.up();
    repo.until_queue(&task, "failed");
    up.end();
    assert!(questions(&repo).is_empty());
}

#[test]
fn following_the_inbox_prints_new_questions() {
    let repo = TestRepo::scripted(&asks_then_reports("Which port?"), "");
    let mut following =
        repo.baton(&["--json", "questions", "--follow"]).stdout(Stdio::piped()).spawn().unwrap();
    let task = add(&repo, "Ask");
    let up = repo.up();
    let line = BufReader::new(following.stdout.take().unwrap()).lines().next().unwrap().unwrap();
    let question: Value = serde_json::from_str(&line).unwrap();
    assert_eq!((&question["task_id"], &question["state"]), (&json!(task), &json!("pending")));
    following.kill().unwrap();
    following.wait().unwrap();
    up.end();
}

#[test]
fn a_question_is_answered_by_the_start_of_its_id_or_as_the_only_one() {
    let repo = TestRepo::scripted(&asks_then_reports("Which port?"), "");
    let first = add(&repo, "One");
    let up = repo.up();
    repo.until("the first question", || questions(&repo).len() == 1);
    let id = questions(&repo)[0]["id"].as_str().unwrap().to_owned();
    repo.json(&["answer", &id[..6], "8080"]);
    repo.until_queue(&first, "done");
    let second = add(&repo, "Two");
    repo.until("the second question", || questions(&repo).len() == 1);
    // Ids are random: the start that is nobody's is looked for, over both questions.
    let ids = [id, questions(&repo)[0]["id"].as_str().unwrap().to_owned()];
    let starts = (0..16).map(|digit| format!("Q-{digit:x}"));
    let strange = starts.into_iter().find(|start| ids.iter().all(|id| !id.starts_with(start))).unwrap();
    let unknown = repo.baton(&["answer", &strange, "1"]).output().unwrap();
    assert_eq!(unknown.status.code(), Some(2));
    repo.json(&["answer", "9090"]);
    repo.until_queue(&second, "done");
    let none = repo.baton(&["answer", "9090"]).output().unwrap();
    assert_eq!(none.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&none.stderr).contains("no question is pending"));
    up.end();
}

/// A program names the answer that its question has when nobody answers.
#[test]
fn the_default_of_a_programs_question_is_its_answer_when_nobody_answers() {
    for asking in ["unattended = \"default\"", "expires_after = 1"] {
        let repo = TestRepo::with_agent("", &format!("[asking]\n{asking}"));
        let program = r#"if [ -n "${BATON_RESUME:-}" ]; then printf '%s' "$prompt" > "{HOME}/prompt-$BATON_TASK_ID"; work; exit; fi
echo '{"baton":"ask","question":"Which colour?","default":"blue"}'"#;
        repo.set_agent(&program.replace("{HOME}", repo.home.to_str().unwrap()));
        let task = repo.add("Paint it", &[]);
        repo.work_until(&[(&task, "provisional")]);
        let prompt = repo.prompt(&task);
        assert!(prompt.contains("blue"), "{asking}: {prompt}");
    }
}
