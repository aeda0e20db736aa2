//! Runs one agent in a folder and with an attempt id of its own, and finds the processes it leaves.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use baton_agents::driver::run_result::RunResult;
use baton_agents::driver::{AgentEvent, Driver, EVENTS_MAX, Launch, RunClock, RunLimits, SessionSetup};
use baton_agents::output::log::PrintedBytes;
use baton_agents::process::environment::AgentEnvironment;
use baton_agents::process::tree::ProcessTree;
use baton_agents::protocols::command::CommandAgent;
use baton_core::base::id::AttemptId;
use baton_core::base::time::Timestamp;
use tempfile::TempDir;
use tokio::sync::{mpsc, watch};

use crate::wait;

/// Longer than anything here takes on a busy machine.
pub(crate) const DEADLINE: Duration = Duration::from_mins(3);

pub(crate) struct Bench {
    pub(crate) folder: TempDir,
    pub(crate) attempt: AttemptId,
}

pub(crate) struct FinishedRun {
    pub(crate) ended: RunResult,
    pub(crate) events: Vec<AgentEvent>,
}

impl Bench {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let attempt = AttemptId::from_bits(u64::from(std::process::id()) << 32 | u64::from(number));
        let folder = TempDir::with_prefix("baton agents ä ").unwrap();
        fs::create_dir(folder.path().join("worktree")).unwrap();
        Self { folder, attempt }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn worktree(&self) -> PathBuf {
        self.path("worktree")
    }

    pub(crate) fn launch(&self, command: &[&str]) -> Launch {
        Launch {
            attempt: self.attempt,
            command: command.iter().map(|&word| word.to_owned()).collect(),
            worktree: self.worktree(),
            prompt: "the prompt".to_owned(),
            environment: AgentEnvironment::allowed(std::env::vars_os(), &[]),
            fence: None,
            limits: RunLimits { grace: Duration::from_millis(200), ..RunLimits::default() },
            session: SessionSetup::default(),
            log_path: self.path("attempt.log"),
            printed: PrintedBytes::default(),
        }
    }

    pub(crate) fn shell(&self, script: &str) -> Launch {
        self.launch(&["sh", "-c", script])
    }

    /// The scripted agent with these steps for every prompt.
    pub(crate) fn steps(&self, steps: &str) -> Launch {
        self.script(&format!(r#"{{"otherwise": {steps}}}"#))
    }

    pub(crate) fn script(&self, script: &str) -> Launch {
        let path = self.path("script.json");
        fs::write(&path, script).unwrap();
        self.launch(&[env!("CARGO_BIN_EXE_scripted-agent"), path.to_str().unwrap()])
    }

    /// The fake agent that speaks the Agent Client Protocol.
    pub(crate) fn acp(&self, script: &str) -> Launch {
        let path = self.path("acp.json");
        fs::write(&path, script).unwrap();
        self.launch(&[env!("CARGO_BIN_EXE_fake-acp-agent"), path.to_str().unwrap()])
    }

    /// The same with these steps for its only prompt.
    pub(crate) fn acp_steps(&self, steps: &str) -> Launch {
        self.acp(&format!(r#"{{"turns": [{steps}]}}"#))
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.path("attempt.log")).unwrap()
    }

    /// Makes the worktree a git repository.
    pub(crate) fn init_git(&self) {
        self.git(&["init", "--quiet"]);
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git").args(arguments).current_dir(self.worktree()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Live processes with this attempt's id, found without the code under test.
    pub(crate) fn alive(&self) -> Vec<String> {
        let mark = format!("BATON_ATTEMPT_ID={}", self.attempt);
        let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| Some(entry.ok()?.path()));
        processes
            .filter(|path| {
                let environ = fs::read(path.join("environ")).unwrap_or_default();
                environ.split(|&byte| byte == 0).any(|entry| entry == mark.as_bytes())
            })
            .map(|path| fs::read_to_string(path.join("stat")).unwrap_or_default())
            .filter(|stat| !stat.contains(") Z "))
            .collect()
    }
}

impl Drop for Bench {
    /// A failed test leaves no processes either.
    fn drop(&mut self) {
        ProcessTree::new(self.attempt, None).kill_now();
    }
}

pub(crate) fn clock() -> RunClock {
    Arc::new(|| Timestamp::from_ms(0))
}

/// Runs an agent to its end.
pub(crate) async fn run(launch: Launch) -> FinishedRun {
    run_until(launch, |_| false).await
}

/// Runs an agent and cancels it at the first matching event.
pub(crate) async fn run_until(launch: Launch, is_match: impl Fn(&AgentEvent) -> bool) -> FinishedRun {
    drive(&CommandAgent::new(clock()), launch, is_match).await
}

/// The same with any driver.
pub(crate) async fn drive(
    agent: &dyn Driver,
    launch: Launch,
    is_match: impl Fn(&AgentEvent) -> bool,
) -> FinishedRun {
    drive_within(DEADLINE, agent, launch, is_match).await
}

pub(crate) async fn drive_within(
    deadline: Duration,
    agent: &dyn Driver,
    launch: Launch,
    is_match: impl Fn(&AgentEvent) -> bool,
) -> FinishedRun {
    let (sender, mut receiver) = mpsc::channel(EVENTS_MAX);
    let (cancel, cancelled) = watch::channel(false);
    let watching = async {
        let mut events = Vec::new();
        while let Some(event) = receiver.recv().await {
            if is_match(&event) {
                cancel.send(true).unwrap();
            }
            events.push(event);
        }
        events
    };
    let both = async { tokio::join!(agent.run(launch, sender, cancelled), watching) };
    let (ended, events) =
        tokio::time::timeout(deadline, both).await.expect("the agent ends before the deadline");
    FinishedRun { ended, events }
}

pub(crate) fn has_text(event: &AgentEvent, text: &str) -> bool {
    matches!(event, AgentEvent::Text(chunk) if chunk.contains(text))
}

pub(crate) fn wait_until(what: &str, is_true: impl FnMut() -> bool) {
    wait::until(DEADLINE, is_true, || what.to_owned());
}
