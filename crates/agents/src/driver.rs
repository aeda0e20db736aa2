//! What every kind of agent has in common: it is launched, it tells what it does, and it ends.
//!
//! A driver owns its process tree from the start to the end and leaves nothing of it behind. It knows
//! nothing of tasks, queues or worktrees beyond the folder it is given, and decides nothing about a task: it
//! brings what the agent said into our few words and hands it over.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use baton_core::ask::question::QuestionDraft;
use baton_core::base::id::AttemptId;
use baton_core::base::time::Timestamp;
use baton_core::recycle::plan::PlanDraft;
use tokio::sync::{mpsc, watch};

use crate::ended::Ended;
use crate::environment::Environment;
use crate::identity::ProcessIdentity;
use crate::log::LOG_BYTES_MAX;
use crate::permission::{Decision, PermissionRequest};
use crate::report::{OutcomeReport, Usage};
use crate::stop_reason::StopReason;
use crate::tool_call::{ToolCall, ToolEnd};
use crate::tool_server::ToolServer;
use crate::usage::UsageKind;

/// A channel's length that keeps an agent going while its events are being written down.
pub const EVENTS_MAX: usize = 256;

/// What time it is, for the log.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// An attempt under way.
pub type Running<'a> = Pin<Box<dyn Future<Output = Ended> + Send + 'a>>;

pub trait Driver: Send + Sync {
    /// Runs one agent to its end. What happens meanwhile goes to `events`; everything that decides anything is
    /// in the [`Ended`] too, so events may be dropped by whoever only wants the end.
    ///
    /// `cancel` turning true ends the attempt. Its sender may go away; then nobody cancels. Dropping the
    /// future kills the process tree at once.
    fn run(&self, launch: Launch, events: mpsc::Sender<Event>, cancel: watch::Receiver<bool>) -> Running<'_>;
}

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
    /// Where the log is to be; see [`crate::log`] for what happens when something is there already.
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

/// Something that happened while an agent ran.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The first event of every agent that started. To be written down before anything else: after a crash it
    /// is how the process is found again.
    Started(ProcessIdentity),
    /// The number of turns used so far.
    Turn(u32),
    /// A piece of the agent's message: whole lines, or a part of one that is too long.
    Text(String),
    /// A piece of the agent's own log.
    Stderr(String),
    /// The agent's session, as it calls it. To be written down: with it a later attempt goes on.
    Session(String),
    ToolStarted(ToolCall),
    /// The id of the call, and how it came out.
    ToolEnded(String, ToolEnd),
    /// A permission was asked for, and what the policy said.
    PermissionAsked(PermissionRequest, Decision),
    /// A human is being asked while the agent waits.
    Question(QuestionDraft),
    Usage(UsageKind, Usage),
    /// The agent asked and is being ended.
    Asked(QuestionDraft),
    /// The agent's turn ended, and what it gave as the reason. It is read, and never believed.
    Stopped(StopReason),
    Outcome(OutcomeReport),
    Plan(PlanDraft),
    /// Something was not as it should be; the attempt goes on.
    Problem(String),
    /// The receiver was too slow and this many events were dropped. The log has what they said.
    Skipped(u64),
}
