//! Checks whether an agent is installed and answers, for `baton doctor`. Needs no account and calls no model.

use std::path::Path;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::time::timeout;

use baton_core::base::id::AttemptId;

use crate::driver::{Launch, RunLimits, SessionSetup};
use crate::output::excerpt::excerpt;
use crate::output::log::PrintedBytes;
use crate::presets::kind::AgentKind;
use crate::presets::preset::Preset;
use crate::process::environment::AgentEnvironment;
use crate::process::spawn::{Process, ProcessPipes};
use crate::protocols::acp::{self, Greeting};

/// A program that takes longer hangs, or is downloading itself.
const VERSION_PATIENCE: Duration = Duration::from_secs(20);
/// The slowest agents load for several seconds before they answer.
const GREETING_PATIENCE: Duration = Duration::from_secs(30);
const GRACE: Duration = Duration::from_secs(1);
const VERSION_BYTES_MAX: usize = 200;
/// Output read from the program.
const SAID_BYTES_MAX: u64 = 64 * 1024;

/// The state of one agent on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    pub name: &'static str,
    /// Its program is on PATH.
    pub installed: bool,
    pub version: Option<String>,
    pub handshake: AcpHandshake,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AcpHandshake {
    /// It answered `initialize`; `agent` is its name and version.
    Answered { agent: String, can_load: bool, can_http: bool },
    /// The error, with the program's output.
    Failed(String),
    /// It is not installed, or its protocol has no handshake.
    NotTried,
}

/// Looks for the program, its version and its handshake. `attempt` marks its processes, so that none is left.
pub async fn probe(
    preset: &Preset,
    command: &[String],
    environment: &AgentEnvironment,
    attempt: AttemptId,
) -> Probe {
    let mut probe =
        Probe { name: preset.name, installed: false, version: None, handshake: AcpHandshake::NotTried };
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
        fence: None,
        limits: RunLimits::default(),
        session: SessionSetup::default(),
        log_path: std::path::PathBuf::new(),
        printed: PrintedBytes::default(),
    };
    if let Some((first, rest)) = preset.version.split_first() {
        // Ask the program that the settings name, if it is the same one.
        let is_same = preset.command.first() == Some(first);
        let first = if is_same { program.clone() } else { (*first).to_owned() };
        let words = std::iter::once(first).chain(rest.iter().map(|&word| word.to_owned())).collect();
        probe.version = version(launch(words)).await;
    }
    if preset.kind == AgentKind::Acp {
        probe.handshake = match handshake(launch(command.to_vec())).await {
            Ok(Greeting { agent, can_load, can_http }) => {
                AcpHandshake::Answered { agent, can_load, can_http }
            }
            Err(said) => AcpHandshake::Failed(said),
        };
    }
    probe
}

/// Whether a program can be started by this name.
pub fn is_installed(program: &str, environment: &AgentEnvironment) -> bool {
    if program.contains('/') {
        return Path::new(program).is_file();
    }
    let path = environment.get("PATH").unwrap_or_default();
    std::env::split_paths(path).any(|folder| folder.join(program).is_file())
}

async fn version(launch: Launch) -> Option<String> {
    let (mut process, pipes) = Process::start(&launch).ok()?;
    let ProcessPipes { stdin, stdout, .. } = pipes;
    drop(stdin);
    let mut said = String::new();
    let mut stdout = stdout.take(SAID_BYTES_MAX);
    let reading = stdout.read_to_string(&mut said);
    let _ = timeout(VERSION_PATIENCE, reading).await;
    process.end(GRACE).await.1.ok()?;
    let line = said.lines().find(|line| line.contains(|c: char| c.is_ascii_digit()))?;
    Some(excerpt(line.trim(), VERSION_BYTES_MAX))
}

async fn handshake(launch: Launch) -> Result<Greeting, String> {
    let (mut process, pipes) = Process::start(&launch).map_err(|error| error.to_string())?;
    let ProcessPipes { mut stdin, stdout, stderr } = pipes;
    let greeting = acp::greeting_line();
    let mut lines = BufReader::new(stdout.take(SAID_BYTES_MAX)).lines();
    let greet = async {
        stdin.write_all(greeting.as_bytes()).await.ok()?;
        stdin.flush().await.ok()?;
        while let Ok(Some(line)) = lines.next_line().await {
            if let Some(answer) = acp::parse_greeting(&line) {
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
        Ok(Some(Err(error))) => Err(format!("it rejected the handshake: {error}\n{said}").trim().to_owned()),
        Ok(None) => Err(format!("it exited without a handshake\n{said}").trim().to_owned()),
        Err(_) => Err(format!("no handshake within {GREETING_PATIENCE:?}\n{said}").trim().to_owned()),
    }
}
