//! One execution of a task by one agent, and how it ended.
//!
//! What the agent says is [`Reported`]; what Baton itself saw is [`Evidence`]. They are two types with no
//! field in common, so a claim can never stand in for a measurement. I15: `Reported` has no place for a
//! number of commits.

use serde::{Deserialize, Serialize};

use crate::git_name::CommitId;
use crate::id::AttemptId;
use crate::question::Draft;
use crate::text::{AgentName, NonBlank};
use crate::time::Timestamp;

/// An attempt while it runs. It lives inside [`crate::state::TaskState::Claimed`], so a task has one at most (I16).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    pub id: AttemptId,
    /// 1 for a task's first attempt; counts every start, blamed or not.
    pub number: u32,
    pub agent: AgentName,
    pub started_at: Timestamp,
    /// The worker that claimed it: its worktree and its log are there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// The attempt whose worktree and agent session this one goes on with, where they still exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumes: Option<AttemptId>,
    /// The agent's own session, once it has named it. An attempt that goes on from this one goes on in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_session: Option<AgentSession>,
}

/// A conversation that an agent keeps itself, by the name it has for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentSession {
    /// Whose it is. Another agent cannot load it.
    pub agent: AgentName,
    pub id: String,
    pub since: Timestamp,
    /// It is longer than its model can read: nobody goes on in it, whatever is told has to be told anew.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_full: bool,
}

/// How the agent says it went, already brought into our few words at the door.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum AttemptResult {
    Complete,
    Incomplete,
    /// The agent says it is done but can show nothing for it.
    NoEvidence,
    /// The agent says the work was done before it came.
    NoChanges {
        reason: String,
    },
    /// The agent asked the human and ended its turn to wait.
    Asked {
        question: Draft,
    },
    Blocked {
        reason: BlockReason,
    },
    Error {
        cause: ErrorCause,
        message: String,
    },
    /// Baton ended the attempt because its turns were used up.
    TurnLimit,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum BlockReason {
    Timeout,
    InteractivePrompt,
    Unstated,
    Other(String),
}

/// Whose fault an error is. Only the task's own is held against it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCause {
    /// The agent's program is missing, a rate limit, the network: the next attempt may well succeed.
    Systemic,
    Own,
}

/// The shape of a result without its words; the columns of the result table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ResultKind {
    Complete,
    Incomplete,
    NoEvidence,
    NoChanges,
    Asked,
    Blocked,
    SystemicError,
    OwnError,
    TurnLimit,
}

impl ResultKind {
    pub const ALL: [Self; 9] = [
        Self::Complete,
        Self::Incomplete,
        Self::NoEvidence,
        Self::NoChanges,
        Self::Asked,
        Self::Blocked,
        Self::SystemicError,
        Self::OwnError,
        Self::TurnLimit,
    ];

    /// As metrics and traces name it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Incomplete => "incomplete",
            Self::NoEvidence => "no_evidence",
            Self::NoChanges => "no_changes",
            Self::Asked => "asked",
            Self::Blocked => "blocked",
            Self::SystemicError => "systemic_error",
            Self::OwnError => "own_error",
            Self::TurnLimit => "turn_limit",
        }
    }
}

impl AttemptResult {
    pub const fn kind(&self) -> ResultKind {
        match self {
            Self::Complete => ResultKind::Complete,
            Self::Incomplete => ResultKind::Incomplete,
            Self::NoEvidence => ResultKind::NoEvidence,
            Self::NoChanges { .. } => ResultKind::NoChanges,
            Self::Asked { .. } => ResultKind::Asked,
            Self::Blocked { .. } => ResultKind::Blocked,
            Self::Error { cause: ErrorCause::Systemic, .. } => ResultKind::SystemicError,
            Self::Error { cause: ErrorCause::Own, .. } => ResultKind::OwnError,
            Self::TurnLimit => ResultKind::TurnLimit,
        }
    }
}

/// Everything the agent said at the end of its attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reported {
    #[serde(flatten)]
    pub result: AttemptResult,
    #[serde(default)]
    pub output: String,
    /// Whether a plan was handed in with `submit_breakdown`. Only a breakdown task is asked for one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub plan_submitted: bool,
}

impl Reported {
    pub fn new(result: AttemptResult, output: impl Into<String>) -> Self {
        Self { result, output: output.into(), plan_submitted: false }
    }
}

/// Everything Baton measured itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Evidence {
    /// I15: counted in the attempt's own worktree, `base..head`.
    pub commits: u32,
    /// There was work in the tree that the agent had not committed. Baton commits it; it counts as work.
    pub uncommitted_changes: bool,
    pub turns: u32,
    pub turns_max: u32,
    pub files_changed: u32,
    pub insertions: u32,
    pub deletions: u32,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// Millionths of a dollar, so that sums stay exact.
    pub cost_micro_usd: u64,
    pub duration_ms: u64,
    pub checks: Vec<Check>,
    /// Where the task's branch stood at the end, of work that travels to other machines. Only what has arrived there
    /// with it can be accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<CommitId>,
}

impl Evidence {
    /// Anything in git that was not there before.
    pub const fn shows_work(&self) -> bool {
        self.commits > 0 || self.uncommitted_changes
    }

    pub fn failed_checks(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| check.exit_code != 0)
    }
}

/// A command of the user's that Baton ran over the result, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    pub name: NonBlank,
    pub exit_code: i32,
    /// The end of what it printed; enough to tell the next attempt what is wrong.
    pub output_tail: String,
}

/// How an attempt ended: both halves side by side, never mixed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptEnd {
    pub reported: Reported,
    pub verified: Evidence,
}
