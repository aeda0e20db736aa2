//! After Baton itself was killed, the next one finds what is left, and touches nothing else.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use baton_agents::command::CommandAgent;
use baton_agents::driver::{Driver, Event, Launch, Limits, SessionSetup};
use baton_agents::environment::Environment;
use baton_agents::identity::{ProcessIdentity, Sighting};
use baton_agents::tree::end_orphans;
use baton_core::base::id::AttemptId;
use tokio::sync::{mpsc, watch};

use crate::bench::{Bench, clock, says, wait_until};

const NOBODY: [&str; 0] = [];
const GRACE: Duration = Duration::from_millis(200);
const FOLDER: &str = "BATON_TEST_FOLDER";
const ATTEMPT: &str = "BATON_TEST_ATTEMPT";

/// Not a test: the process that the tests below start, let drive an agent, and kill.
#[test]
#[ignore = "a program for the other tests"]
fn drives_an_agent_until_it_is_killed() {
    let folder = PathBuf::from(std::env::var(FOLDER).unwrap());
    let attempt: AttemptId = std::env::var(ATTEMPT).unwrap().parse().unwrap();
    let launch = Launch {
        attempt,
        command: vec![
            env!("CARGO_BIN_EXE_scripted-agent").to_owned(),
            folder.join("script.json").to_str().unwrap().to_owned(),
        ],
        worktree: folder.join("worktree"),
        prompt: String::new(),
        environment: Environment::allowed(std::env::vars_os(), &[]),
        limits: Limits::default(),
        session: SessionSetup::default(),
        log_path: folder.join("attempt.log"),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (sender, mut receiver) = mpsc::channel(16);
        let (_cancel, cancelled) = watch::channel(false);
        let agent = CommandAgent::new(clock());
        let watching = async {
            while let Some(event) = receiver.recv().await {
                match event {
                    Event::Started(identity) => {
                        fs::write(folder.join("identity"), serde_json::to_string(&identity).unwrap())
                            .unwrap();
                    }
                    event if says(&event, "ready") => fs::write(folder.join("ready"), "").unwrap(),
                    _ => {}
                }
            }
        };
        tokio::join!(agent.run(launch, sender, cancelled), watching);
    });
}

/// Drives an agent in a process of its own, kills that process, and returns the identity it wrote down.
fn kill_a_driver(bench: &Bench, steps: &str) -> ProcessIdentity {
    fs::write(bench.path("script.json"), format!(r#"{{"otherwise": {steps}}}"#)).unwrap();
    let mut driver = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "orphans::drives_an_agent_until_it_is_killed", "--ignored", "--nocapture"])
        .env(FOLDER, bench.folder.path())
        .env(ATTEMPT, bench.attempt.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_until("the agent is ready", || bench.path("ready").exists());
    driver.kill().unwrap();
    driver.wait().unwrap();
    serde_json::from_str(&fs::read_to_string(bench.path("identity")).unwrap()).unwrap()
}

struct Innocent(Child);

impl Innocent {
    /// In a group of its own, like an agent.
    fn new() -> Self {
        let child = Command::new("sleep").arg("600").process_group(0).spawn().unwrap();
        Self(child)
    }

    fn identity(&self) -> ProcessIdentity {
        ProcessIdentity::of(self.0.id())
    }

    fn is_untouched(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Innocent {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

const FAMILY: &str = r#"{"spawn": {"count": 2}}, {"spawn": {"count": 2, "detached": true}},
    {"spawn": {"count": 1, "detached": true, "ignore_term": true}}"#;

#[tokio::test]
async fn orphans_of_a_killed_driver_are_found_and_ended() {
    let bench = Bench::new();
    let identity =
        kill_a_driver(&bench, &format!(r#"["ignore_term", {FAMILY}, {{"say": "ready"}}, "hang"]"#));
    assert_eq!(identity.sighting(), Sighting::Alive);
    wait_until("the agent and its five grandchildren are seen", || bench.alive().len() == 6);

    let mut innocent = Innocent::new();
    end_orphans(bench.attempt, Some(&identity), GRACE).await.unwrap();
    assert_eq!(bench.alive(), NOBODY);
    assert_ne!(identity.sighting(), Sighting::Alive);
    assert!(innocent.is_untouched());
}

#[tokio::test]
async fn grandchildren_are_found_when_the_agent_is_gone() {
    let bench = Bench::new();
    let identity = kill_a_driver(&bench, &format!(r#"[{FAMILY}, {{"say": "ready"}}, "hang"]"#));
    assert!(Command::new("kill").args(["-9", &identity.pid.to_string()]).status().unwrap().success());
    wait_until("the agent is gone", || identity.sighting() != Sighting::Alive);
    wait_until("its five grandchildren are seen", || bench.alive().len() == 5);
    end_orphans(bench.attempt, Some(&identity), GRACE).await.unwrap();
    assert_eq!(bench.alive(), NOBODY);
}

#[tokio::test]
async fn orphans_are_found_when_no_identity_was_written_down() {
    let bench = Bench::new();
    kill_a_driver(&bench, &format!(r#"[{FAMILY}, {{"say": "ready"}}, "hang"]"#));
    end_orphans(bench.attempt, None, GRACE).await.unwrap();
    assert_eq!(bench.alive(), NOBODY);
}

#[tokio::test]
async fn a_process_that_only_has_the_pid_is_not_touched() {
    let bench = Bench::new();
    let mut innocent = Innocent::new();
    let now = innocent.identity();
    let reused = ProcessIdentity { started: now.started.map(|ticks| ticks - 1), ..now.clone() };
    let of_another_boot = ProcessIdentity { boot_id: Some("another".to_owned()), ..now };
    for identity in [reused, of_another_boot] {
        end_orphans(bench.attempt, Some(&identity), GRACE).await.unwrap();
        assert!(innocent.is_untouched());
    }
}

#[tokio::test]
async fn another_attempt_is_not_touched() {
    let bench = Bench::new();
    let other = Bench::new();
    let identity = kill_a_driver(&bench, r#"[{"say": "ready"}, "hang"]"#);
    end_orphans(other.attempt, None, GRACE).await.unwrap();
    assert_eq!(identity.sighting(), Sighting::Alive);
    end_orphans(bench.attempt, Some(&identity), GRACE).await.unwrap();
    assert_ne!(identity.sighting(), Sighting::Alive);
}
