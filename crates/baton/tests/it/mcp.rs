//! The tools, through a real client and the real binary: user tasks, the queue, and the door.

mod agents;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::ClientHandler;
use rmcp::model::{CallToolRequestParams, ClientConfig, ProgressNotificationParam};
use rmcp::service::{NotificationContext, RoleClient, RunningService, ServiceExt};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::Notify;

const PATIENCE: Duration = Duration::from_mins(2);

const TASKFILE: &str = r#"version: '3'

tasks:
  greet:
    desc: "Prints a simple greeting message."
    cmds:
      - echo "Hello from your custom Taskfile!"
    silent: true

  list-current-dir:
    desc: "Lists the contents of the current working directory."
    cmds:
      - ls -lA

  run-go-tests:
    desc: "Runs Go tests for the project. Supports additional Go test flags via the 'args' input (e.g., '-v -race')."
    cmds:
      - ./go test ./... {{.CLI_ARGS}}
    silent: true

  deliberate-fail:
    desc: "A task designed to exit with an error code to demonstrate error handling."
    cmds:
      - echo "This task will fail!" && exit 1
    silent: true

  complain:
    desc: "Writes to both streams."
    cmds: ["echo good; echo bad >&2"]
    silent: true

  again:
    desc: "Calls task by its name."
    cmds: ["task -s -t .agent/Taskfile.yml -d . greet"]
    silent: true

  echo:
    desc: "Says its arguments slowly, on both streams."
    cmds: ["echo out {{.CLI_ARGS}}; sleep 0.05; echo err {{.CLI_ARGS}} >&2; echo out {{.CLI_ARGS}}"]
    silent: true

  wander: {desc: "Leaves traces in its own shell.", cmds: ["cd /; export TRACE=left; echo gone"], silent: true}
  look: {desc: "Looks for traces.", cmds: ["pwd; echo [$TRACE]"], silent: true}
  count: {desc: "Says a lot.", cmds: ["seq 1 20000"], silent: true}
  slow: {desc: "Takes its time.", cmds: ["echo begun; sleep 7"], silent: true}
  helper: {internal: true, desc: "Not for callers.", cmds: ["true"]}
  undescribed: {cmds: ["true"]}
"#;

struct Place {
    folder: PathBuf,
    _scratch: TempDir,
}

/// A client that notes when it is told of other tools.
#[derive(Clone, Default)]
struct Listener {
    changed: Arc<Notify>,
    progress: Arc<Notify>,
}

impl ClientHandler for Listener {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::default()
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }

    async fn on_progress(&self, _: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.progress.notify_one();
    }
}

type Client = RunningService<RoleClient, Listener>;

impl Place {
    fn new(settings: &str) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().canonicalize().unwrap();
        let place = Self { folder, _scratch: scratch };
        place.git(&["init", "-q", "-b", "main"]);
        std::fs::create_dir(place.folder.join(".agent")).unwrap();
        std::fs::write(place.folder.join(".agent/baton.toml"), settings).unwrap();
        // Stands in for the Go toolchain: says what it was called with, a word on each line.
        place.write("go", "#!/bin/sh\nprintf '%s\\n' \"$@\"\n");
        Command::new("chmod").args(["+x", "go"]).current_dir(&place.folder).status().unwrap();
        place.git(&["add", "-A"]);
        place.git(&["commit", "-q", "-m", "Begin"]);
        place
    }

    /// With the Taskfile of the document.
    fn with_tasks() -> Self {
        let place = Self::new("");
        place.write(".agent/Taskfile.yml", TASKFILE);
        place
    }

    fn write(&self, path: &str, text: &str) {
        std::fs::write(self.folder.join(path), text).unwrap();
    }

    fn git(&self, arguments: &[&str]) {
        let identity = ["-c", "user.name=mia", "-c", "user.email=mia@example.org"];
        let status =
            Command::new("git").args(identity).args(arguments).current_dir(&self.folder).status().unwrap();
        assert!(status.success(), "git {arguments:?}");
    }

    fn baton(&self) -> Command {
        baton(&self.folder)
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.baton().arg("--json").args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// `baton mcp`, with a client that speaks to it.
    async fn client(&self) -> (Client, Listener, tokio::process::Child) {
        let mut command = tokio::process::Command::from(self.baton());
        command.arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let streams = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
        let listener = Listener::default();
        (listener.clone().serve(streams).await.unwrap(), listener, child)
    }

    /// The server, and its address once it listens.
    fn up(&self) -> (Up, String) {
        let up = self.baton().args(["up", "--listen", "127.0.0.1:0"]).stderr(Stdio::null()).spawn().unwrap();
        let up = Up(up);
        let started = Instant::now();
        loop {
            assert!(started.elapsed() < PATIENCE, "the server does not come up");
            let mut files =
                std::fs::read_dir(self.folder.join(".agent/state")).into_iter().flatten().flatten();
            if let Some(file) =
                files.find(|file| file.file_name().to_string_lossy().ends_with(".server.json"))
            {
                let known: Value =
                    serde_json::from_str(&std::fs::read_to_string(file.path()).unwrap()).unwrap();
                return (up, known["url"].as_str().unwrap().trim_start_matches("http://").to_owned());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Ended with the test, as a service manager would.
struct Up(Child);

impl Drop for Up {
    fn drop(&mut self) {
        let _ = Command::new("kill").args(["-TERM", &self.0.id().to_string()]).status();
        let _ = self.0.wait();
    }
}

fn baton(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_baton"));
    command.current_dir(folder).env("BATON_USER", "mia").stdin(Stdio::null());
    command.env_remove("BATON_TOKEN").env_remove("BATON_MCP_URL");
    command
}

async fn tools(client: &Client) -> Vec<String> {
    client.list_all_tools().await.unwrap().into_iter().map(|tool| tool.name.to_string()).collect()
}

/// The text of the answer, and whether it is an error.
async fn call(client: &Client, name: &str, arguments: Value) -> (String, bool) {
    let mut request = CallToolRequestParams::new(name.to_owned());
    request.arguments = arguments.as_object().cloned();
    let result = serde_json::to_value(client.call_tool(request).await.unwrap()).unwrap();
    (result["content"][0]["text"].as_str().unwrap().to_owned(), result["isError"] == json!(true))
}

async fn run(client: &Client, name: &str) -> (String, bool) {
    call(client, "run_user_task", json!({ "task_name": name })).await
}

#[tokio::test]
async fn list_user_tasks_and_run_user_task_are_available_when_the_taskfile_exists() {
    let place = Place::with_tasks();
    let (client, _listener, _child) = place.client().await;
    let tools = tools(&client).await;
    assert!(tools.contains(&"list_user_tasks".to_owned()), "{tools:?}");
    assert!(tools.contains(&"run_user_task".to_owned()), "{tools:?}");
}

#[tokio::test]
async fn without_a_taskfile_neither_tool_is_registered_and_nothing_is_wrong() {
    let place = Place::new("");
    let (client, _listener, _child) = place.client().await;
    let tools = tools(&client).await;
    assert_eq!(
        tools,
        ["get_next_task", "list_tasks", "get_task", "add_task", "update_task", "set_task_status"]
    );
    assert_eq!(call(&client, "get_next_task", json!({})).await, ("No tasks available.".to_owned(), false));
    let (said, is_error) = run(&client, "greet").await;
    assert!(is_error && said.starts_with("there is no tool run_user_task"), "{said}");
}

#[tokio::test]
async fn list_user_tasks_returns_an_accurate_list_in_the_order_of_the_file() {
    let place = Place::with_tasks();
    let (client, _listener, _child) = place.client().await;
    let (said, is_error) = call(&client, "list_user_tasks", json!({})).await;
    let list: Value = serde_json::from_str(&said).unwrap();
    assert!(!is_error);
    assert_eq!(list["message"], "Successfully listed 11 user-defined tasks from .agent/Taskfile.yml.");
    let names: Vec<&str> =
        list["tasks"].as_array().unwrap().iter().map(|task| task["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "greet",
            "list-current-dir",
            "run-go-tests",
            "deliberate-fail",
            "complain",
            "again",
            "echo",
            "wander",
            "look",
            "count",
            "slow"
        ]
    );
    assert_eq!(list["tasks"][0]["description"], "Prints a simple greeting message.");
}

#[tokio::test]
async fn run_user_task_returns_what_a_simple_task_printed() {
    let place = Place::with_tasks();
    let (client, _listener, _child) = place.client().await;
    let greeted =
        "Task 'greet' completed successfully. Output:\nHello from your custom Taskfile!\nError Output:\n";
    assert_eq!(run(&client, "greet").await, (greeted.to_owned(), false));
    // In the project's root, not in `.agent`; the command itself is shown, as go-task shows it.
    let (said, _) = run(&client, "list-current-dir").await;
    assert!(said.contains(".git\n") && said.contains(" .agent\n"), "{said}");
    assert!(said.ends_with("\nError Output:\ntask: [list-current-dir] ls -lA"), "{said}");
    // `task` inside a command is this very program.
    let (said, _) = run(&client, "again").await;
    assert!(said.contains("Hello from your custom Taskfile!"), "{said}");
}

#[tokio::test]
async fn run_user_task_keeps_standard_error_apart() {
    let place = Place::with_tasks();
    let (client, _listener, _child) = place.client().await;
    let said = "Task 'complain' completed successfully. Output:\ngood\nError Output:\nbad";
    assert_eq!(run(&client, "complain").await, (said.to_owned(), false));
}

#[tokio::test]
async fn run_user_task_reports_failure_with_the_exit_code() {
    let place = Place::with_tasks();
    let (client, _listener, _child) = place.client().await;
    let said = "Task 'deliberate-fail' failed. Output:\nThis task will fail!\nError Output:\n\nExit Code: 1\n\
                Error: task: Failed to run task 'deliberate-fail'";
    assert_eq!(run(&client, "deliberate-fail").await, (said.to_owned(), false));
}

#[tokio::test]
async fn arguments_reach_the_taskfile_as_words_and_cannot_break_out() {
    let place = Place::with_tasks();
    let (client, _listener, _child) = place.client().await;
    let with = async |args: &str| {
        call(&client, "run_user_task", json!({ "task_name": "run-go-tests", "args": args })).await.0
    };
    let said = |words: &str| {
        format!("Task 'run-go-tests' completed successfully. Output:\ntest\n./...\n{words}Error Output:\n")
    };
    assert_eq!(with("-v -race").await, said("-v\n-race\n"));
    assert_eq!(with("").await, said(""));
    assert_eq!(with("; touch out.txt").await, said(";\ntouch\nout.txt\n"));
    assert_eq!(
        with("$(touch out.txt) `touch out.txt` '&&' 'a  b'").await,
        said("$(touch\nout.txt)\n`touch\nout.txt`\n&&\na  b\n")
    );
    assert!(!place.folder.join("out.txt").exists());
}

#[tokio::test]
async fn an_empty_or_invalid_name_is_an_error_that_lists_the_names() {
    let place = Place::with_tasks();
    let (client, _listener, _child) = place.client().await;
    for name in ["", "gret", "helper"] {
        let (said, is_error) = run(&client, name).await;
        assert!(is_error && said.contains("the tasks are greet, list-current-dir, "), "{said}");
    }
    let (said, is_error) = call(&client, "run_user_task", json!({ "name": "greet" })).await;
    assert!(is_error && said == "there is no argument `name`; it takes args, task_name", "{said}");
}

#[tokio::test]
async fn rapid_calls_one_after_the_other_and_at_once_never_mix_their_output() {
    let place = Place::with_tasks();
    let (client, _listener, _child) = place.client().await;
    let client = Arc::new(client);
    let said = |args: &str| {
        format!(
            "Task 'echo' completed successfully. Output:\nout {args}\nout {args}\nError Output:\nerr {args}"
        )
    };
    for number in 0..10 {
        let args = format!("turn-{number}");
        let ran = call(&client, "run_user_task", json!({ "task_name": "echo", "args": args })).await;
        assert_eq!(ran, (said(&args), false));
    }
    let at_once: Vec<_> = (0..20)
        .map(|number| {
            let client = Arc::clone(&client);
            tokio::spawn(async move {
                let args = format!("at-once-{number}");
                (call(&client, "run_user_task", json!({ "task_name": "echo", "args": args })).await, args)
            })
        })
        .collect();
    for one in at_once {
        let (ran, args) = one.await.unwrap();
        assert_eq!(ran, (said(&args), false));
    }
}

#[tokio::test]
async fn each_run_is_isolated_from_the_ones_before() {
    let place = Place::with_tasks();
    let (client, _listener, _child) = place.client().await;
    assert!(run(&client, "wander").await.0.contains("gone"));
    let root = place.folder.display();
    let said = format!("Task 'look' completed successfully. Output:\n{root}\n[]\nError Output:\n");
    assert_eq!(run(&client, "look").await, (said, false));
}

#[tokio::test]
async fn a_run_that_takes_too_long_is_ended_and_says_so() {
    let place = Place::new("[user_tasks]\ntimeout = 1\n");
    place.write(".agent/Taskfile.yml", TASKFILE);
    let (client, _listener, _child) = place.client().await;
    let (said, is_error) = run(&client, "slow").await;
    assert!(!is_error, "{said}");
    assert!(said.starts_with("Task 'slow' failed. Output:\nbegun\nError Output:\n"), "{said}");
    assert!(said.contains("\nExit Code: 124\n") && said.contains("took longer than 1s"), "{said}");
}

#[tokio::test]
async fn long_output_keeps_its_head_and_its_tail_and_says_where_the_whole_is() {
    let place = Place::with_tasks();
    let (client, _listener, _child) = place.client().await;
    let (said, _) = run(&client, "count").await;
    assert!(said.contains("Output:\n1\n2\n3\n") && said.contains("\n19999\n20000\n"), "{said}");
    assert!(said.chars().count() < 13_000, "{}", said.chars().count());
    let path = said.split("the whole is in ").nth(1).unwrap().split(" …]").next().unwrap();
    let whole = std::fs::read_to_string(path).unwrap();
    assert!(whole.contains("\n10000\n"), "{path}");
    // People get all of it.
    let output = place.baton().args(["do", "count"]).output().unwrap();
    assert_eq!(output.stdout.split(|byte| *byte == b'\n').count(), 20_001);
}

#[tokio::test]
async fn a_call_that_waits_tells_progress() {
    let place = Place::with_tasks();
    let (client, listener, _child) = place.client().await;
    let (ran, told) =
        tokio::join!(run(&client, "slow"), tokio::time::timeout(PATIENCE, listener.progress.notified()));
    assert!(told.is_ok());
    assert!(ran.0.starts_with("Task 'slow' completed"), "{}", ran.0);
}

#[tokio::test]
async fn with_trust_prompt_a_person_says_yes_to_the_file_as_it_is() {
    let place = Place::new("[user_tasks]\ntrust = \"prompt\"\n");
    place.write(".agent/Taskfile.yml", TASKFILE);
    let (client, _listener, _child) = place.client().await;
    let (said, is_error) = run(&client, "greet").await;
    assert!(is_error && said.contains("baton tasks --trust"), "{said}");
    // Nobody is at a terminal: nothing runs.
    let output = place.baton().args(["do", "greet"]).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(4), 0));
    let at_terminal = |answer: &str| {
        let shown = format!("{} do greet", env!("CARGO_BIN_EXE_baton"));
        let mut command = Command::new("script");
        command.args(["-qec", &shown, "/dev/null"]).current_dir(&place.folder).env("BATON_USER", "mia");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        writeln!(child.stdin.take().unwrap(), "{answer}").unwrap();
        let output = child.wait_with_output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let said = at_terminal("n");
    assert!(said.contains("[y/N]") && !said.contains("Hello from"), "{said}");
    let said = at_terminal("y");
    assert!(said.contains("[y/N]") && said.contains("Hello from your custom Taskfile!"), "{said}");
    // It is asked once for the file as it is, and again after a change.
    assert!(run(&client, "greet").await.0.contains("Hello from"));
    place.write(".agent/Taskfile.yml", &TASKFILE.replace("Hello from", "Howdy from"));
    assert!(run(&client, "greet").await.1);
    let agents = place.baton().args(["tasks", "--trust"]).env("BATON_TOKEN", "x").output().unwrap();
    assert_eq!(agents.status.code(), Some(4));
    assert!(place.baton().args(["tasks", "--trust"]).output().unwrap().status.success());
    assert!(run(&client, "greet").await.0.contains("Howdy from"));
}

#[tokio::test]
async fn i12_the_tools_appear_and_disappear_with_the_file_and_the_client_is_told() {
    let place = Place::new("");
    // Through the running server, as an agent's client would.
    let (_up, _) = place.up();
    let (client, listener, _child) = place.client().await;
    assert!(!tools(&client).await.contains(&"run_user_task".to_owned()));
    place.write(".agent/Taskfile.yml", TASKFILE);
    tokio::time::timeout(PATIENCE, listener.changed.notified()).await.unwrap();
    assert!(tools(&client).await.contains(&"run_user_task".to_owned()));
    assert!(run(&client, "greet").await.0.contains("Hello from"));
    std::fs::remove_file(place.folder.join(".agent/Taskfile.yml")).unwrap();
    tokio::time::timeout(PATIENCE, listener.changed.notified()).await.unwrap();
    assert!(!tools(&client).await.contains(&"run_user_task".to_owned()));
}

#[tokio::test]
async fn a_persons_client_works_the_queue() {
    let place = Place::new("");
    let (client, _listener, _child) = place.client().await;
    let (said, is_error) =
        call(&client, "add_task", json!({ "title": "Fix the login", "priority": "P1" })).await;
    assert!(!is_error, "{said}");
    let id = serde_json::from_str::<Value>(&said).unwrap()["task_id"].as_str().unwrap().to_owned();
    assert!(call(&client, "get_next_task", json!({})).await.0.contains(&id));
    assert!(call(&client, "list_tasks", json!({ "title": "LOGIN" })).await.0.contains(&id));
    let (said, is_error) =
        call(&client, "update_task", json!({ "id": id, "title": "Mend the login", "priority": "P0" })).await;
    assert!(!is_error && said.contains("Mend the login"), "{said}");
    let view = place.json(&["task", "show", &id]);
    assert_eq!((&view["title"], &view["priority"]), (&json!("Mend the login"), &json!("P0")), "{view}");
    let (said, is_error) = call(&client, "update_task", json!({ "id": id })).await;
    assert!(is_error && said.starts_with("nothing is to be changed"), "{said}");
    let (said, is_error) = call(&client, "set_task_status", json!({ "id": id, "status": "COMPLETE" })).await;
    assert!(is_error && said.contains("cannot be set to COMPLETE"), "{said}");
    call(&client, "set_task_status", json!({ "id": id, "status": "CANCELLED" })).await;
    assert_eq!(place.json(&["task", "show", &id])["status"], "CANCELLED");
    let (said, is_error) = call(&client, "update_task", json!({ "id": id, "title": "Too late" })).await;
    assert!(is_error && said.contains("revise"), "{said}");
    let (said, is_error) = call(&client, "ask_user", json!({ "question": "Why?" })).await;
    assert!(is_error && said.starts_with("there is no tool ask_user"), "{said}");
}

/// One POST to the server; status and body.
fn post(address: &str, headers: &str, body: &Value) -> (u16, String) {
    let body = body.to_string();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    (answer.split(' ').nth(1).unwrap().parse().unwrap(), answer)
}

#[test]
fn the_endpoint_speaks_streamable_http_and_refuses_a_token_of_no_live_attempt() {
    let place = Place::with_tasks();
    let (_up, address) = place.up();
    let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" },
    }});
    let (status, said) = post(&address, "", &initialize);
    assert_eq!(status, 200, "{said}");
    assert!(said.contains("\"listChanged\":true") && said.contains("\"name\":\"baton\""), "{said}");
    for bad in ["x".to_owned(), format!("ATT-0000000000000007.{}", "a".repeat(64))] {
        let (status, said) = post(&address, &format!("authorization: Bearer {bad}\r\n"), &initialize);
        assert_eq!(status, 401, "{said}");
    }
}

#[test]
fn baton_tasks_lists_and_baton_do_streams_and_passes_the_exit_code_on() {
    let place = Place::with_tasks();
    let list = place.json(&["tasks"]);
    assert_eq!(list["message"], "Successfully listed 11 user-defined tasks from .agent/Taskfile.yml.");
    let output = place.baton().args(["do", "greet"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "Hello from your custom Taskfile!\n");
    let output = place.baton().args(["do", "run-go-tests", "--", "-v", "a b"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "test\n./...\n-v\na b\n");
    assert_eq!(place.baton().args(["do", "deliberate-fail"]).output().unwrap().status.code(), Some(1));
    let output = place.baton().args(["do", "gret"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("the tasks are greet, "));
    let output = place.baton().args(["do", "--timeout", "1", "slow"]).output().unwrap();
    assert_eq!(output.status.code(), Some(124), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "begun\n");
    let empty = Place::new("");
    let output = empty.baton().arg("tasks").output().unwrap();
    assert_eq!(output.status.code(), Some(0));
}
