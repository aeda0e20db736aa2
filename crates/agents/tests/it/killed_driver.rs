//! A process that drives an agent until a test kills it, and unrelated processes that must not be ended.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use baton_agents::driver::{AgentEvent, Driver, Launch, RunLimits, SessionSetup};
use baton_agents::output::log::PrintedBytes;
use baton_agents::process::environment::AgentEnvironment;
use baton_agents::process::identity::ProcessIdentity;
use baton_agents::process::one_shot::{self, OneShot};
use baton_agents::process::watchdog;
use baton_agents::protocols::command::CommandAgent;
use baton_core::base::id::AttemptId;
use tokio::sync::{mpsc, watch};

use crate::bench::{Bench, clock, has_text, wait_until};

const FOLDER: &str = "BATON_TEST_FOLDER";
const ATTEMPT: &str = "BATON_TEST_ATTEMPT";
const WATCHED: &str = "BATON_TEST_WATCHED";

/// Children in the agent's process group, children that left it, and one of those that ignores TERM.
pub(crate) const FAMILY: &str = r#"{"spawn": {"count": 2}}, {"spawn": {"count": 2, "detached": true}},
    {"spawn": {"count": 1, "detached": true, "ignore_term": true}}"#;

/// Not a test: the program that [`KilledDriver`] starts. Runs `script.json` as an agent and, as soon as it
/// exists, `one-shot.json` as a one-shot command.
#[test]
#[ignore = "a program for other tests"]
fn drives_an_agent_until_it_is_killed() {
    let folder = PathBuf::from(std::env::var(FOLDER).unwrap());
    let attempt: AttemptId = std::env::var(ATTEMPT).unwrap().parse().unwrap();
    if std::env::var_os(WATCHED).is_some() {
        watchdog::enable(env!("CARGO_BIN_EXE_agent-watchdog").into(), [] as [&str; 0]);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        tokio::join!(drive_agent(&folder, attempt), run_one_shot(&folder, attempt));
    });
}

fn scripted_agent(script: &Path) -> Vec<String> {
    vec![env!("CARGO_BIN_EXE_scripted-agent").to_owned(), script.to_str().unwrap().to_owned()]
}

async fn drive_agent(folder: &Path, attempt: AttemptId) {
    let script = folder.join("script.json");
    if !script.exists() {
        return;
    }
    let launch = Launch {
        attempt,
        command: scripted_agent(&script),
        worktree: folder.join("worktree"),
        prompt: String::new(),
        environment: AgentEnvironment::allowed(std::env::vars_os(), &[]),
        fence: None,
        limits: RunLimits::default(),
        session: SessionSetup::default(),
        log_path: folder.join("attempt.log"),
        printed: PrintedBytes::default(),
    };
    let (sender, mut receiver) = mpsc::channel(16);
    let (_cancel, cancelled) = watch::channel(false);
    let agent = CommandAgent::new(clock());
    let watching = async {
        while let Some(event) = receiver.recv().await {
            match event {
                AgentEvent::Started(identity) => {
                    fs::write(folder.join("identity"), serde_json::to_string(&identity).unwrap()).unwrap();
                }
                event if has_text(&event, "ready") => fs::write(folder.join("ready"), "").unwrap(),
                _ => {}
            }
        }
    };
    tokio::join!(agent.run(launch, sender, cancelled), watching);
    fs::write(folder.join("ended"), "").unwrap();
}

async fn run_one_shot(folder: &Path, attempt: AttemptId) {
    let (script, ended) = (folder.join("one-shot.json"), folder.join("ended"));
    let (wanted, ended) = (script.clone(), ended);
    let waiting =
        move || wait_until("there is a command or the agent ended", || wanted.exists() || ended.exists());
    tokio::task::spawn_blocking(waiting).await.unwrap();
    if !script.exists() {
        return;
    }
    let one_shot = OneShot {
        attempt,
        command: scripted_agent(&script),
        folder: folder.join("worktree"),
        environment: AgentEnvironment::allowed(std::env::vars_os(), &[]),
        fence: None,
        input: String::new(),
        timeout: Duration::from_hours(1),
        memory_bytes_max: None,
        output_bytes_max: 1000,
    };
    one_shot::run(&one_shot, &mut watch::channel(false).1).await;
}

/// A driver in a separate process.
pub(crate) struct KilledDriver {
    child: Child,
}

impl KilledDriver {
    /// Without a watchdog: what it leaves is found by the next Baton.
    pub(crate) fn unwatched(bench: &Bench) -> Self {
        Self::start(bench, &[])
    }

    pub(crate) fn watched(bench: &Bench) -> Self {
        Self::start(bench, &[(WATCHED, "1")])
    }

    fn start(bench: &Bench, variables: &[(&str, &str)]) -> Self {
        let child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "killed_driver::drives_an_agent_until_it_is_killed",
                "--ignored",
                "--nocapture",
            ])
            .env(FOLDER, bench.folder.path())
            .env(ATTEMPT, bench.attempt.to_string())
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        Self { child }
    }

    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn wait(mut self) {
        assert!(self.child.wait().unwrap().success());
    }

    /// The pid of its watchdog, once it has its process name.
    pub(crate) fn watchdog(&self) -> u32 {
        let mut pid = None;
        wait_until("the watchdog runs", || {
            pid = child_named(self.child.id(), "agent-watchdog");
            pid.is_some()
        });
        pid.unwrap()
    }
}

impl Drop for KilledDriver {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `pid (name) state parent …`
fn child_named(parent: u32, name: &str) -> Option<u32> {
    let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| Some(entry.ok()?.path()));
    let mut stats = processes.filter_map(|path| fs::read_to_string(path.join("stat")).ok());
    let child = stats.find(|stat| {
        let fields = stat.split_once(&format!(" ({name}) ")).map(|(_, fields)| fields);
        fields.and_then(|fields| fields.split(' ').nth(1)) == Some(&parent.to_string())
    })?;
    child.split(' ').next()?.parse().ok()
}

pub(crate) fn is_pid_running(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

/// Writes the steps of a script for every prompt.
pub(crate) fn write_script(bench: &Bench, name: &str, steps: &str) {
    // Renamed into place, because the driver waits for the file.
    let unfinished = bench.path("unfinished");
    fs::write(&unfinished, format!(r#"{{"otherwise": {steps}}}"#)).unwrap();
    fs::rename(unfinished, bench.path(name)).unwrap();
}

/// Drives an agent in a separate process, kills that process, and returns the agent's identity.
pub(crate) fn kill_a_driver(bench: &Bench, steps: &str) -> ProcessIdentity {
    write_script(bench, "script.json", steps);
    let driver = KilledDriver::unwatched(bench);
    wait_until("the agent is ready", || bench.path("ready").exists());
    driver.kill();
    agent_identity(bench)
}

/// The agent's identity, as recorded by the driver.
pub(crate) fn agent_identity(bench: &Bench) -> ProcessIdentity {
    serde_json::from_str(&fs::read_to_string(bench.path("identity")).unwrap()).unwrap()
}

/// A process that belongs to no attempt.
pub(crate) struct Bystander(Child);

impl Bystander {
    /// In its own process group, like an agent. It waits for input that never comes.
    pub(crate) fn new() -> Self {
        let child = Command::new("cat").stdin(Stdio::piped()).process_group(0).spawn().unwrap();
        Self(child)
    }

    pub(crate) fn identity(&self) -> ProcessIdentity {
        ProcessIdentity::from_pid(self.0.id())
    }

    pub(crate) fn is_running(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
