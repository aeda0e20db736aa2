//! A message becomes a task in its session's group, once.

use serde_json::{Value, json};

use super::client::send;
use super::test_server::TestServer;

fn groups(server: &TestServer) -> Vec<Value> {
    server.read("/api/task-groups")["task_groups"].as_array().unwrap().clone()
}

#[test]
fn ac_3_chat_creates_a_task_group() {
    let server = TestServer::without_agents().start();
    let project = server.project();
    assert_eq!(groups(&server), Vec::<Value>::new());
    let answer =
        server.post(&format!("/api/projects/{project}/chat"), &json!({ "content": "Fix the login" }));
    assert_eq!(answer.status, 201);
    let made = answer.json();
    assert_eq!(made["session_id"], format!("sess_{project}"));
    assert_eq!(made["task_group_id"], made["session_id"]);
    assert_eq!((&made["status"], &made["task_type"]), (&json!("QUEUED"), &json!("IMPLEMENTATION")));
    let groups = groups(&server);
    assert_eq!(groups.len(), 1);
    assert_eq!((&groups[0]["task_group_id"], &groups[0]["task_count"]), (&made["session_id"], &json!(1)));
    assert_eq!(groups[0]["first_prompt"], "Fix the login");
    assert_eq!(groups[0]["status_counts"], json!({ "QUEUED": 1 }));
    let tasks = server.read(&format!("/api/task-groups/sess_{project}/tasks"));
    assert_eq!(tasks["tasks"][0]["task_id"], made["task_id"]);
    assert_eq!(tasks["namespace"], "test");
}

#[test]
fn ac_4_messages_of_a_session_share_its_group() {
    let server = TestServer::without_agents().start();
    let project = server.project();
    for content in ["First", "Second", "Third"] {
        server.chat(&project, &json!({ "content": content, "session_id": "test-session" }));
    }
    let groups = groups(&server);
    assert_eq!(groups.len(), 1, "{groups:?}");
    assert_eq!((&groups[0]["task_group_id"], &groups[0]["task_count"]), (&json!("test-session"), &json!(3)));
}

#[test]
fn the_task_type_is_guessed_or_given() {
    let server = TestServer::without_agents().start();
    let project = server.project();
    for (content, task_type, expected) in [
        ("What does it do?", None, "READ_INFO"),
        ("Summarize the history", None, "REPORT"),
        ("What does it do?", Some("REPORT"), "REPORT"),
        ("Force push the branch", None, "DANGEROUS_OP"),
    ] {
        let id = server.chat(&project, &json!({ "content": content, "task_type": task_type }));
        assert_eq!(server.task(&id)["task_type"], expected, "{content}");
    }
}

#[test]
fn a_message_repeated_with_its_key_creates_one_task() {
    let mut server = TestServer::without_agents().start();
    let project = server.project();
    let chat = |server: &TestServer, key: &str, body: &Value| {
        let path = format!("/api/projects/{project}/chat");
        send(&server.address, "POST", &path, &[("Idempotency-Key", key)], Some(body.to_string().as_bytes()))
    };
    let body = json!({ "content": "Fix the login" });
    let first = chat(&server, "once", &body);
    assert_eq!((first.status, chat(&server, "once", &body).json()), (201, first.json()));
    server.kill();
    server.up(&["--listen", "127.0.0.1:0"]);
    assert_eq!(chat(&server, "once", &body).json(), first.json(), "also after a crash");
    let other = json!({ "content": "Fix the login", "task_type": "REPORT" });
    assert_eq!(chat(&server, "once", &other).error(), (409, "CONFLICT".to_owned()));
    assert_eq!(chat(&server, "twice", &body).status, 201);
    assert_eq!(groups(&server)[0]["task_count"], 2);
    for bad in ["", "a b", &"x".repeat(256)] {
        assert_eq!(chat(&server, bad, &body).error(), (400, "INVALID_INPUT".to_owned()), "{bad}");
    }
}

#[test]
fn one_key_sent_many_times_at_once_creates_one_task() {
    let server = TestServer::without_agents().start();
    let project = server.project();
    let path = format!("/api/projects/{project}/chat");
    let body = json!({ "content": "Fix the login" }).to_string();
    let answers: Vec<Value> = std::thread::scope(|scope| {
        let sending = |_| {
            scope.spawn(|| {
                let answer =
                    send(&server.address, "POST", &path, &[("Idempotency-Key", "k")], Some(body.as_bytes()));
                assert_eq!(answer.status, 201, "{answer:?}");
                answer.json()
            })
        };
        let threads: Vec<_> = (0..16).map(sending).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    assert_eq!(groups(&server)[0]["task_count"], 1);
}

#[test]
fn lists_come_in_pages() {
    let server = TestServer::without_agents().start();
    let project = server.project();
    let ids: Vec<String> = (0..5)
        .map(|number| {
            server.chat(
                &project,
                &json!({ "content": format!("Task {number}"), "session_id": format!("s{number}") }),
            )
        })
        .collect();
    let mut found = Vec::new();
    let mut path = "/api/tasks?limit=2".to_owned();
    loop {
        let page = server.read(&path);
        let tasks = page["tasks"].as_array().unwrap();
        assert!(tasks.len() <= 2);
        found.extend(tasks.iter().map(|task| task["task_id"].as_str().unwrap().to_owned()));
        match page["next_cursor"].as_str() {
            Some(cursor) => path = format!("/api/tasks?limit=2&cursor={cursor}"),
            None => break,
        }
    }
    found.sort();
    let mut expected = ids.clone();
    expected.sort();
    assert_eq!(found, expected);
    assert_eq!(
        server.read(&format!("/api/tasks?project_id={project}&status=QUEUED"))["tasks"]
            .as_array()
            .unwrap()
            .len(),
        5
    );
    assert_eq!(server.read("/api/tasks?queue=done")["tasks"], json!([]));
    assert_eq!(server.read("/api/tasks/ready?limit=3")["tasks"].as_array().unwrap().len(), 3);
}
