//! The results of agents: a blocked task always has a question.

use serde_json::{Value, json};

use super::test_server::TestServer;

fn reporting(status: &str, reason: Option<&str>, output: &str) -> Value {
    json!({ "steps": [{ "result": { "status": status, "reason": reason, "output": output } }] })
}

/// The task of one message of this type, with an agent that reports this.
fn after(script: &Value, task_type: &str, status: &str) -> Value {
    let server = TestServer::new(&json!([script])).start();
    let project = server.project();
    let task = server.chat(&project, &json!({ "content": "Do it", "task_type": task_type }));
    server.wait_for_status(&task, status)
}

fn question_text(task: &Value) -> &str {
    task["question"]["text"].as_str().unwrap()
}

#[test]
fn ac_1_blocked_without_output_gets_the_fallback_question() {
    let task = after(&reporting("BLOCKED", None, ""), "READ_INFO", "AWAITING_RESPONSE");
    let question = question_text(&task);
    assert!(
        question.starts_with(
            "YES/NO: このタスクはコード変更を許可しますか？\n(Do you permit code changes for this task?)"
        ),
        "{task}"
    );
    assert_eq!(task["output"], question, "the output alone is enough to answer");
    assert_eq!(task["question"]["options"], json!(["YES", "NO"]));
    assert_eq!(task["show_reply_ui"], true);
}

#[test]
fn ac_1_a_dangerous_operation_is_blocked_with_a_question() {
    let task = after(&reporting("BLOCKED", None, ""), "DANGEROUS_OP", "BLOCKED");
    assert!(question_text(&task).contains("May it go ahead? (YES/NO)"), "{task}");
    assert!(task["output"].as_str().unwrap().contains("May it go ahead?"), "{task}");
    assert_eq!(task["show_reply_ui"], true);
}

#[test]
fn a_question_about_a_dangerous_operation_has_the_agents_words_or_says_nothing_of_them() {
    let words = "I dropped the staging tables.";
    let task = after(&reporting("INCOMPLETE", None, words), "DANGEROUS_OP", "AWAITING_RESPONSE");
    assert!(question_text(&task).ends_with(&format!("The agent wrote:\n{words}")), "{task}");
    // "Done" without a word or a commit is nothing that could be accepted.
    let task = after(&reporting("COMPLETE", None, ""), "DANGEROUS_OP", "AWAITING_RESPONSE");
    assert!(question_text(&task).contains("Baton does not know what it has done"), "{task}");
    assert!(!question_text(&task).contains("The agent wrote"), "{task}");
}

#[test]
fn ac_1_an_output_without_a_question_gets_one_appended() {
    let task = after(&reporting("BLOCKED", None, "I looked at everything."), "REPORT", "AWAITING_RESPONSE");
    let output = task["output"].as_str().unwrap();
    assert!(output.starts_with("I looked at everything.\n\nYES/NO: "), "{output}");
    let (asked, wrote) = question_text(&task).split_once("\n\nThe agent wrote:\n").unwrap();
    assert!(output.ends_with(asked), "{output}");
    assert_eq!(wrote, "I looked at everything.", "the question alone is enough, too");
}

#[test]
fn ac_2_an_implementation_is_never_blocked() {
    let task = after(&reporting("BLOCKED", None, ""), "IMPLEMENTATION", "AWAITING_RESPONSE");
    assert!(
        question_text(&task).starts_with("このタスクを実行するために、以下の情報を教えてください:"),
        "{task}"
    );
    let asked = "I need more. Which file should change?";
    let task = after(&reporting("BLOCKED", None, asked), "IMPLEMENTATION", "AWAITING_RESPONSE");
    assert_eq!(question_text(&task), asked, "its own question, and no other");
    assert_eq!(task["output"], asked);
}

#[test]
fn read_info_and_report_with_output_are_complete() {
    for (task_type, result) in
        [("READ_INFO", "COMPLETE"), ("REPORT", "NO_EVIDENCE"), ("READ_INFO", "INCOMPLETE")]
    {
        let task = after(&reporting(result, None, "It greets people."), task_type, "COMPLETE");
        assert_eq!(task["output"], "It greets people.");
        assert_eq!((&task["show_reply_ui"], &task["question"]), (&json!(false), &Value::Null));
    }
}

#[test]
fn a_timeout_and_an_interactive_prompt_have_questions_of_their_own() {
    let task = after(&reporting("BLOCKED", Some("TIMEOUT"), ""), "LIGHT_EDIT", "AWAITING_RESPONSE");
    assert!(
        question_text(&task).starts_with("タスクがタイムアウトしました。続行しますか？ (YES/NO)"),
        "{task}"
    );
    let task =
        after(&reporting("BLOCKED", Some("INTERACTIVE_PROMPT"), ""), "IMPLEMENTATION", "AWAITING_RESPONSE");
    assert!(
        question_text(&task).starts_with("対話的な確認が必要です。続行を許可しますか？ (YES/NO)"),
        "{task}"
    );
}

#[test]
fn a_report_waits_only_if_it_asks_its_reader() {
    for (output, status) in [
        ("FAQ\n\nHow do I run it? With make run.\nIs it fast? Yes, 12 ms.", "COMPLETE"),
        ("The user story says: \"Where is my order?\" and is covered.", "COMPLETE"),
        ("Please confirm that I may delete the old table.", "AWAITING_RESPONSE"),
        ("Le rapport est prêt. Voulez-vous que je corrige ?", "AWAITING_RESPONSE"),
    ] {
        let task = after(&reporting("COMPLETE", None, output), "REPORT", status);
        assert_eq!(task["output"], output);
    }
}

#[test]
fn a_dangerous_operation_without_commits_is_not_run_again() {
    let server = TestServer::new(&json!([reporting("COMPLETE", None, "The old table is gone.")])).start();
    let project = server.project();
    let task = server.chat(&project, &json!({ "content": "Do it", "task_type": "DANGEROUS_OP" }));
    let task = server.wait_for_queue(&task, "provisional");
    assert_eq!(task["attempts"].as_array().unwrap().len(), 1, "{task}");
}

#[test]
fn secrets_in_an_agents_output_are_stored_nowhere() {
    let secret = "ghp_0123456789abcdefABCDEF";
    let script = json!({ "steps": [
        { "log": format!("pushing with {secret}") },
        { "result": { "status": "COMPLETE", "output": format!("I used {secret} at https://mia:{secret}@example.org") } },
    ]});
    let server = TestServer::new(&json!([script])).start();
    let project = server.project();
    let id = server.chat(&project, &json!({ "content": "What is the remote?" }));
    let task = server.wait_for_status(&id, "COMPLETE");
    assert_eq!(task["output"], "I used [redacted] at https://mia:[redacted]@example.org");
    let log = server.get(&format!("/api/tasks/{id}/log")).body;
    assert!(log.contains("pushing with [redacted]"), "{log}");
    let everything = format!("{task}{log}{}", server.get(&format!("/api/tasks/{id}/events")).body);
    assert!(!everything.contains(secret), "{everything}");
}

#[test]
fn i22_what_a_person_refused_does_not_run_again() {
    for no in ["NO", "stop", "Not now, please."] {
        let script = reporting("BLOCKED", None, "May I drop the table?");
        let server = TestServer::new(&json!([script])).start();
        let project = server.project();
        let id = server.chat(&project, &json!({ "content": "Do it", "task_type": "DANGEROUS_OP" }));
        server.wait_for_status(&id, "BLOCKED");
        server.post(&format!("/api/tasks/{id}/reply"), &json!({ "reply": no }));
        let task = server.task(&id);
        assert_eq!(task["held_because"], format!("you refused what it asked for: {no}"), "{task:#}");
        assert_eq!(task["attempts"].as_array().unwrap().len(), 1, "{task:#}");
        // Only a person lets it go on.
        server.post(&format!("/api/tasks/{id}/release"), &json!({}));
        let task = server.wait_for_status(&id, "BLOCKED");
        assert_eq!(task["attempts"].as_array().unwrap().len(), 2, "{task:#}");
    }
}

/// Every way in which another task would be run again by itself.
#[test]
fn a_dangerous_operation_is_never_run_again_by_itself() {
    let work = json!([
        { "write": { "path": "dropped.txt", "text": "x\n" } },
        { "commit": "Drop it" },
        { "result": { "status": "COMPLETE", "output": "Dropped." } },
    ]);
    let limited = json!([
        { "result": { "status": "ERROR", "reason": "rate limit exceeded, retry after 1 second", "output": "" } },
    ]);
    for (steps, settings, status) in
        [(&work, "checks = { never = [\"false\"] }\n", "RUNNING"), (&limited, "", "BLOCKED")]
    {
        let server = TestServer::new(&json!([{ "steps": steps }]));
        let path = server.folder.join(".agent/baton.toml");
        let own = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{settings}{own}")).unwrap();
        let server = server.start();
        let project = server.project();
        let task = server.chat(&project, &json!({ "content": "Do it", "task_type": "DANGEROUS_OP" }));
        let queue = if status == "RUNNING" { "provisional" } else { "claimed" };
        server.wait_for_status(&task, status);
        let view = server.wait_for_queue(&task, queue);
        assert_eq!(view["attempts"].as_array().unwrap().len(), 1, "{view:#}");
        if status == "BLOCKED" {
            assert!(question_text(&view).contains("Its agent would have to run again"), "{view:#}");
            let stopped = server.post(&format!("/api/tasks/{task}/reply"), &json!({ "reply": "later" }));
            assert_eq!(stopped.status, 200, "{stopped:?}");
            assert!(server.task(&task)["held_because"].is_string());
        }
    }
}
