//! The MCP tools through a real client and the real binary: user tasks, the queue, access.

mod access;
mod agents;
mod arguments;
mod commands;
mod landing;
mod official_clients;
mod powers;
mod runs;
mod user_tasks;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rmcp::ClientHandler;
use rmcp::model::{CallToolRequestParams, ClientConfig, ProgressNotificationParam};
use rmcp::service::{NotificationContext, RoleClient, RunningService, ServiceExt};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::Notify;

use crate::wait;

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
    desc: "Prints its arguments on both streams."
    cmds: ["echo out {{.CLI_ARGS}}; echo err {{.CLI_ARGS}} >&2; echo out {{.CLI_ARGS}}"]
    silent: true

  wander: {desc: "Leaves traces in its own shell.", cmds: ["cd /; export TRACE=left; echo gone"], silent: true}
  look: {desc: "Looks for traces.", cmds: ["pwd; echo [$TRACE]"], silent: true}
  count: {desc: "Says a lot.", cmds: ["seq 1 20000"], silent: true}
  slow: {desc: "Waits at the gate.", cmds: ["echo begun; flock --shared gate true"], silent: true}
  helper: {internal: true, desc: "Not for callers.", cmds: ["true"]}
  undescribed: {cmds: ["true"]}
"#;

struct McpRepo {
    folder: PathBuf,
    _scratch: TempDir,
}

/// A client that records notifications.
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

impl McpRepo {
    fn new(settings: &str) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().canonicalize().unwrap();
        let repo = Self { folder, _scratch: scratch };
        repo.git(&["init", "-q", "-b", "main"]);
        std::fs::create_dir(repo.folder.join(".agent")).unwrap();
        std::fs::write(repo.folder.join(".agent/baton.toml"), settings).unwrap();
        // Replaces the Go toolchain: prints its arguments, one on each line.
        repo.write("go", "#!/bin/sh\nprintf '%s\\n' \"$@\"\n");
        Command::new("chmod").args(["+x", "go"]).current_dir(&repo.folder).status().unwrap();
        repo.git(&["add", "-A"]);
        repo.git(&["commit", "-q", "-m", "Begin"]);
        repo
    }

    /// With a Taskfile.
    fn with_tasks() -> Self {
        let repo = Self::new("");
        repo.write(".agent/Taskfile.yml", TASKFILE);
        repo
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

    /// `baton mcp` with a connected client.
    async fn client(&self) -> (Client, Listener, tokio::process::Child) {
        self.client_with(&[]).await
    }

    /// The same with these arguments.
    async fn client_with(&self, arguments: &[&str]) -> (Client, Listener, tokio::process::Child) {
        let mut command = tokio::process::Command::from(self.baton());
        command.arg("mcp").args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let streams = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
        let listener = Listener::default();
        (listener.clone().serve(streams).await.unwrap(), listener, child)
    }

    /// The server and its address, once it listens.
    fn up(&self) -> (ServerProcess, String) {
        self.up_with(&[])
    }

    /// The same with these variables.
    fn up_with(&self, variables: &[(&str, &str)]) -> (ServerProcess, String) {
        let mut command = self.baton();
        command.args(["up", "--listen", "127.0.0.1:0"]).envs(variables.iter().copied());
        let up = command.stderr(Stdio::null()).spawn().unwrap();
        let up = ServerProcess(up);
        let find = || {
            let mut files =
                std::fs::read_dir(self.folder.join(".agent/state")).into_iter().flatten().flatten();
            files.find(|file| file.file_name().to_string_lossy().ends_with(".server.json"))
        };
        let file = wait::until_some(PATIENCE, find, || "no server file".to_owned());
        let content: Value = serde_json::from_str(&std::fs::read_to_string(file.path()).unwrap()).unwrap();
        (up, content["url"].as_str().unwrap().trim_start_matches("http://").to_owned())
    }
}

/// Ended with SIGTERM when dropped.
struct ServerProcess(Child);

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = Command::new("kill").args(["-TERM", &self.0.id().to_string()]).status();
        let _ = self.0.wait();
    }
}

fn baton(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_baton"));
    command.env("BATON_FENCE", "off");
    command.current_dir(folder).env("BATON_USER", "mia").stdin(Stdio::null());
    command.env_remove("BATON_TOKEN").env_remove("BATON_MCP_URL");
    command
}

async fn tools(client: &Client) -> Vec<String> {
    client.list_all_tools().await.unwrap().into_iter().map(|tool| tool.name.to_string()).collect()
}

/// The text of the result, and whether it is an error.
async fn call(client: &Client, name: &str, arguments: Value) -> (String, bool) {
    let mut request = CallToolRequestParams::new(name.to_owned());
    request.arguments = arguments.as_object().cloned();
    let result = serde_json::to_value(client.call_tool(request).await.unwrap()).unwrap();
    (result["content"][0]["text"].as_str().unwrap().to_owned(), result["isError"] == json!(true))
}

async fn run(client: &Client, name: &str) -> (String, bool) {
    call(client, "run_user_task", json!({ "task_name": name })).await
}
