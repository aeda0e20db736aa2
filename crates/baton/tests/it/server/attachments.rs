//! Files that are sent with a message reach the agents of its session.

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};

use super::client::{self, Answer};
use crate::engine::test_repo::{BatonProcess, TestRepo};

/// Prints each attached file as Base64, as its prompt names them.
const PRINTS: &str = r#"
printf '%s\n' "$prompt" | sed -n 's/^- `\(\.git\/attachments\/[^`]*\)` .*/\1/p' | while read -r file; do
  printf '%s is ' "$file"
  base64 -w0 "$file"
  echo .
done
git status --porcelain
echo Done.
"#;
/// Not text, and the same as Base64.
const BYTES: [u8; 6] = [0, 255, 137, 80, 78, 71];
const AS_BASE64: &str = "AP+JUE5H";

struct ChatServer {
    repo: TestRepo,
    address: String,
    project: String,
    _up: BatonProcess,
}

fn server() -> ChatServer {
    let repo = TestRepo::with_agent(PRINTS, "");
    let up = repo.up();
    let line = up.wait_for_line("Listening on http://");
    let address = line.split_once("http://").unwrap().1.to_owned();
    let made = client::post(&address, "/api/projects", &json!({ "path": repo.folder }));
    let project = made.json()["project_id"].as_str().unwrap_or_else(|| panic!("{made:?}")).to_owned();
    ChatServer { repo, address, project, _up: up }
}

impl ChatServer {
    fn send(&self, session: &str, attachments: &Value) -> Answer {
        let body = json!({
            "content": "Look at this", "session_id": session, "task_type": "REPORT", "attachments": attachments,
        });
        client::post(&self.address, &format!("/api/projects/{}/chat", self.project), &body)
    }

    /// What the agent printed for the newest message of the session.
    fn output(&self, session: &str) -> String {
        let path = format!("/api/tasks?session_id={session}");
        let tasks = client::get(&self.address, &path).json()["tasks"].clone();
        let newest =
            tasks.as_array().unwrap().iter().max_by_key(|task| task["created_at"].to_string()).unwrap();
        let id = newest["task_id"].as_str().unwrap();
        self.repo.until_queue(id, "done");
        self.repo.show(id)["output"].as_str().unwrap().to_owned()
    }
}

#[test]
fn a_file_reaches_the_agent_from_every_surface() {
    let server = server();
    let sent = server.send("rest", &json!([{ "name": "shot.png", "data": AS_BASE64 }]));
    assert_eq!(sent.status, 201, "{sent:?}");

    let file = server.repo.home.join("shot.png");
    fs::write(&file, BYTES).unwrap();
    let words = ["chat", "Look at this", "--session", "command", "--type", "REPORT", "--attach"];
    let mut command = server.repo.baton(&words);
    let chat = command.arg(&file).stdin(Stdio::null()).output().unwrap();
    assert!(chat.status.success(), "{}", String::from_utf8_lossy(&chat.stderr));

    // As the page's script sends it.
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let body = format!(
        "content=Look+at+this&type=REPORT&project={}&attachment=shot.png%0Adata%3Aimage%2Fpng%3Bbase64%2C{}",
        server.project,
        AS_BASE64.replace('+', "%2B")
    );
    let posted = client::send(&server.address, "POST", "/chat/page", &form, Some(body.as_bytes()));
    assert_eq!(posted.status, 303, "{posted:?}");

    for session in ["rest", "command", "page"] {
        let output = server.output(session);
        assert!(output.contains(&format!("-shot.png is {AS_BASE64}.")), "{session}: {output}");
        assert!(!output.contains("??"), "the file is not part of the work: {output}");
        let page = client::get(&server.address, &format!("/chat/{session}")).body;
        assert!(page.contains("shot.png") && page.contains("(image/png, 6 bytes)"), "{session}: {page}");
    }
}

#[test]
fn a_later_message_still_has_the_file() {
    let server = server();
    server.send("mine", &json!([{ "name": "first.log", "data": "YQ==" }]));
    server.output("mine");
    server.send("mine", &json!([{ "name": "second.log", "data": "Yg==" }]));
    let output = server.output("mine");
    let places = ["-first.log is YQ==.", "-second.log is Yg==."].map(|shown| output.find(shown));
    assert!(places[0].is_some() && places[0] < places[1], "{output}");
}

#[test]
fn files_that_cannot_be_taken_are_refused_with_the_message() {
    let server = server();
    let many = Value::Array(vec![json!({ "name": "x", "data": "YQ==" }); 11]);
    let large = json!([{ "name": "x", "data": "AAAA".repeat(3 * 1024 * 1024) }]);
    for (what, files, refused) in [
        ("a path", json!([{ "name": "../x", "data": "YQ==" }]), (400, "INVALID_INPUT")),
        ("no Base64", json!([{ "name": "x", "data": "?" }]), (400, "INVALID_INPUT")),
        ("nothing", json!([{ "name": "x", "data": "" }]), (400, "INVALID_INPUT")),
        ("too many", many, (400, "INVALID_INPUT")),
        ("too large", large, (413, "TOO_LARGE")),
    ] {
        let (status, code) = server.send("mine", &files).error();
        assert_eq!((status, code.as_str()), refused, "{what}");
    }
    let tasks = client::get(&server.address, "/api/tasks?session_id=mine").json();
    assert_eq!(tasks["tasks"], json!([]), "the message is refused as a whole");
    let missing = server.repo.output(&["chat", "Look", "--attach", "no-such.png"]);
    assert_eq!(missing.status.code(), Some(2), "{missing:?}");
    assert!(String::from_utf8_lossy(&missing.stderr).contains("cannot read no-such.png"), "{missing:?}");
}
