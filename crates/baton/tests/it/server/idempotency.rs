//! Calls that are repeated with their key: the same answer, and nothing is created twice.

use serde_json::{Value, json};

use super::client::{Answer, send};
use super::test_server::TestServer;
use crate::machines::network_cuts::faketime;

fn create(server: &TestServer, path: &str, key: &str, body: &Value) -> Answer {
    send(&server.address, "POST", path, &[("Idempotency-Key", key)], Some(body.to_string().as_bytes()))
}

#[test]
fn every_creating_call_answers_a_repeat_with_its_first_answer() {
    let mut server = TestServer::without_agents().start();
    let calls = [
        ("/api/tasks", json!({ "title": "Fix the login" })),
        ("/api/projects", json!({ "path": server.folder, "title": "Login" })),
        ("/api/routines", json!({ "title": "Update dependencies", "every": "Mon 06:00" })),
        ("/api/breakdowns", json!({ "title": "Share links", "description": "By mail." })),
        ("/api/sessions/design/recipe", json!({ "recipe_id": "document-design" })),
    ];
    let counts = |server: &TestServer| {
        let tasks = server.read("/api/tasks")["tasks"].as_array().unwrap().len();
        let projects = server.read("/api/projects")["projects"].as_array().unwrap().len();
        (tasks, projects, server.read("/api/routines")["routines"].as_array().unwrap().len())
    };
    let first: Vec<Answer> = calls.iter().map(|(path, body)| create(&server, path, "once", body)).collect();
    for (answer, (path, _)) in first.iter().zip(&calls) {
        assert_eq!(answer.status, 201, "{path}: {answer:?}");
    }
    let created = counts(&server);
    server.kill();
    server.up(&["--listen", "127.0.0.1:0"]);
    for (answer, (path, body)) in first.iter().zip(&calls) {
        let again = create(&server, path, "once", body);
        assert_eq!((again.status, again.json()), (201, answer.json()), "{path}");
        let other = json!({ "title": "Something else" });
        assert_eq!(create(&server, path, "once", &other).error(), (409, "CONFLICT".to_owned()), "{path}");
    }
    assert_eq!(counts(&server), created, "nothing was created twice");
    let another = create(&server, "/api/tasks", "twice", &calls[0].1);
    assert_ne!(another.json()["task_id"], first[0].json()["task_id"]);
}

#[test]
fn a_message_to_a_task_is_said_once() {
    let server = TestServer::without_agents().start();
    let task = create(&server, "/api/tasks", "task", &json!({ "title": "Fix the login" })).json();
    let path = format!("/api/tasks/{}/messages", task["task_id"].as_str().unwrap());
    let said: Vec<Answer> =
        (0..2).map(|_| create(&server, &path, "once", &json!({ "content": "Use the new form." }))).collect();
    assert_eq!((said[0].status, said[1].status), (202, 202), "{said:?}");
    assert_eq!(said[0].json(), said[1].json());
    let other = create(&server, &path, "once", &json!({ "content": "Use the old form." }));
    assert_eq!(other.error(), (409, "CONFLICT".to_owned()));
    assert_eq!(server.read(&path)["messages"].as_array().unwrap().len(), 1);
}

#[test]
fn a_token_is_created_once_by_its_name() {
    let server = TestServer::without_agents().start();
    let body = json!({ "name": "mia", "role": "operator" });
    assert_eq!(create(&server, "/api/tokens", "once", &body).status, 201);
    assert_eq!(create(&server, "/api/tokens", "once", &body).status, 409);
    assert_eq!(server.read("/api/tokens")["tokens"].as_array().unwrap().len(), 1);
}

#[test]
fn a_refused_call_may_be_corrected_under_its_key_and_a_bad_key_is_refused() {
    let server = TestServer::without_agents().start();
    let wrong = create(&server, "/api/tasks", "once", &json!({ "title": " " }));
    assert_eq!(wrong.error(), (400, "INVALID_INPUT".to_owned()));
    assert_eq!(create(&server, "/api/tasks", "once", &json!({ "title": "Fix it" })).status, 201);
    for key in ["", "a b"] {
        let refused = create(&server, "/api/tasks", key, &json!({ "title": "Fix it" }));
        assert_eq!(refused.error(), (400, "INVALID_INPUT".to_owned()), "{key:?}");
    }
    let twice = [("Idempotency-Key", "one"), ("Idempotency-Key", "two")];
    let body = json!({ "title": "Fix it" }).to_string();
    let refused = send(&server.address, "POST", "/api/tasks", &twice, Some(body.as_bytes()));
    assert_eq!(refused.error(), (400, "INVALID_INPUT".to_owned()));
}

#[test]
fn many_at_once_with_one_key_get_one_answer() {
    let server = TestServer::without_agents().start();
    let answers: Vec<Answer> = std::thread::scope(|scope| {
        let call = || create(&server, "/api/tasks", "once", &json!({ "title": "Fix the login" }));
        let calls: Vec<_> = (0..8).map(|_| scope.spawn(call)).collect();
        calls.into_iter().map(|call| call.join().unwrap()).collect()
    });
    for answer in &answers {
        assert_eq!((answer.status, answer.json()), (201, answers[0].json()), "{answers:?}");
    }
    assert_eq!(server.read("/api/tasks")["tasks"].as_array().unwrap().len(), 1);
}

#[test]
fn every_call_that_creates_takes_a_key_except_that_for_a_secret() {
    let server = TestServer::without_agents().start();
    let document = server.read("/api/openapi.json");
    let mut without = Vec::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        let post = &operations["post"];
        let creates = post["responses"].get("201").is_some();
        let parameters = post["parameters"].as_array().into_iter().flatten();
        let takes_key = parameters.into_iter().any(|one| one.to_string().contains("Idempotency-Key"));
        if creates && !takes_key {
            without.push(path.as_str());
        }
    }
    // The answer to it is not kept anywhere; a repeat is refused because the name is taken.
    assert_eq!(without, ["/api/tokens"]);
}

#[test]
fn a_routine_called_again_with_its_key_answers_what_it_did() {
    let server = TestServer::without_agents().start();
    let new = json!({ "title": "Look around", "on": "webhook" });
    let routine = create(&server, "/api/routines", "new", &new).json();
    let path = format!("/api/routines/{}/run", routine["routine_id"].as_str().unwrap());
    let content = json!({ "content": "It failed" });
    let first = create(&server, &path, "one", &content);
    assert_eq!(first.json()["status"], "started", "{first:?}");
    let second = create(&server, &path, "two", &content);
    assert_eq!(second.json()["status"], "skipped", "{second:?}");
    let task = first.json()["task_id"].as_str().unwrap().to_owned();
    assert_eq!(server.post(&format!("/api/tasks/{task}/cancel"), &json!({})).status, 200);
    // There would be room for it by now, but it has been answered.
    assert_eq!(create(&server, &path, "two", &content).json(), second.json());
    assert_eq!(create(&server, &path, "one", &content).json(), first.json());
    let other = json!({ "content": "It failed again" });
    assert_eq!(create(&server, &path, "one", &other).error(), (409, "CONFLICT".to_owned()));
    assert_eq!(server.read("/api/tasks")["tasks"].as_array().unwrap().len(), 1);
}

#[test]
fn a_call_whose_answer_was_lost_with_baton_is_answered_when_it_is_repeated() {
    let mut server = TestServer::without_agents().start();
    let task = create(&server, "/api/tasks", "first", &json!({ "title": "Fix the login" })).json();
    let routine =
        create(&server, "/api/routines", "hook", &json!({ "title": "Look", "on": "webhook" })).json();
    let said = format!("/api/tasks/{}/messages", task["task_id"].as_str().unwrap());
    let called = format!("/api/routines/{}/run", routine["routine_id"].as_str().unwrap());
    let calls = [
        ("/api/tasks", json!({ "title": "Fix the logout" }), 201, "/title", json!("Fix the logout")),
        ("/api/projects", json!({ "path": server.folder, "title": "Login" }), 201, "/title", json!("Login")),
        ("/api/routines", json!({ "title": "Tidy", "every": "Mon 06:00" }), 201, "/title", json!("Tidy")),
        (
            "/api/breakdowns",
            json!({ "title": "Share", "run": true }),
            201,
            "/breakdown/status",
            json!("QUEUED"),
        ),
        ("/api/sessions/s/recipe", json!({ "recipe_id": "document-design" }), 201, "/session_id", json!("s")),
        (
            said.as_str(),
            json!({ "content": "Use the new form." }),
            202,
            "/content",
            json!("Use the new form."),
        ),
        (called.as_str(), json!({ "content": "It failed" }), 201, "/status", json!("started")),
    ];
    for (path, body, status, pointer, wanted) in &calls {
        server.stop();
        // What the call is for has been written; its answer has not.
        server.variables = vec![("BATON_CRASH".to_owned(), "before:receipt".to_owned())];
        server.up(&["--listen", "127.0.0.1:0"]);
        let broken = std::thread::scope(|scope| scope.spawn(|| create(&server, path, "lost", body)).join());
        assert!(broken.is_err(), "{path} was answered: {broken:?}");
        server.kill();
        server.variables.clear();
        server.up(&["--listen", "127.0.0.1:0"]);
        let answer = create(&server, path, "lost", body);
        assert_eq!(
            (answer.status, answer.json().pointer(pointer)),
            (*status, Some(wanted)),
            "{path}: {answer:?}"
        );
        assert_eq!(create(&server, path, "lost", body).json(), answer.json(), "{path}");
        let other = create(&server, path, "lost", &json!({ "title": "Another" }));
        assert_eq!(other.error(), (409, "CONFLICT".to_owned()), "{path}");
    }
    // The two at the beginning, and one for each call that creates one.
    let tasks = server.read("/api/tasks")["tasks"].as_array().unwrap().len();
    assert_eq!(tasks, 5, "{}", server.read("/api/tasks"));
    assert_eq!(server.read("/api/routines")["routines"].as_array().unwrap().len(), 2);
    assert_eq!(server.read(&said)["messages"].as_array().unwrap().len(), 1);
}

#[test]
fn a_tool_that_is_called_again_with_its_key_creates_nothing_more() {
    let server = TestServer::without_agents().start();
    let body = json!({ "title": "Fix the login" });
    let answers: Vec<Answer> =
        (0..2).map(|_| create(&server, "/api/tools/add_task", "once", &body)).collect();
    assert_eq!((answers[0].status, answers[1].status), (200, 200), "{answers:?}");
    assert_eq!(answers[0].json(), answers[1].json());
    let other = create(&server, "/api/tools/add_task", "once", &json!({ "title": "Another" }));
    assert_eq!(other.error(), (409, "CONFLICT".to_owned()));
    assert_eq!(server.read("/api/tasks")["tasks"].as_array().unwrap().len(), 1);
}

#[test]
fn the_same_request_written_differently_is_a_repeat() {
    let server = TestServer::without_agents().start();
    let post = |body: &str| {
        send(&server.address, "POST", "/api/tasks", &[("Idempotency-Key", "once")], Some(body.as_bytes()))
    };
    let first = post(r#"{"title":"Fix the login","description":"On Mondays."}"#);
    let again = post(r#"{ "description": "On Mondays.", "title": "Fix the login" }"#);
    assert_eq!((first.status, again.status, again.json()), (201, 201, first.json()));
    let other = post(r#"{"title":"Fix the login","description":"On Tuesdays."}"#);
    assert_eq!(other.error(), (409, "CONFLICT".to_owned()));
}

#[test]
fn a_clock_that_is_set_back_forgets_no_key() {
    let Some(library) = faketime() else { return };
    let mut server = TestServer::without_agents();
    let shift = |by: &str| {
        let all = [("LD_PRELOAD", library.as_str()), ("FAKETIME", by), ("FAKETIME_DONT_FAKE_MONOTONIC", "1")];
        all.map(|(name, value)| (name.to_owned(), value.to_owned()))
    };
    let body = json!({ "title": "Fix the login" });
    server.variables.extend(shift("+23h"));
    let mut server = server.start();
    let first = create(&server, "/api/tasks", "once", &body);
    assert_eq!(first.status, 201, "{first:?}");
    for by in ["+13h", "+5h", "+0h"] {
        server.stop();
        server.variables.retain(|(name, _)| name != "FAKETIME");
        server.variables.extend(shift(by).into_iter().filter(|(name, _)| name == "FAKETIME"));
        server.up(&["--listen", "127.0.0.1:0"]);
        let again = create(&server, "/api/tasks", "once", &body);
        assert_eq!((again.status, again.json()), (201, first.json()), "{by}");
    }
}
