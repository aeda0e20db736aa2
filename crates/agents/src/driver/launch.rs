//! What a driver is given for one attempt.

use std::path::PathBuf;
use std::time::Duration;

use baton_core::id::AttemptId;

use crate::driver::tool_server::ToolServer;
use crate::output::log::LOG_BYTES_MAX;
use crate::process::environment::Environment;
use crate::process::spawn::Start;

/// What to start, and within which limits.
#[derive(Debug, Clone)]
pub struct Launch {
    pub attempt: AttemptId,
    /// The program and its arguments. Never seen by a shell.
    pub command: Vec<String>,
    pub worktree: PathBuf,
    pub prompt: String,
    /// Everything the program finds in its environment; the attempt's id is added to it.
    pub environment: Environment,
    pub limits: Limits,
    pub session: SessionSetup,
    /// Where the log is to be; see [`crate::output::log`] for what happens when something is there already.
    pub log_path: PathBuf,
}

/// What an agent that keeps sessions is given beside its prompt. A command agent uses none of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionSetup {
    /// Baton's own tools; none when the agent has to do without.
    pub tools: Option<ToolServer>,
    /// The session to go on with; none begins a new one.
    pub resume: Option<Resume>,
    /// Folders outside the worktree that commits are written to: its git folder and the repository's.
    pub git_folders: Vec<PathBuf>,
    /// The model, where the settings name one.
    pub model: Option<String>,
}

/// A session of an earlier attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resume {
    /// From that attempt's [`Ended`].
    pub agent_session: String,
    /// What a new session is told when that one cannot be loaded: the task and the conversation so far.
    pub prompt_without: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The attempt ends with the turn of this number. At least one.
    pub turns_max: u32,
    /// From the start to the end.
    pub timeout: Option<Duration>,
    /// Without a byte on either stream.
    pub idle_timeout: Option<Duration>,
    /// Between being asked to stop and being ended, and again between TERM and KILL.
    pub grace: Duration,
    /// From the start to the prompt, for agents that have something to say before it.
    pub startup_timeout: Duration,
    /// How long an agent is kept waiting for a human's answer.
    pub answer_wait: Duration,
    pub log_bytes_max: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            turns_max: 50,
            timeout: Some(Duration::from_hours(2)),
            idle_timeout: Some(Duration::from_mins(20)),
            grace: Duration::from_secs(5),
            startup_timeout: Duration::from_mins(2),
            // The most impatient agents give up on a tool after a minute.
            answer_wait: Duration::from_secs(45),
            log_bytes_max: LOG_BYTES_MAX,
        }
    }
}

impl<'a> From<&'a Launch> for Start<'a> {
    fn from(launch: &'a Launch) -> Self {
        Self {
            attempt: launch.attempt,
            command: &launch.command,
            folder: &launch.worktree,
            environment: &launch.environment,
        }
    }
}
