//! A server in this process, with a deterministic store, ids and clock.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process;
use std::sync::{Arc, Mutex};

use baton_core::base::id::{AttemptId, TaskId};
use baton_core::base::time::Timestamp;
use baton_core::people::actor::Actor;
use baton_core::task::attempt::{AttemptEnd, AttemptReport, AttemptResult, Evidence};
use baton_core::transition::command::Command;
use baton_engine::asking::AgentGateway;
use baton_engine::base::ids::Ids;
use baton_engine::services::engine::Engine;
use baton_engine::settings::Settings;
use baton_engine::settings::location::StateLocation;
use baton_engine::settings::store_address::StoreAddress;
use baton_engine::tasks::service::TaskService;
use baton_server::http::guard::HttpGuard;
use baton_server::serve::Server;
use baton_server::state::App;
use baton_store::{SqliteOptions, SqliteStore};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::watch;

/// Always 2026-11-15T09:30:00Z.
const NOW_MS: i64 = 1_794_735_000_000;

pub(crate) struct Stage {
    scratch: TempDir,
    pub(crate) tasks: TaskService,
    pub(crate) gateway: AgentGateway,
    address: String,
    last_head: Mutex<String>,
    stop: watch::Sender<bool>,
}

fn git(folder: &Path, arguments: &[&str]) {
    let identity = ["-c", "user.name=mia", "-c", "user.email=mia@example.org"];
    let status =
        process::Command::new("git").args(identity).args(arguments).current_dir(folder).status().unwrap();
    assert!(status.success(), "git {arguments:?}");
}

impl Stage {
    pub(crate) async fn set() -> Self {
        Self::at(|| Timestamp::from_ms(NOW_MS)).await
    }

    /// The same with the test's own clock.
    pub(crate) async fn at(clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path().canonicalize().unwrap().join("app");
        std::fs::create_dir(&root).unwrap();
        git(&root, &["init", "-q", "-b", "main"]);
        git(&root, &["commit", "-q", "--allow-empty", "-m", "Begin"]);
        let state_dir = root.join(".agent/state");
        std::fs::create_dir_all(&state_dir).unwrap();
        let options = SqliteOptions { clock: Arc::new(clock), ..SqliteOptions::default() };
        let store = SqliteStore::open(&state_dir.join("app.db"), options).unwrap();
        let tasks = TaskService::new(store.into(), Ids::counted());
        let place =
            StateLocation { root, state_dir, namespace: "app".to_owned(), store: StoreAddress::default() };
        let text = "default_agent = \"claude\"\n[agents.claude]\nkind = \"command\"\ncommand = [\"sh\"]\n";
        let settings = Settings::parse(text, Path::new("baton.toml")).unwrap();
        let engine =
            Engine::new(tasks.clone(), settings, place, "baton".into(), Arc::new(|_| {})).await.unwrap();
        let server = Server::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let (stop, stopping) = watch::channel(false);
        let guard = HttpGuard::new(server.address(), None);
        let gateway = engine.workspace.agents.gateway();
        let app = App::new(engine.workspace, "mia".to_owned(), guard, stopping.clone());
        let address = server.address().to_string();
        tokio::spawn(server.run(app, stopping));
        Self { scratch, tasks, gateway, address, last_head: Mutex::default(), stop }
    }

    /// The repository's path, as it is on this machine.
    pub(crate) fn root(&self) -> String {
        self.scratch.path().canonicalize().unwrap().join("app").display().to_string()
    }

    /// One request; status and body.
    pub(crate) async fn send(&self, method: &str, path: &str, body: Option<&Value>) -> (u16, String) {
        self.send_with("", method, path, body).await
    }

    /// The same with more headers, each with its line end. Reads only the beginning of a stream.
    pub(crate) async fn send_with(
        &self,
        headers: &str,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> (u16, String) {
        let body = body.map(Value::to_string).unwrap_or_default();
        let kind = if body.is_empty() { "" } else { "content-type: application/json\r\n" };
        self.exchange(&format!("{headers}{kind}"), method, path, &body).await
    }

    /// Posts a form as our own pages do.
    pub(crate) async fn submit(&self, path: &str, fields: &str) -> (u16, String) {
        self.exchange("content-type: application/x-www-form-urlencoded\r\n", "post", path, fields).await
    }

    async fn exchange(&self, headers: &str, method: &str, path: &str, body: &str) -> (u16, String) {
        let request = format!(
            "{} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n{headers}content-length: {}\r\n\r\n{body}",
            method.to_uppercase(),
            self.address,
            body.len()
        );
        let address = self.address.clone();
        let answer = tokio::task::spawn_blocking(move || {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(request.as_bytes()).unwrap();
            let (mut answer, mut piece) = (Vec::new(), [0; 4096]);
            loop {
                let read = stream.read(&mut piece).unwrap();
                answer.extend_from_slice(&piece[..read]);
                let so_far = String::from_utf8_lossy(&answer);
                let head = so_far.split_once("\r\n\r\n").map(|(head, _)| head);
                let is_stream = head.is_some_and(|head| head.contains("content-type: text/event-stream"));
                if read == 0 || is_stream {
                    return so_far.into_owned();
                }
            }
        });
        let answer = answer.await.unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        head.clone_into(&mut self.last_head.lock().unwrap());
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    /// An agent claims the task.
    pub(crate) async fn claim(&self, task: TaskId) -> AttemptId {
        let attempt = self.tasks.ids.attempt();
        let agent = "claude".parse().unwrap();
        if self.tasks.task(task).await.unwrap().value.waits_behind().is_some() {
            self.tasks.apply(task, Command::Release, Actor::human("mia")).await.unwrap();
        }
        let claim = Command::Claim { attempt, agent, open_blockers: 0, worker: None };
        self.tasks.apply(task, claim, Actor::Baton).await.unwrap();
        attempt
    }

    /// The agent's attempt ends like this.
    pub(crate) async fn settle(
        &self,
        task: TaskId,
        attempt: AttemptId,
        reported: AttemptReport,
        verified: Evidence,
    ) {
        let end = AttemptEnd { reported, verified };
        self.tasks.apply(task, Command::Settle { attempt, end }, Actor::Baton).await.unwrap();
    }

    /// An agent works on the task and ends like this.
    pub(crate) async fn attempt(
        &self,
        task: TaskId,
        result: AttemptResult,
        output: &str,
        verified: Evidence,
    ) {
        let attempt = self.claim(task).await;
        self.settle(task, attempt, AttemptReport::new(result, output), verified).await;
    }

    /// A header of the last answer.
    pub(crate) fn last_header(&self, name: &str) -> Option<String> {
        let head = self.last_head.lock().unwrap();
        head.lines().find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(": ")?.to_owned()))
    }

    /// One request; status and the head of the answer.
    pub(crate) async fn head(&self, method: &str, path: &str, body: &Value) -> (u16, String) {
        let (status, _) = self.send(method, path, Some(body)).await;
        (status, self.last_head.lock().unwrap().clone())
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = self.stop.send(true);
    }
}
