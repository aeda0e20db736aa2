//! `baton chat`: a message and its task until it is done, asks or fails, with a server and without.

use std::io::{BufRead, BufReader};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::server::test_server::TestServer;
use crate::terminal::{self, TerminalProcess};

fn scripts() -> Value {
    json!([
        { "when": "Why", "steps": [{ "result": { "status": "COMPLETE", "output": "Because of Mondays." } }] },
        { "when": "Break", "steps": [{ "result": { "status": "ERROR", "output": "It broke." } }] },
        { "when": "Which", "resumed": false, "steps": [{ "ask": { "question": "Red or blue?" } }] },
        { "when": "Which", "resumed": true, "steps": [
            { "read_answer": "The answer (" },
            { "result": { "status": "COMPLETE", "output": "It is {{answer}} now." } },
        ] },
        { "when": "Pick", "resumed": false, "steps": [
            { "ask": { "question": "Which login?", "options": ["web", "app"] } },
        ] },
        { "when": "Build", "steps": [
            { "write": { "path": "built.txt", "text": "built\n" } },
            { "commit": "Build it" },
            { "result": { "status": "COMPLETE", "output": "Built." } },
        ] },
        { "when": "Extend", "steps": [
            { "write": { "path": "extended.txt", "text": "extended\n" } },
            { "commit": "Extend it" },
            { "result": { "status": "COMPLETE", "output": "Extended." } },
        ] },
    ])
}

fn streams(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

fn chat(server: &TestServer, words: &[&str]) -> (Option<i32>, String, String) {
    streams(&server.command().arg("chat").args(words).output().unwrap())
}

/// Runs the check without a server and with one.
fn with_and_without_server(check: impl Fn(&TestServer)) {
    check(&TestServer::new(&scripts()));
    check(&TestServer::new(&scripts()).start());
}

#[test]
fn the_answer_goes_to_stdout_and_progress_to_stderr() {
    with_and_without_server(|server| {
        let (code, printed, stderr) = chat(server, &["--type", "READ_INFO", "Why does it fail?"]);
        assert_eq!((code, printed.as_str()), (Some(0), "Because of Mondays.\n"), "{stderr}");
        assert!(
            stderr.contains("Queued TASK-")
                && stderr.contains("(READ_INFO)")
                && stderr.contains("scripted started."),
            "{stderr}"
        );
        let (code, printed, stderr) = chat(server, &["--type", "IMPLEMENTATION", "Build it"]);
        assert_eq!((code, printed.as_str()), (Some(0), "Built.\n"), "{stderr}");
        assert!(stderr.contains("baton accept TASK-"), "{stderr}");
    });
}

#[test]
fn a_failure_is_exit_code_1_and_a_blank_message_2() {
    with_and_without_server(|server| {
        let (code, _, stderr) = chat(server, &["--type", "READ_INFO", "Break it"]);
        assert_eq!(code, Some(1), "{stderr}");
        assert!(stderr.contains("failed") && stderr.contains("baton task log TASK-"), "{stderr}");
        assert_eq!(chat(server, &[" "]).0, Some(2));
        assert_eq!(chat(server, &["--session", "a b", "Why?"]).0, Some(2));
    });
}

#[test]
fn a_question_without_a_terminal_is_exit_code_10_and_stays_pending() {
    with_and_without_server(|server| {
        let (code, printed, stderr) =
            chat(server, &["--type", "READ_INFO", "--session", "paint", "Which one?"]);
        assert_eq!((code, printed.as_str()), (Some(10), ""), "{stderr}");
        assert!(
            stderr.contains("Red or blue?") && stderr.contains("there is no terminal to give one"),
            "{stderr}"
        );
        let output = server.command().args(["--json", "questions"]).output().unwrap();
        let questions: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(questions["questions"][0]["session_id"], "paint", "{questions}");
    });
}

#[test]
fn a_message_to_a_task_that_already_asks_shows_its_question_and_ends() {
    with_and_without_server(|server| {
        let first = ["--type", "READ_INFO", "--session", "paint", "Pick one"];
        assert_eq!(chat(server, &first).0, Some(10));
        let (code, _, stderr) = chat(server, &["--session", "paint", "Mind the umlauts"]);
        assert_eq!(code, Some(10), "{stderr}");
        assert!(stderr.contains("Which login?") && stderr.contains("baton answer Q-"), "{stderr}");
    });
}

#[test]
fn a_queued_answer_is_used() {
    with_and_without_server(|server| {
        // The first message ties the session to the project.
        assert_eq!(chat(server, &["--type", "READ_INFO", "--session", "paint", "Why paint?"]).0, Some(0));
        let queued =
            server.command().args(["answer", "--queue", "blue", "--session", "paint"]).output().unwrap();
        assert!(queued.status.success());
        let (code, printed, stderr) =
            chat(server, &["--type", "READ_INFO", "--session", "paint", "Which one?"]);
        assert_eq!((code, printed.as_str()), (Some(0), "It is blue now.\n"), "{stderr}");
    });
}

#[test]
fn with_json_each_line_is_an_object_and_nothing_else_is_printed() {
    with_and_without_server(|server| {
        let output = server
            .command()
            .args(["--json", "chat", "--type", "READ_INFO", "Why does it fail?"])
            .output()
            .unwrap();
        let (_, printed, stderr) = streams(&output);
        let lines: Vec<Value> = printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines[0]["kind"], "sent", "{stderr}");
        let last = lines.last().unwrap();
        assert_eq!(
            (&last["kind"], &last["task"]["output"]),
            (&json!("ended"), &json!("Because of Mondays."))
        );
        assert_eq!(last["task"]["task_id"], lines[0]["message"]["task_id"]);
    });
}

#[test]
fn without_an_agent_the_message_is_kept_and_the_command_fails() {
    let server = TestServer::without_agents();
    let (code, _, stderr) = chat(&server, &["Why?"]);
    assert_eq!(code, Some(4), "{stderr}");
    assert!(stderr.contains("no agent is configured"), "{stderr}");
    let listed = server.command().args(["task", "list"]).output().unwrap();
    assert!(String::from_utf8(listed.stdout).unwrap().contains("Why?"));
}

#[test]
fn two_messages_go_to_one_project() {
    let server = TestServer::new(&scripts()).start();
    for text in ["Why one?", "Why two?"] {
        assert_eq!(chat(&server, &["--type", "READ_INFO", text]).0, Some(0));
    }
    let projects = server.read("/api/projects");
    assert_eq!(projects["projects"].as_array().unwrap().len(), 1);
    let id = projects["projects"][0]["project_id"].as_str().unwrap();
    let stderr = server.read(&format!("/api/projects/{id}/conversation"));
    let kinds: Vec<&str> =
        stderr["entries"].as_array().unwrap().iter().map(|entry| entry["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["message", "result", "message", "result"]);
}

/// Sends a message and returns its task once the work is finished.
fn finish_message(server: &TestServer, text: &str) -> String {
    let sent = server.command().args(["--json", "chat", "--type", "IMPLEMENTATION", text]).output().unwrap();
    let (code, printed, stderr) = streams(&sent);
    assert_eq!(code, Some(0), "{stderr}");
    let line: Value = serde_json::from_str(printed.lines().next().unwrap()).unwrap();
    line["message"]["task_id"].as_str().unwrap().to_owned()
}

#[test]
fn work_is_accepted_while_its_base_is_checked_out_and_the_next_task_starts_from_it() {
    with_and_without_server(|server| {
        let task = finish_message(server, "Build it");
        let accepted = server.command().args(["--json", "accept", &task]).output().unwrap();
        let (code, printed, hints) = streams(&accepted);
        assert_eq!(code, Some(0), "{hints}");
        let printed: Value = serde_json::from_str(&printed).unwrap();
        let landed = json!([{ "task_id": task, "branch": "baton/next", "remote": null }]);
        assert_eq!(printed["landed"], landed, "{printed:#}");
        server.git(&["cat-file", "-e", "baton/next:built.txt"]);
        // The user's checkout is unchanged.
        server.git(&["diff", "--exit-code", "--quiet", "HEAD"]);
        assert!(!server.folder.join("built.txt").exists());
        // The next task starts from it.
        let next = finish_message(server, "Extend it");
        for file in ["built.txt", "extended.txt"] {
            server.git(&["cat-file", "-e", &format!("baton/{next}:{file}")]);
        }
        assert!(server.command().args(["accept", "--all"]).output().unwrap().status.success());
        server.git(&["merge", "-q", "baton/next"]);
        assert!(server.folder.join("built.txt").exists() && server.folder.join("extended.txt").exists());
    });
}

#[test]
fn a_dependent_task_starts_from_the_accepted_work() {
    let server = TestServer::new(&scripts()).start();
    let first = finish_message(&server, "Build it");
    let add = ["--json", "task", "add", "Extend it", "--after", &first];
    let added: Value = serde_json::from_slice(&server.command().args(add).output().unwrap().stdout).unwrap();
    let second = added["task_id"].as_str().unwrap();
    assert_eq!(server.task(second)["waiting_on"][0], first.as_str(), "{added}");
    let (status, shown) = {
        let mut command = server.command();
        command.args(["accept", &first]);
        TerminalProcess::start(command).end()
    };
    assert!(status.success(), "{shown}");
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines[0].starts_with(&format!("{first}  landed")), "{shown}");
    assert_eq!(lines[1], "Landed on baton/next. Merge it into your branch: git merge baton/next", "{shown}");
    server.wait_for_queue(second, "provisional");
    server.git(&["cat-file", "-e", &format!("baton/{second}:built.txt")]);
}

/// The answer is typed in a pseudo-terminal.
#[test]
fn at_a_terminal_the_question_is_answered_inline() {
    with_and_without_server(|server| {
        let (mut keyboard, typed) = terminal::pair();
        let mut command: Command = server.command();
        command.args(["chat", "--type", "READ_INFO", "Which one?"]).stdin(typed);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap()).lines();
        assert!(stderr.any(|line| line.unwrap().contains("Red or blue?")));
        terminal::types(&mut keyboard, "red");
        // Read to the end, so that the command is not blocked by a full pipe.
        let rest: Vec<String> = stderr.map_while(Result::ok).collect();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{rest:?}");
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "It is red now.\n");
    });
}
