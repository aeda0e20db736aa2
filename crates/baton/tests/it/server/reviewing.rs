//! A review over REST: a decision, with remarks that reach the author.

use serde_json::{Value, json};

use super::memory::prompts;
use super::test_server::TestServer;

fn server() -> TestServer {
    let work = |text: &str| {
        json!([
            { "write": { "path": "hello.txt", "text": text } },
            { "commit": "Say it" },
            { "result": { "status": "COMPLETE", "output": "Said." } },
        ])
    };
    let scripts = json!([
        { "when": "Greet", "attempt": 1, "steps": work("hi\n") },
        { "when": "Greet", "attempt": 2, "steps": work("Good morning\n") },
    ]);
    TestServer::new(&scripts).start()
}

#[test]
fn the_remarks_of_a_review_reach_the_author() {
    let server = server();
    let project = server.project();
    let task = server.chat(&project, &json!({ "content": "Greet", "task_type": "IMPLEMENTATION" }));
    let path = format!("/api/tasks/{task}/review");
    server.wait_for_queue(&task, "provisional");

    let noted = json!({ "verdict": "comment", "body": "I will look at it tomorrow." });
    assert_eq!(server.post(&path, &noted).status, 200);
    assert_eq!(server.task(&task)["queue"], "provisional", "a comment decides nothing");

    let comments = json!([
        { "path": "hello.txt", "line": 1, "body": "Too short." },
        { "path": "hello.txt", "line": 3, "side": "old", "body": "Why did this go?" },
    ]);
    let review = json!({ "verdict": "reject", "body": "Almost.", "comments": comments });
    let rejected = server.post(&path, &review);
    assert_eq!((rejected.status, &rejected.json()["new_status"]), (200, &json!("QUEUED")), "{rejected:?}");
    let again = server.wait_for_queue(&task, "provisional");
    let told = prompts(&server, &again);
    for said in [
        "I will look at it tomorrow.",
        "Almost.\n\n- hello.txt:1: Too short.\n- hello.txt:3 (as it was): Why did this go?",
    ] {
        assert!(told.contains(said), "{said} is missing in\n{told}");
    }
    assert_eq!(server.post(&path, &json!({ "verdict": "accept", "body": "Thank you." })).status, 200);
    server.wait_for_queue(&task, "done");
    let said = server.read(&format!("/api/tasks/{task}/messages"));
    let texts: Vec<&Value> =
        said["messages"].as_array().unwrap().iter().map(|each| &each["content"]).collect();
    assert!(texts.ends_with(&[&json!("I will look at it tomorrow."), &json!("Thank you.")]), "{said:#}");
    let late = server.post(&path, &json!({ "verdict": "accept" }));
    assert_eq!(late.error(), (409, "INVALID_STATUS".to_owned()));
}

#[test]
fn a_review_that_says_nothing_or_nonsense_is_refused_and_changes_nothing() {
    let server = server();
    let project = server.project();
    let task = server.chat(&project, &json!({ "content": "Greet", "task_type": "IMPLEMENTATION" }));
    server.wait_for_queue(&task, "provisional");
    let messages = || server.read(&format!("/api/tasks/{task}/messages"));
    let before = messages();
    for body in [
        json!({ "verdict": "reject" }),
        json!({ "verdict": "comment", "body": "  " }),
        json!({ "verdict": "perhaps" }),
        json!({ "verdict": "reject", "comments": [{ "path": "a", "line": 0, "body": "x" }] }),
        json!({ "verdict": "reject", "comments": [{ "path": " ", "line": 1, "body": "x" }] }),
        json!({ "verdict": "reject", "comments": [{ "path": "a", "line": 1, "body": "" }] }),
        json!({ "verdict": "reject", "body": "x", "comment": [] }),
    ] {
        let refused = server.post(&format!("/api/tasks/{task}/review"), &body);
        assert_eq!(refused.status, 400, "{body}: {refused:?}");
    }
    assert_eq!(server.task(&task)["queue"], "provisional");
    assert_eq!(messages(), before);
}
