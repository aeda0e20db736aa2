//! Whether an agent is here and answers, for `baton doctor`. Needs no account, and asks no model anything.

use std::path::Path;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::time::timeout;

use baton_core::base::id::AttemptId;

use crate::acp;
use crate::driver::{Launch, Limits, SessionSetup};
use crate::environment::Environment;
use crate::excerpt::excerpt;
use crate::kind::AgentKind;
use crate::preset::Preset;
use crate::process::{Pipes, Process};

/// A program that has not said its version by then hangs, or is downloading itself.
const VERSION_PATIENCE: Duration = Duration::from_secs(20);
/// The slowest agents load for several seconds before they greet.
const GREETING_PATIENCE: Duration = Duration::from_secs(30);
const GRACE: Duration = Duration::from_secs(1);
/// A version is a line.
const VERSION_BYTES_MAX: usize = 200;
/// What is read of what it says.
const SAID_BYTES_MAX: u64 = 64 * 1024;

/// What is known of one agent on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    pub name: &'static str,
    /// Its program is on PATH.
    pub installed: bool,
    pub version: Option<String>,
    pub handshake: Handshake,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Handshake {
    /// It greeted us in our protocol; what it calls itself.
    Answered { agent: String, can_load: bool, can_http: bool },
    /// What went wrong, with what it wrote.
    Failed(String),
    /// There is nothing to shake hands with: it is not installed, or it has no greeting.
    NotTried,
}

/// Looks for the agent, asks its version, and greets it. `attempt` marks its processes, so that nothing is left.
pub async fn probe(
    preset: &Preset,
    command: &[String],
    environment: &Environment,
    attempt: AttemptId,
) -> Probe {
    let mut probe =
        Probe { name: preset.name, installed: false, version: None, handshake: Handshake::NotTried };
    let Some(program) = command.first() else { return probe };
    probe.installed = is_installed(program, environment);
    if !probe.installed {
        return probe;
    }
    let launch = |words: Vec<String>| Launch {
        attempt,
        command: words,
        worktree: std::env::temp_dir(),
        prompt: String::new(),
        environment: environment.clone(),
        limits: Limits::default(),
        session: SessionSetup::default(),
        log_path: std::path::PathBuf::new(),
    };
    if let Some((first, rest)) = preset.version.split_first() {
        // The version of the very program the settings name, where it is the same one.
        let is_same = preset.command.first() == Some(first);
        let first = if is_same { program.clone() } else { (*first).to_owned() };
        let words = std::iter::once(first).chain(rest.iter().map(|&word| word.to_owned())).collect();
        probe.version = version(launch(words)).await;
    }
    if preset.kind == AgentKind::Acp {
        probe.handshake = match handshake(launch(command.to_vec())).await {
            Ok(answered) => answered,
            Err(said) => Handshake::Failed(said),
        };
    }
    probe
}

fn is_installed(program: &str, environment: &Environment) -> bool {
    if program.contains('/') {
        return Path::new(program).is_file();
    }
    let path = environment.get("PATH").unwrap_or_default();
    std::env::split_paths(path).any(|folder| folder.join(program).is_file())
}

async fn version(launch: Launch) -> Option<String> {
    let (mut process, pipes) = Process::start(&launch).ok()?;
    let Pipes { stdin, stdout, .. } = pipes;
    drop(stdin);
    let mut said = String::new();
    let mut stdout = stdout.take(SAID_BYTES_MAX);
    let reading = stdout.read_to_string(&mut said);
    let _ = timeout(VERSION_PATIENCE, reading).await;
    process.end(GRACE).await.1.ok()?;
    let line = said.lines().find(|line| line.contains(|c: char| c.is_ascii_digit()))?;
    Some(excerpt(line.trim(), VERSION_BYTES_MAX))
}

async fn handshake(launch: Launch) -> Result<Handshake, String> {
    let (mut process, pipes) = Process::start(&launch).map_err(|error| error.to_string())?;
    let Pipes { mut stdin, stdout, stderr } = pipes;
    let greeting = acp::greeting_line();
    let mut lines = BufReader::new(stdout.take(SAID_BYTES_MAX)).lines();
    let greet = async {
        stdin.write_all(greeting.as_bytes()).await.ok()?;
        stdin.flush().await.ok()?;
        while let Ok(Some(line)) = lines.next_line().await {
            if let Some(answer) = acp::greeted(&line) {
                return Some(answer);
            }
        }
        None
    };
    let answer = timeout(GREETING_PATIENCE, greet).await;
    drop(stdin);
    process.end(GRACE).await.1.map_err(|leftover| leftover.to_string())?;
    let mut said = Vec::new();
    let _ = timeout(GRACE, stderr.take(SAID_BYTES_MAX).read_to_end(&mut said)).await;
    let said = excerpt(String::from_utf8_lossy(&said).trim(), VERSION_BYTES_MAX * 10);
    match answer {
        Ok(Some(Ok(answered))) => Ok(answered),
        Ok(Some(Err(error))) => Err(format!("it refused to greet: {error}\n{said}").trim().to_owned()),
        Ok(None) => Err(format!("it ended without a greeting\n{said}").trim().to_owned()),
        Err(_) => Err(format!("it did not greet within {GREETING_PATIENCE:?}\n{said}").trim().to_owned()),
    }
}
