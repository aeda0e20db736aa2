//! The exact status and code for every kind of bad input.

use std::fmt::Write;

use serde_json::json;

use super::client::{Answer, raw, send};
use super::test_server::TestServer;

/// What is wrong, the request, and the expected status and code.
type Row<'a> = (&'a str, &'a str, &'a str, Option<&'a str>, (u16, &'a str));

fn sent(server: &TestServer, method: &str, path: &str, body: &[u8]) -> Answer {
    send(&server.address, method, path, &[], Some(body))
}

#[test]
fn bad_input_is_answered_with_its_status_and_code() {
    let server = TestServer::without_agents().start();
    let project = server.project();
    let task = server.chat(&project, &json!({ "content": "Fix the login" }));
    let chat = format!("/api/projects/{project}/chat");
    let reply = format!("/api/tasks/{task}/reply");
    let (chat, reply) = (chat.as_str(), reply.as_str());
    let accept = format!("/api/tasks/{task}/accept");
    let reject = format!("/api/tasks/{task}/reject");
    let no_breakdown = format!("/api/breakdowns/{task}");
    let unknown_session = format!("/api/projects/{project}/conversation?session_id=unknown");
    let invalid = (400, "INVALID_INPUT");
    let missing = (404, "NOT_FOUND");
    #[rustfmt::skip]
    let table: Vec<Row<'_>> = vec![
        ("malformed JSON",           "POST", chat, Some("{\"content\": "), invalid),
        ("not an object",            "POST", chat, Some("[1, 2]"), invalid),
        ("a wrong type",             "POST", chat, Some(r#"{"content": 5}"#), invalid),
        ("an unknown field",         "POST", chat, Some(r#"{"content": "x", "contents": "y"}"#), invalid),
        ("blank content",            "POST", chat, Some(r#"{"content": " \u200b\n"}"#), invalid),
        ("no content",               "POST", chat, Some("{}"), invalid),
        ("no body at all",           "POST", chat, None, invalid),
        ("an unknown type",          "POST", chat, Some(r#"{"content": "x", "task_type": "MAGIC"}"#), invalid),
        ("a session with a slash",   "POST", chat, Some(r#"{"content": "x", "session_id": "../x"}"#), invalid),
        ("chat to an unknown project", "POST", "/api/projects/PROJ-00000000/chat", Some(r#"{"content": "x"}"#), missing),
        ("chat to no project id",    "POST", "/api/projects/nonsense/chat", Some(r#"{"content": "x"}"#), missing),
        ("a blank reply",            "POST", reply, Some(r#"{"reply": "  "}"#), invalid),
        ("a reply without question", "POST", reply, Some(r#"{"reply": "yes"}"#), (409, "INVALID_STATUS")),
        ("a reply to nothing",       "POST", "/api/tasks/TASK-00000000/reply", Some(r#"{"reply": "yes"}"#), missing),
        ("an unknown question",      "POST", "/api/questions/Q-00000000/answer", Some(r#"{"answer": "x"}"#), missing),
        ("an unknown task",          "GET",  "/api/tasks/TASK-00000000", None, missing),
        ("a task id in capitals",    "GET",  "/api/tasks/TASK-ABCDEF01", None, missing),
        ("a path that climbs",       "GET",  "/api/tasks/..%2f..%2fetc%2fpasswd", None, missing),
        ("a path that climbs plainly", "GET", "/api/../../etc/passwd", None, missing),
        ("a NUL in the path",        "GET",  "/api/tasks/%00", None, missing),
        ("invalid UTF-8 in a path",  "GET",  "/api/tasks/%ff%fe", None, invalid),
        ("an unknown address",       "GET",  "/api/nothing", None, missing),
        ("a wrong method",           "DELETE", "/api/tasks", None, (405, "METHOD_NOT_ALLOWED")),
        ("a negative limit",         "GET",  "/api/tasks?limit=-1", None, invalid),
        ("limit zero",               "GET",  "/api/tasks?limit=0", None, invalid),
        ("a limit too large",        "GET",  "/api/tasks?limit=501", None, invalid),
        ("a limit that is a word",   "GET",  "/api/tasks?limit=many", None, invalid),
        ("an invented cursor",       "GET",  "/api/tasks?cursor=abc", None, invalid),
        ("a cursor of another list", "GET",  "/api/tasks?cursor=5~PROJ-00000001", None, invalid),
        ("an unknown queue",         "GET",  "/api/tasks?queue=nowhere", None, invalid),
        ("an unknown parameter",     "GET",  "/api/tasks?statu=QUEUED", None, invalid),
        ("a parameter twice",        "GET",  "/api/tasks?limit=1&limit=2", None, invalid),
        ("invalid UTF-8 in a query", "GET",  "/api/tasks?session_id=%ff", None, invalid),
        ("events after a word",      "GET",  "/api/events?after=yesterday", None, invalid),
        ("events after less than none", "GET", "/api/events?after=-1", None, invalid),
        ("a project that is no repository", "POST", "/api/projects", Some(r#"{"path": "/proc"}"#), invalid),
        ("a project nowhere",        "POST", "/api/projects", Some(r#"{"path": "/no/such/folder"}"#), invalid),
        ("a relative project",       "POST", "/api/projects", Some(r#"{"path": "."}"#), invalid),
        ("a path with a NUL",        "POST", "/api/projects", Some(r#"{"path": "/tmp/\u0000x"}"#), invalid),
        ("an option as a branch",    "POST", "/api/projects", Some(r#"{"path": "/tmp", "base_branch": "--upload-pack=x"}"#), invalid),
        ("a blank title",            "POST", "/api/tasks", Some(r#"{"title": " "}"#), invalid),
        ("an unknown dependency",    "POST", "/api/tasks", Some(r#"{"title": "x", "depends_on": ["TASK-00000000"]}"#), invalid),
        ("a task of no project",     "POST", "/api/tasks", Some(r#"{"title": "x", "project_id": "PROJ-00000000"}"#), missing),
        ("an unfinished accept",     "POST", accept.as_str(), Some("{}"), (409, "INVALID_STATUS")),
        ("a reason that is missing", "POST", reject.as_str(), Some("{}"), invalid),
        ("a breakdown that is none", "GET",  no_breakdown.as_str(), None, missing),
        ("an unknown group",         "GET",  "/api/task-groups/unknown/tasks", None, missing),
        ("an unknown session",       "GET",  unknown_session.as_str(), None, missing),
    ];
    let not_utf8 = sent(&server, "POST", chat, b"{\"content\": \"\xff\xfe\"}");
    assert_eq!(not_utf8.error(), (400, "INVALID_INPUT".to_owned()));
    for (name, method, path, body, (status, code)) in table {
        let answer = send(&server.address, method, path, &[], body.map(str::as_bytes));
        assert_eq!(answer.error(), (status, code.to_owned()), "{name}: {answer:?}");
        assert!(answer.head.contains("\r\nx-request-id: "), "{name}: {answer:?}");
    }
    assert_eq!(server.read("/api/task-groups")["task_groups"][0]["task_count"], 1, "and nothing was changed");
}

#[test]
fn a_body_that_is_too_large_is_refused() {
    let server = TestServer::without_agents().start();
    let project = server.project();
    let body = format!("{{\"content\": \"{}\"}}", "x".repeat(10 * 1024 * 1024));
    let answer = sent(&server, "POST", &format!("/api/projects/{project}/chat"), body.as_bytes());
    assert_eq!(answer.error(), (413, "TOO_LARGE".to_owned()));
    let fits = format!("{{\"content\": \"{}\"}}", "x".repeat(1_000_000));
    assert_eq!(sent(&server, "POST", &format!("/api/projects/{project}/chat"), fits.as_bytes()).status, 201);
}

#[test]
fn a_body_that_is_not_json_is_refused() {
    let server = TestServer::without_agents().start();
    let project = server.project();
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
        let headers = [("content-type", kind)];
        let path = format!("/api/projects/{project}/chat");
        let answer = send(&server.address, "POST", &path, &headers, Some(br#"{"content": "x"}"#));
        assert_eq!(answer.error(), (400, "INVALID_INPUT".to_owned()), "{kind}");
    }
}

#[test]
fn a_session_belongs_to_the_project_it_began_in() {
    let server = TestServer::without_agents().start();
    let (one, other) = (server.project(), server.project());
    server.chat(&one, &json!({ "content": "x", "session_id": "mine" }));
    let answer =
        server.post(&format!("/api/projects/{other}/chat"), &json!({ "content": "y", "session_id": "mine" }));
    assert_eq!(answer.error(), (409, "CONFLICT".to_owned()));
    let body = json!({ "title": "y", "project_id": other, "session_id": "mine" });
    assert_eq!(server.post("/api/tasks", &body).error(), (409, "CONFLICT".to_owned()));
}

#[test]
fn a_head_without_end_is_refused() {
    let server = TestServer::without_agents().start();
    let mut many = format!("GET /api/health HTTP/1.1\r\nhost: {}\r\n", server.address);
    for number in 0..100 {
        write!(many, "x-{number}: 1\r\n").unwrap();
    }
    assert_eq!(raw(&server.address, format!("{many}\r\n").as_bytes()).status, 431);
    let long =
        format!("GET /api/health HTTP/1.1\r\nhost: {}\r\nx: {}\r\n\r\n", server.address, "y".repeat(100_000));
    assert_eq!(raw(&server.address, long.as_bytes()).status, 431);
    assert_eq!(server.get("/api/health").status, 200, "the server still responds");
}
