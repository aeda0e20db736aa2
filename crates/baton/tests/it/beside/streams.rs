//! `baton questions --follow`, with a server, without one, and across the end of one.

use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::server::place::Place;

struct Inbox {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Inbox {
    fn of(place: &Place) -> Self {
        let mut command = place.command();
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

fn asking() -> Place {
    Place::new(&json!([
        { "when": "First", "steps": [{ "ask": { "question": "Which first?" } }] },
        { "when": "Second", "steps": [{ "ask": { "question": "Which second?" } }] },
        { "when": "Third", "steps": [{ "ask": { "question": "Which third?" } }] },
    ]))
}

fn add(place: &Place, title: &str) {
    assert!(place.command().args(["task", "add", title]).output().unwrap().status.success());
}

#[test]
fn new_questions_come_as_they_are_asked_also_when_the_server_is_another_one() {
    let mut place = asking().start();
    add(&place, "First");
    let mut inbox = Inbox::of(&place);
    assert_eq!(inbox.next()["text"], "Which first?");
    add(&place, "Second");
    assert_eq!(inbox.next()["text"], "Which second?");
    // It is killed; the follower goes on with the store, which the next server works on too.
    place.kill();
    place.up(&["--listen", "127.0.0.1:0"]);
    add(&place, "Third");
    assert_eq!(inbox.next()["text"], "Which third?");
}
