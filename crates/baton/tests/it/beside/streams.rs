//! `baton questions --follow` with a server, without one, and across a restart.

use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::server::test_server::TestServer;

struct Inbox {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Inbox {
    fn of(server: &TestServer) -> Self {
        let mut command = server.command();
        command.args(["--json", "questions", "--follow"]).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    fn next(&mut self) -> Value {
        serde_json::from_str(&self.lines.next().unwrap().unwrap()).unwrap()
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn asking() -> TestServer {
    TestServer::new(&json!([
        { "when": "First", "steps": [{ "ask": { "question": "Which first?" } }] },
        { "when": "Second", "steps": [{ "ask": { "question": "Which second?" } }] },
        { "when": "Third", "steps": [{ "ask": { "question": "Which third?" } }] },
    ]))
}

fn add(server: &TestServer, title: &str) {
    assert!(server.command().args(["task", "add", title]).output().unwrap().status.success());
}

#[test]
fn questions_are_followed_across_a_restart_of_the_server() {
    let mut server = asking().start();
    add(&server, "First");
    let mut inbox = Inbox::of(&server);
    assert_eq!(inbox.next()["text"], "Which first?");
    add(&server, "Second");
    assert_eq!(inbox.next()["text"], "Which second?");
    // After the kill the command follows the store, which the next server uses as well.
    server.kill();
    server.up(&["--listen", "127.0.0.1:0"]);
    add(&server, "Third");
    assert_eq!(inbox.next()["text"], "Which third?");
}
