//! What commands print at a terminal: words, colours, lines that fit, a pager for what is longer than the screen.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use serde_json::json;

use crate::server::test_server::TestServer;
use crate::terminal::TerminalProcess;
use crate::tmux::Tmux;

/// A program in the folder of the server's repository.
fn program(server: &TestServer, name: &str, text: &str) -> PathBuf {
    let path = server.folder.join(".git").join(name);
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn add(server: &TestServer, title: &str) -> String {
    let added = server.post("/api/tasks", &json!({ "title": title, "session_id": "mine" }));
    added.json()["task_id"].as_str().unwrap().to_owned()
}

/// A server whose agent has painted something.
fn painted() -> (TestServer, String) {
    let script = json!([{ "when": "Paint", "steps": [
        { "write": { "path": "colour.txt", "text": "blue\u{1b}[2J\n" } },
        { "commit": "Paint it" },
        { "result": { "status": "COMPLETE", "output": "Painted." } },
    ] }]);
    let server = TestServer::new(&script).start();
    let task = add(&server, "Paint it");
    server.wait_for_queue(&task, "provisional");
    (server, task)
}

fn at_terminal(server: &TestServer, words: &[&str], variables: &[(&str, &str)]) -> (bool, String) {
    let mut command = server.command();
    command.args(words).env_remove("NO_COLOR").env("TERM", "xterm").env("BATON_PAGER", "cat");
    let (status, shown) = TerminalProcess::start({
        command.envs(variables.iter().copied());
        command
    })
    .end();
    (status.success(), shown)
}

fn printed(mut command: Command) -> String {
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

#[test]
fn a_terminal_gets_colours_and_a_pipe_gets_the_text() {
    let (server, task) = painted();
    let (_, diff) = at_terminal(&server, &["task", "diff", &task], &[]);
    assert!(diff.contains("\u{1b}[32m+blue␛[2J\u{1b}[0m"), "{diff:?}");
    assert!(diff.contains("\u{1b}[1mdiff --git"), "{diff:?}");
    let (_, shown) = at_terminal(&server, &["task", "show", &task], &[]);
    assert!(shown.contains("\u{1b}[32mReady for review\u{1b}[0m · "), "{shown:?}");
    let (_, list) = at_terminal(&server, &["task", "list"], &[]);
    assert!(
        list.contains("\u{1b}[1mID ") && list.contains("\u{1b}[32mReady for review\u{1b}[0m"),
        "{list:?}"
    );
    let (worked, refused) = at_terminal(&server, &["task", "show", "TASK-00000000"], &[]);
    assert!(!worked && refused.contains("\u{1b}[31merror:\u{1b}[0m"), "{refused:?}");
    for plain in [[("NO_COLOR", "1")], [("TERM", "dumb")]] {
        let (_, diff) = at_terminal(&server, &["task", "diff", &task], &plain);
        assert!(diff.contains("+blue␛[2J") && !diff.contains('\u{1b}'), "{plain:?}: {diff:?}");
    }
    let mut command = server.command();
    command.args(["task", "diff", &task]).env("TERM", "xterm");
    let piped = printed(command);
    assert!(piped.contains("\n+blue\u{1b}[2J\n"), "{piped:?}");
    assert_eq!(piped.matches('\u{1b}').count(), 1, "what the agent wrote, and nothing else: {piped:?}");
}

#[test]
fn where_a_task_stands_is_said_in_the_words_of_the_pages() {
    let server = TestServer::new(&json!([{ "when": "Paint", "steps": ["hang"] }])).start();
    let task = add(&server, "Paint it");
    server.wait_for_queue(&task, "claimed");
    let run = |words: &[&str]| {
        let mut command = server.command();
        command.args(words);
        printed(command)
    };
    let list = run(&["task", "list"]);
    assert!(list.starts_with("ID             STATE    PRIO") && list.contains("  Working  P2"), "{list}");
    let shown = run(&["task", "show", &task]);
    for expected in
        ["Working · IMPLEMENTATION · P2", "Attempt 1 by scripted on ", "started ", &format!("baton/{task}")]
    {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    for name in ["working", "claimed"] {
        assert!(run(&["task", "list", "--queue", name]).contains(&task), "{name}");
    }
    for name in ["review", "ready-for-review", "provisional"] {
        assert!(run(&["task", "list", "--queue", name]).starts_with("No tasks."), "{name}");
    }
}

#[test]
fn a_row_fits_the_terminal_and_a_long_text_is_paged() {
    let server = TestServer::without_agents().start();
    add(&server, &format!("Paint {}", "every wall ".repeat(30)));
    let baton = env!("CARGO_BIN_EXE_baton");
    let pager = program(&server, "pager.sh", "echo 'In the pager:'; cat");
    let line = format!(
        "export BATON_USER=mia BATON_NAMESPACE=test BATON_PAGER='{}'; '{baton}' task list; '{baton}' explain \
         conflict; echo 'short'; '{baton}' config; exec sh",
        pager.display()
    );
    let tmux = Tmux::start("reading", &server.folder, &line);
    tmux.shows("In the pager:");
    let screen = tmux.screen();
    let row = screen.lines().find(|line| line.contains("every wall")).unwrap();
    assert!(row.ends_with('…') && row.chars().count() <= 120, "{row:?}");
    let (before, _) = screen.split_once("In the pager:").unwrap();
    assert!(before.contains("short"), "what fits the screen is printed: {screen}");
}

#[test]
fn a_reason_is_written_in_the_editor() {
    let (server, task) = painted();
    let idle = program(&server, "idle.sh", "true");
    let editor = program(
        &server,
        "editor.sh",
        "{ echo 'Use green.'; cat \"$1\"; } > \"$1.new\"; mv \"$1.new\" \"$1\"",
    );
    let reject = ["reject", task.as_str()];
    let (worked, shown) = at_terminal(&server, &reject, &[("VISUAL", idle.to_str().unwrap())]);
    assert!(!worked && shown.contains("nothing was written, so nothing is rejected"), "{shown}");
    let (worked, shown) = at_terminal(&server, &reject, &[("VISUAL", editor.to_str().unwrap())]);
    assert!(worked && shown.contains(&format!("Rejected {task}")), "{shown}");
    let notes = server.task(&task)["notes"].to_string();
    assert!(notes.contains("Use green.") && !notes.contains("Say above"), "{notes}");
    let mut command = server.command();
    let refused = command.args(reject).output().unwrap();
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--reason TEXT"), "{refused:?}");
}

#[test]
fn accept_without_a_task_shows_what_can_be_accepted_and_only_to_a_person() {
    let (server, task) = painted();
    let (worked, shown) = at_terminal(&server, &["accept"], &[]);
    assert!(worked && shown.contains(&format!("{task} “Paint it” would be accepted")), "{shown}");
    let refused = server.command().arg("accept").output().unwrap();
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert_eq!(server.task(&task)["queue"], "provisional");
}
