//! What a driver is given for one attempt.

use std::path::PathBuf;
use std::time::Duration;

use baton_core::base::id::AttemptId;

use crate::driver::tool_server::ToolServer;
use crate::fence::Fence;
use crate::output::log::{LOG_BYTES_MAX, PrintedBytes};
use crate::process::cgroup::GroupLimits;
use crate::process::environment::{ATTEMPT_ID, AgentEnvironment};
use crate::process::spawn::ProcessSpec;

/// The agent to start, and its limits.
#[derive(Debug, Clone)]
pub struct Launch {
    pub attempt: AttemptId,
    /// Program and arguments; no shell is involved.
    pub command: Vec<String>,
    pub worktree: PathBuf,
    pub prompt: String,
    /// The program's whole environment; the attempt id is added to it.
    pub environment: AgentEnvironment,
    /// The fence it runs in, if any.
    pub fence: Option<Fence>,
    pub limits: RunLimits,
    pub session: SessionSetup,
    /// Path of the attempt log; [`crate::output::log`] says what happens when it exists.
    pub log_path: PathBuf,
    /// Counts what the agent prints.
    pub printed: PrintedBytes,
}

/// Session settings beside the prompt. Command agents ignore them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionSetup {
    /// Baton's own tools, if the agent gets any.
    pub tools: Option<ToolServer>,
    /// The session to resume; None starts a new one.
    pub resume: Option<SessionResume>,
    /// Folders that a commit writes to and a sandbox may protect: the `.git` of the agent's own clone.
    pub git_folders: Vec<PathBuf>,
    /// The model, if the settings name one.
    pub model: Option<String>,
    /// How much the model thinks, in the agent's own word, if the settings say so.
    pub effort: Option<String>,
}

/// A session of an earlier attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionResume {
    /// From that attempt's `RunResult`.
    pub agent_session: String,
    /// Prompt for a new session when that one cannot be loaded: the task and the conversation so far.
    pub prompt_without: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunLimits {
    /// The attempt ends after this many turns. At least one.
    pub turns_max: u32,
    /// For the whole run.
    pub timeout: Option<Duration>,
    /// Without output on either stream.
    pub idle_timeout: Option<Duration>,
    /// From the request to stop until TERM, and again from TERM until KILL.
    pub grace: Duration,
    /// From start to prompt, for agents with a handshake.
    pub startup_timeout: Duration,
    /// How long an agent waits for a human's answer.
    pub answer_wait: Duration,
    pub log_bytes_max: u64,
    /// What all its processes may use together, where the system enforces it.
    pub memory_bytes_max: Option<u64>,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self {
            turns_max: 50,
            timeout: Some(Duration::from_hours(2)),
            idle_timeout: Some(Duration::from_mins(20)),
            grace: Duration::from_secs(5),
            startup_timeout: Duration::from_mins(2),
            // Some agents time a tool call out after a minute.
            answer_wait: Duration::from_secs(45),
            log_bytes_max: LOG_BYTES_MAX,
            memory_bytes_max: None,
        }
    }
}

impl<'a> From<&'a Launch> for ProcessSpec<'a> {
    fn from(launch: &'a Launch) -> Self {
        Self {
            attempt: launch.attempt,
            command: &launch.command,
            folder: &launch.worktree,
            environment: &launch.environment,
            fence: launch.fence.as_ref(),
            mark: ATTEMPT_ID,
            group: Some(GroupLimits { memory_bytes: launch.limits.memory_bytes_max }),
        }
    }
}
