//! A message becomes a task in its session's group, once.

use serde_json::{Value, json};

use super::client::send;
use super::place::Place;

fn groups(place: &Place) -> Vec<Value> {
    place.read("/api/task-groups")["task_groups"].as_array().unwrap().clone()
}

#[test]
fn ac_3_chat_creates_a_task_group() {
    let place = Place::without_agents().start();
    let project = place.project();
    assert_eq!(groups(&place), Vec::<Value>::new());
    let answer = place.post(&format!("/api/projects/{project}/chat"), &json!({ "content": "Fix the login" }));
    assert_eq!(answer.status, 201);
    let made = answer.json();
    assert_eq!(made["session_id"], format!("sess_{project}"));
    assert_eq!(made["task_group_id"], made["session_id"]);
    assert_eq!((&made["status"], &made["task_type"]), (&json!("QUEUED"), &json!("IMPLEMENTATION")));
    let groups = groups(&place);
    assert_eq!(groups.len(), 1);
    assert_eq!((&groups[0]["task_group_id"], &groups[0]["task_count"]), (&made["session_id"], &json!(1)));
    assert_eq!(groups[0]["first_prompt"], "Fix the login");
    assert_eq!(groups[0]["status_counts"], json!({ "QUEUED": 1 }));
    let tasks = place.read(&format!("/api/task-groups/sess_{project}/tasks"));
    assert_eq!(tasks["tasks"][0]["task_id"], made["task_id"]);
    assert_eq!(tasks["namespace"], "test");
}

#[test]
fn ac_4_a_thread_goes_on_in_its_group() {
    let place = Place::without_agents().start();
    let project = place.project();
    for content in ["First", "Second", "Third"] {
        place.chat(&project, &json!({ "content": content, "session_id": "test-session" }));
    }
    let groups = groups(&place);
    assert_eq!(groups.len(), 1, "{groups:?}");
    assert_eq!((&groups[0]["task_group_id"], &groups[0]["task_count"]), (&json!("test-session"), &json!(3)));
}

#[test]
fn the_type_is_guessed_and_can_be_said() {
    let place = Place::without_agents().start();
    let project = place.project();
    for (content, task_type, expected) in [
        ("What does it do?", None, "READ_INFO"),
        ("Summarize the history", None, "REPORT"),
        ("What does it do?", Some("REPORT"), "REPORT"),
        ("Force push the branch", None, "DANGEROUS_OP"),
    ] {
        let id = place.chat(&project, &json!({ "content": content, "task_type": task_type }));
        assert_eq!(place.task(&id)["task_type"], expected, "{content}");
    }
}

#[test]
fn a_message_sent_again_with_its_key_is_there_once() {
    let mut place = Place::without_agents().start();
    let project = place.project();
    let chat = |place: &Place, key: &str, body: &Value| {
        let path = format!("/api/projects/{project}/chat");
        send(&place.address, "POST", &path, &[("Idempotency-Key", key)], Some(body.to_string().as_bytes()))
    };
    let body = json!({ "content": "Fix the login" });
    let first = chat(&place, "once", &body);
    assert_eq!((first.status, chat(&place, "once", &body).json()), (201, first.json()));
    place.kill();
    place.up(&["--listen", "127.0.0.1:0"]);
    assert_eq!(chat(&place, "once", &body).json(), first.json(), "also after a crash");
    let other = json!({ "content": "Fix the login", "task_type": "REPORT" });
    assert_eq!(chat(&place, "once", &other).error(), (409, "CONFLICT".to_owned()));
    assert_eq!(chat(&place, "twice", &body).status, 201);
    assert_eq!(groups(&place)[0]["task_count"], 2);
    for bad in ["", "a b", &"x".repeat(256)] {
        assert_eq!(chat(&place, bad, &body).error(), (400, "INVALID_INPUT".to_owned()), "{bad}");
    }
}

#[test]
fn one_key_sent_many_times_at_once_makes_one_task() {
    let place = Place::without_agents().start();
    let project = place.project();
    let path = format!("/api/projects/{project}/chat");
    let body = json!({ "content": "Fix the login" }).to_string();
    let answers: Vec<Value> = std::thread::scope(|scope| {
        let sending = |_| {
            scope.spawn(|| {
                let answer =
                    send(&place.address, "POST", &path, &[("Idempotency-Key", "k")], Some(body.as_bytes()));
                assert_eq!(answer.status, 201, "{answer:?}");
                answer.json()
            })
        };
        let threads: Vec<_> = (0..16).map(sending).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    assert_eq!(groups(&place)[0]["task_count"], 1);
}

#[test]
fn lists_come_in_pages() {
    let place = Place::without_agents().start();
    let project = place.project();
    let ids: Vec<String> =
        (0..5).map(|number| place.chat(&project, &json!({ "content": format!("Task {number}") }))).collect();
    let mut found = Vec::new();
    let mut path = "/api/tasks?limit=2".to_owned();
    loop {
        let page = place.read(&path);
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
        place.read(&format!("/api/tasks?project_id={project}&status=QUEUED"))["tasks"]
            .as_array()
            .unwrap()
            .len(),
        5
    );
    assert_eq!(place.read("/api/tasks?queue=done")["tasks"], json!([]));
    assert_eq!(place.read("/api/tasks/ready?limit=3")["tasks"].as_array().unwrap().len(), 3);
}
