//! A question is shown and answered once, and its task continues with the answer.

use serde_json::{Value, json};

use super::client::post;
use super::test_server::TestServer;

fn asking() -> Value {
    json!([
        { "resumed": false, "steps": [{ "turns": 1 }, { "ask": { "question": "Formal or casual?", "options": ["formal", "casual"] } }] },
        { "resumed": true, "steps": [
            { "read_answer": "The answer (" }, { "turns": 1 },
            { "write": { "path": "greeting.txt", "text": "{{answer}}\n" } },
            { "commit": "Greet" },
            { "result": { "status": "COMPLETE", "output": "It is {{answer}} now." } },
        ]},
    ])
}

#[test]
fn ac_6_awaiting_response_shows_the_question_and_takes_the_reply() {
    let mut server = TestServer::new(&asking()).start();
    let project = server.project();
    let id = server.chat(&project, &json!({ "content": "Add a greeting" }));
    let task = server.wait_for_status(&id, "AWAITING_RESPONSE");
    assert_eq!(task["show_reply_ui"], true);
    assert_eq!(task["question"]["text"], "Formal or casual?");
    assert_eq!(server.read("/api/questions?state=pending")["questions"][0]["id"], task["question"]["id"]);

    // The question survives a restart.
    server.stop();
    server.up(&["--listen", "127.0.0.1:0"]);
    assert_eq!(server.task(&id)["question"], task["question"]);

    let path = format!("/api/tasks/{id}/reply");
    let answer = server.post(&path, &json!({ "reply": "formal" }));
    assert_eq!(answer.status, 200, "{answer:?}");
    let expected = json!({ "task_id": id, "old_status": "AWAITING_RESPONSE", "new_status": "QUEUED", "queue": "incoming" });
    assert_eq!(answer.json(), expected);

    // The same task continues, and its work can be accepted.
    let done = server.wait_for_queue(&id, "provisional");
    assert_eq!(done["output"], "It is formal now.");
    assert_eq!(done["attempts"].as_array().unwrap().len(), 2);
    assert_eq!(done["attempts"][1]["attempt"]["resumes"], done["attempts"][0]["attempt"]["id"]);
    assert_eq!(done["verified"]["commits"], 1);
    let diff = server.read(&format!("/api/tasks/{id}/diff"));
    assert!(diff["text"].as_str().unwrap().contains("+formal"), "{diff}");

    let entries = server.read(&format!("/api/projects/{project}/conversation"));
    let kinds: Vec<&str> =
        entries["entries"].as_array().unwrap().iter().map(|entry| entry["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["message", "question", "answer", "result"], "{entries}");

    let accepted = server.post(&format!("/api/tasks/{id}/accept"), &json!({}));
    assert_eq!((accepted.status, &accepted.json()["new_status"]), (200, &json!("COMPLETE")), "{accepted:?}");
    let again = server.post(&format!("/api/tasks/{id}/accept"), &json!({}));
    assert_eq!(again.error(), (409, "INVALID_STATUS".to_owned()));
}

/// How many were accepted, and how many refused.
fn tally(answers: &[super::client::Answer]) -> (usize, usize) {
    let good = answers.iter().filter(|answer| answer.status == 200).count();
    let refused = answers.iter().filter(|answer| {
        answer.status == 409 && ["ALREADY_ANSWERED", "INVALID_STATUS"].contains(&answer.error().1.as_str())
    });
    (good, refused.count())
}

#[test]
fn of_many_concurrent_replies_exactly_one_is_accepted() {
    let script = json!([{ "resumed": false, "steps": [{ "ask": { "question": "Go on?" } }] }]);
    let server = TestServer::new(&script).start();
    let project = server.project();
    let id = server.chat(&project, &json!({ "content": "Add a greeting" }));
    let question =
        server.wait_for_status(&id, "AWAITING_RESPONSE")["question"]["id"].as_str().unwrap().to_owned();
    let paths = [format!("/api/tasks/{id}/reply"), format!("/api/questions/{question}/answer")];
    let answers: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16)
            .map(|number| {
                let (address, path) = (&server.address, &paths[number % 2]);
                let key = ["reply", "answer"][number % 2];
                scope.spawn(move || post(address, path, &json!({ key: format!("number {number}") })))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(tally(&answers), (1, 15), "{answers:?}");
    let again = server.post(&paths[1], &json!({ "answer": "late" }));
    assert_eq!(again.error(), (409, "ALREADY_ANSWERED".to_owned()));
}

#[test]
fn a_cancelled_task_takes_no_reply() {
    let script = json!([{ "steps": [{ "ask": { "question": "Go on?" } }] }]);
    let server = TestServer::new(&script).start();
    let project = server.project();
    let id = server.chat(&project, &json!({ "content": "Add a greeting" }));
    let question =
        server.wait_for_status(&id, "AWAITING_RESPONSE")["question"]["id"].as_str().unwrap().to_owned();
    let cancelled = server.post(&format!("/api/tasks/{id}/cancel"), &json!({ "reason": "Not needed" }));
    assert_eq!((cancelled.status, &cancelled.json()["new_status"]), (200, &json!("CANCELLED")));
    let reply = server.post(&format!("/api/tasks/{id}/reply"), &json!({ "reply": "yes" }));
    assert_eq!(reply.error(), (409, "INVALID_STATUS".to_owned()));
    let answer = server.post(&format!("/api/questions/{question}/answer"), &json!({ "answer": "yes" }));
    assert_eq!(answer.error(), (409, "ALREADY_ANSWERED".to_owned()));
}
