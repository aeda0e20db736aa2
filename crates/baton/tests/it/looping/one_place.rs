//! One decision has one place: what is decided on a subtask's task closes the loop's question about it.

use serde_json::{Value, json};

use super::stopping::{answer, busy_server, start, titled};

/// The text and the id of the next question.
fn asked(listener: &mut crate::server::websocket::Socket) -> (String, String) {
    let asked = listener.find(|message| message["type"] == "question_asked").unwrap();
    let field = |key: &str| asked["question"][key].as_str().unwrap().to_owned();
    (field("text"), field("id"))
}

#[test]
fn a_decision_on_the_task_closes_the_question_of_its_loop() {
    let again = json!({ "when": "Use tabs.", "steps": [
        { "write": { "path": "tabs.txt", "text": "\t\n" } },
        { "commit": "Use tabs" },
        { "result": { "status": "COMPLETE", "output": "Tabs." } },
    ] });
    let server = busy_server(&[again], "");
    let mut listener = start(&server, "Build it");
    answer(&server, &mut listener, "Ready to execute?", "YES");
    answer(&server, &mut listener, "Execute: First part?", "YES");
    let (text, question) = asked(&mut listener);
    assert!(text.starts_with("Done: First part?"), "{text}");
    let id = titled(&server, "First part")["task_id"].as_str().unwrap().to_owned();
    let inbox = server.get("/").body;
    assert!(inbox.contains(&question), "{inbox}");
    assert!(!inbox.contains(&format!("/tasks/{id}/do/accept")), "the question is the one place: {inbox}");
    // Accepted where the task is shown.
    assert_eq!(server.post(&format!("/api/tasks/{id}/accept"), &json!({})).status, 200);
    let (text, next) = asked(&mut listener);
    assert!(text.starts_with("Execute: Second part?"), "{text}");
    let closed = server.read(&format!("/api/questions/{question}"));
    assert_eq!((&closed["state"], &closed["answer"]), (&json!("answered"), &json!("YES")), "{closed}");
    let yes = server.post(&format!("/api/questions/{next}/answer"), &json!({ "answer": "YES" }));
    assert_eq!(yes.status, 200, "{yes:?}");
    // Rejected there: an agent works on it again, and the loop asks once more.
    let (text, _) = asked(&mut listener);
    assert!(text.starts_with("Done: Second part?"), "{text}");
    let id = titled(&server, "Second part")["task_id"].as_str().unwrap().to_owned();
    let rejected = server.post(&format!("/api/tasks/{id}/reject"), &json!({ "reason": "Use tabs." }));
    assert_eq!(rejected.status, 200, "{rejected:?}");
    let (text, _) = asked(&mut listener);
    assert!(text.starts_with("Done: Second part?"), "{text}");
    let attempts: Value = server.task(&id)["attempts"].clone();
    assert_eq!(attempts.as_array().unwrap().len(), 2, "{attempts}");
    // Cancelled there: nothing is left to decide about it.
    assert_eq!(server.post(&format!("/api/tasks/{id}/cancel"), &json!({})).status, 200);
    let (text, _) = asked(&mut listener);
    assert!(text.starts_with("Ready for review?"), "{text}");
}

#[test]
fn a_subtask_that_a_person_let_run_is_asked_about_as_finished() {
    let server = busy_server(&[], "");
    let mut listener = start(&server, "Build it");
    answer(&server, &mut listener, "Ready to execute?", "YES");
    let (text, question) = asked(&mut listener);
    assert!(text.starts_with("Execute: First part?"), "{text}");
    let release = |title: &str| {
        let id = titled(&server, title)["task_id"].as_str().unwrap().to_owned();
        assert_eq!(server.post(&format!("/api/tasks/{id}/release"), &json!({})).status, 200);
        id
    };
    // While it is asked about, and before.
    let (first, second) = (release("First part"), release("Second part"));
    let (text, done) = asked(&mut listener);
    assert!(text.starts_with("Done: First part?"), "{text}");
    let closed = server.read(&format!("/api/questions/{question}"));
    assert_eq!((&closed["state"], &closed["answer"]), (&json!("answered"), &json!("YES")), "{closed}");
    let yes = server.post(&format!("/api/questions/{done}/answer"), &json!({ "answer": "YES" }));
    assert_eq!(yes.status, 200, "{yes:?}");
    let (text, _) = asked(&mut listener);
    assert!(text.starts_with("Done: Second part?"), "{text}");
    for id in [first, second] {
        let view = server.task(&id);
        assert_eq!(view["attempts"].as_array().unwrap().len(), 1, "nobody rejected it: {view}");
    }
}

#[test]
fn a_failed_subtask_that_is_retried_counts_as_what_becomes_of_it() {
    let server = busy_server(&[], "");
    let mut listener = start(&server, "Build it");
    answer(&server, &mut listener, "Ready to execute?", "YES");
    answer(&server, &mut listener, "Execute: First part?", "YES");
    answer(&server, &mut listener, "Done: First part?", "FAILED");
    let (text, second) = asked(&mut listener);
    assert!(text.starts_with("Execute: Second part?"), "{text}");
    let retry = || {
        let id = titled(&server, "First part")["task_id"].as_str().unwrap().to_owned();
        let retried = server.post(&format!("/api/tasks/{id}/retry"), &json!({}));
        assert_eq!(retried.status, 200, "{retried:?}");
        server.wait_for_queue(&id, "provisional");
    };
    // While another one is asked about, whose question stays.
    retry();
    let no = server.post(&format!("/api/questions/{second}/answer"), &json!({ "answer": "NO" }));
    assert_eq!(no.status, 200, "{no:?}");
    answer(&server, &mut listener, "Done: First part?", "FAILED");
    let (text, gate) = asked(&mut listener);
    assert!(text.starts_with("Ready for review?") && text.contains("First part: failed"), "{text}");
    // While the gate counts it as failed.
    retry();
    answer(&server, &mut listener, "Done: First part?", "YES");
    let closed = server.read(&format!("/api/questions/{gate}"));
    assert!(closed["answer"].as_str().unwrap().ends_with("was started again"), "{closed}");
    let (text, _) = asked(&mut listener);
    assert!(text.starts_with("Ready for review?") && text.contains("First part: completed"), "{text}");
}
