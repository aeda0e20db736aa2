//! A repository for one test with a scripted agent, and `baton up` on it.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::client::{self, Answer, Events};

pub(crate) struct TestServer {
    _scratch: TempDir,
    pub(crate) folder: PathBuf,
    up: Option<Child>,
    /// The standard error of the server, once it has ended.
    printed: Option<std::thread::JoinHandle<String>>,
    pub(crate) address: String,
    /// Variables for the server and every command.
    pub(crate) variables: Vec<(String, String)>,
}

/// The program under test: the one built with the tests, or the one that `BATON_TESTED` names.
fn program() -> PathBuf {
    std::env::var_os("BATON_TESTED").map_or_else(|| env!("CARGO_BIN_EXE_baton").into(), PathBuf::from)
}

fn git(folder: &Path, arguments: &[&str]) {
    let identity = ["-c", "user.name=mia", "-c", "user.email=mia@example.org"];
    let status = Command::new("git").args(identity).args(arguments).current_dir(folder).status().unwrap();
    assert!(status.success(), "git {arguments:?}");
}

impl TestServer {
    /// A repository whose agent follows `scripts`; nothing runs yet.
    pub(crate) fn new(scripts: &Value) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().canonicalize().unwrap().join("app");
        std::fs::create_dir_all(folder.join(".agent")).unwrap();
        let script = scratch.path().join("script.json");
        std::fs::write(&script, json!({ "scripts": scripts, "otherwise": ["hang"] }).to_string()).unwrap();
        let settings = format!(
            "default_agent = \"scripted\"\n[agents.scripted]\nkind = \"scripted\"\ncommand = [\"{}\"]\n",
            script.display()
        );
        std::fs::write(folder.join(".agent/baton.toml"), settings).unwrap();
        git(&folder, &["init", "-q", "-b", "main"]);
        git(&folder, &["add", "-A"]);
        git(&folder, &["commit", "-q", "-m", "Begin"]);
        Self {
            _scratch: scratch,
            folder,
            up: None,
            printed: None,
            address: String::new(),
            variables: Vec::new(),
        }
    }

    /// The same without an agent: tasks stay queued.
    pub(crate) fn without_agents() -> Self {
        let server = Self::new(&json!([]));
        std::fs::write(server.folder.join(".agent/baton.toml"), "").unwrap();
        server
    }

    pub(crate) fn start(mut self) -> Self {
        self.up(&["--listen", "127.0.0.1:0"]);
        self
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(program());
        command.current_dir(&self.folder).stdin(Stdio::null()).env("BATON_USER", "mia");
        command.env("BATON_NAMESPACE", "test").env_remove("BATON_LISTEN").env_remove("BATON_SERVER_TOKEN");
        // What agents do in these tests reaches beyond a fence; `attack` has its own.
        command.env("BATON_FENCE", "off").env_remove("BATON_STORE").envs(self.variables.clone());
        command
    }

    /// Runs git in the repository.
    pub(crate) fn git(&self, arguments: &[&str]) {
        git(&self.folder, arguments);
    }

    /// Starts `baton up` and waits until it listens.
    pub(crate) fn up(&mut self, arguments: &[&str]) {
        let mut command = self.command();
        command.arg("up").args(arguments).env("BATON_LOG", "debug");
        let mut up = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(up.stderr.take().unwrap()).lines();
        let (sender, found) = mpsc::channel();
        self.printed = Some(std::thread::spawn(move || {
            let mut printed = String::new();
            for line in lines.map_while(Result::ok) {
                if let Some(url) = line.strip_prefix("Listening on http://") {
                    let _ = sender.send(url.to_owned());
                }
                printed.push_str(&line);
                printed.push('\n');
            }
            printed
        }));
        self.up = Some(up);
        self.address = found.recv().expect("the server comes up");
    }

    /// Ends it with SIGTERM; returns its standard error.
    pub(crate) fn stop(&mut self) -> String {
        let mut up = self.up.take().unwrap();
        Command::new("kill").args(["-TERM", &up.id().to_string()]).status().unwrap();
        assert!(up.wait().unwrap().success());
        self.printed.take().unwrap().join().unwrap()
    }

    /// Ends it with SIGKILL.
    pub(crate) fn kill(&mut self) {
        let mut up = self.up.take().unwrap();
        up.kill().unwrap();
        up.wait().unwrap();
        self.printed.take().unwrap().join().unwrap();
    }

    /// A file of the running server in `/proc`.
    pub(crate) fn proc(&self, file: &str) -> String {
        std::fs::read_to_string(format!("/proc/{}/{file}", self.up.as_ref().unwrap().id())).unwrap()
    }

    pub(crate) fn memory_kib(&self) -> u64 {
        let status = self.proc("status");
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        client::get(&self.address, path)
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        client::post(&self.address, path, body)
    }

    /// The JSON at a path, which must exist.
    pub(crate) fn read(&self, path: &str) -> Value {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        answer.json()
    }

    pub(crate) fn project(&self) -> String {
        let answer = self.post("/api/projects", &json!({ "path": self.folder, "feature": true }));
        assert_eq!(answer.status, 201, "{answer:?}");
        answer.json()["project_id"].as_str().unwrap().to_owned()
    }

    /// Sends a message; returns the id of its task.
    pub(crate) fn chat(&self, project: &str, body: &Value) -> String {
        let answer = self.post(&format!("/api/projects/{project}/chat"), body);
        assert_eq!(answer.status, 201, "{answer:?}");
        answer.json()["task_id"].as_str().unwrap().to_owned()
    }

    pub(crate) fn task(&self, id: &str) -> Value {
        self.read(&format!("/api/tasks/{id}"))
    }

    /// Waits until the task has this status.
    pub(crate) fn wait_for_status(&self, id: &str, status: &str) -> Value {
        self.when(id, "status", status)
    }

    /// Waits until the task is in this queue.
    pub(crate) fn wait_for_queue(&self, id: &str, queue: &str) -> Value {
        self.when(id, "queue", queue)
    }

    /// Checks the task after every event.
    fn when(&self, id: &str, key: &str, value: &str) -> Value {
        for _ in Events::after(&self.address, 0) {
            let task = self.task(id);
            if task[key] == value {
                return task;
            }
        }
        panic!("the server ended before the {key} of {id} was {value}: {}", self.task(id))
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        if let Some(mut up) = self.up.take() {
            let _ = up.kill();
            let _ = up.wait();
        }
    }
}
