//! A place to run one agent in: a folder of its own, an attempt's id of its own, and a look at what is left.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use baton_agents::command::CommandAgent;
use baton_agents::driver::{Clock, Driver, EVENTS_MAX, Event, Launch, Limits, SessionSetup};
use baton_agents::ended::Ended;
use baton_agents::environment::Environment;
use baton_agents::tree::Tree;
use baton_core::base::id::AttemptId;
use baton_core::base::time::Timestamp;
use tempfile::TempDir;
use tokio::sync::{mpsc, watch};

/// Longer than anything here takes on a busy machine, shorter than anyone's patience.
pub const DEADLINE: Duration = Duration::from_mins(1);

pub struct Bench {
    pub folder: TempDir,
    pub attempt: AttemptId,
}

pub struct Ran {
    pub ended: Ended,
    pub events: Vec<Event>,
}

impl Bench {
    pub fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let attempt = AttemptId::from_bits(u64::from(std::process::id()) << 32 | u64::from(number));
        let folder = TempDir::with_prefix("baton agents ä ").unwrap();
        fs::create_dir(folder.path().join("worktree")).unwrap();
        Self { folder, attempt }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn worktree(&self) -> PathBuf {
        self.path("worktree")
    }

    pub fn launch(&self, command: &[&str]) -> Launch {
        Launch {
            attempt: self.attempt,
            command: command.iter().map(|&word| word.to_owned()).collect(),
            worktree: self.worktree(),
            prompt: "the prompt".to_owned(),
            environment: Environment::allowed(std::env::vars_os(), &[]),
            limits: Limits { grace: Duration::from_millis(200), ..Limits::default() },
            session: SessionSetup::default(),
            log_path: self.path("attempt.log"),
        }
    }

    pub fn shell(&self, script: &str) -> Launch {
        self.launch(&["sh", "-c", script])
    }

    /// The scripted agent with these steps for every prompt.
    pub fn steps(&self, steps: &str) -> Launch {
        self.script(&format!(r#"{{"otherwise": {steps}}}"#))
    }

    pub fn script(&self, script: &str) -> Launch {
        let path = self.path("script.json");
        fs::write(&path, script).unwrap();
        self.launch(&[env!("CARGO_BIN_EXE_scripted-agent"), path.to_str().unwrap()])
    }

    /// The fake agent that speaks the Agent Client Protocol.
    pub fn acp(&self, script: &str) -> Launch {
        let path = self.path("acp.json");
        fs::write(&path, script).unwrap();
        self.launch(&[env!("CARGO_BIN_EXE_fake-acp-agent"), path.to_str().unwrap()])
    }

    /// The same with these steps for its only prompt.
    pub fn acp_steps(&self, steps: &str) -> Launch {
        self.acp(&format!(r#"{{"turns": [{steps}]}}"#))
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.path("attempt.log")).unwrap()
    }

    /// Makes the worktree a repository.
    pub fn init_git(&self) {
        self.git(&["init", "--quiet"]);
    }

    pub fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git").args(arguments).current_dir(self.worktree()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Living processes that carry this attempt's id, found without any of the code under test.
    pub fn alive(&self) -> Vec<String> {
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
    /// A test that failed leaves nothing behind either.
    fn drop(&mut self) {
        Tree::new(self.attempt, None).kill_at_once();
    }
}

pub fn clock() -> Clock {
    Arc::new(|| Timestamp::from_ms(0))
}

/// Runs an agent to its end.
pub async fn run(launch: Launch) -> Ran {
    run_until(launch, |_| false).await
}

/// Runs an agent, and cancels it as soon as an event is the one that was waited for.
pub async fn run_until(launch: Launch, is_awaited: impl Fn(&Event) -> bool) -> Ran {
    drive(&CommandAgent::new(clock()), launch, is_awaited).await
}

/// The same with any driver.
pub async fn drive(agent: &dyn Driver, launch: Launch, is_awaited: impl Fn(&Event) -> bool) -> Ran {
    drive_within(DEADLINE, agent, launch, is_awaited).await
}

pub async fn drive_within(
    deadline: Duration,
    agent: &dyn Driver,
    launch: Launch,
    is_awaited: impl Fn(&Event) -> bool,
) -> Ran {
    let (sender, mut receiver) = mpsc::channel(EVENTS_MAX);
    let (cancel, cancelled) = watch::channel(false);
    let watching = async {
        let mut events = Vec::new();
        while let Some(event) = receiver.recv().await {
            if is_awaited(&event) {
                cancel.send(true).unwrap();
            }
            events.push(event);
        }
        events
    };
    let both = async { tokio::join!(agent.run(launch, sender, cancelled), watching) };
    let (ended, events) = tokio::time::timeout(deadline, both).await.expect("the agent ends in time");
    Ran { ended, events }
}

pub fn says(event: &Event, text: &str) -> bool {
    matches!(event, Event::Text(said) if said.contains(text))
}

/// Looks until it is so.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < DEADLINE, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
