//! One execution of a task by one agent, and how it ended.
//!
//! What the agent says is [`AttemptReport`]; what Baton measured is [`Evidence`]. They are two types with no field in
//! common, so a claim can never stand in for a measurement. I15: `AttemptReport` has no field for a number of
//! commits.

use serde::{Deserialize, Serialize};

use crate::ask::question::QuestionDraft;
use crate::base::git_name::CommitId;
use crate::base::id::AttemptId;
use crate::base::text::{AgentName, NonBlank};
use crate::base::time::Timestamp;
use crate::task::finding::WorkFinding;

/// A running attempt. It lives inside [`crate::task::state::TaskState::Claimed`], so a task has at most one (I16).
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
    /// The attempt whose worktree and agent session this one continues, if they still exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumes: Option<AttemptId>,
    /// The agent's own session, once known. A later attempt may resume it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_session: Option<AgentSession>,
}

/// A conversation kept by the agent itself, under its own id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentSession {
    /// Its agent. Another agent cannot load it.
    pub agent: AgentName,
    /// The account it was on, if there was a choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<AgentName>,
    pub id: String,
    pub since: Timestamp,
    /// Its context is full: it cannot be resumed, and everything has to be said again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_full: bool,
    /// For agents that count by session, not by run: what it had used when it was last left.
    #[serde(default, skip_serializing_if = "SessionUse::is_nothing")]
    pub used: SessionUse,
}

/// What a session has used since it began, as its agent counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionUse {
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// Millionths of a dollar.
    pub cost_micro_usd: u64,
}

impl SessionUse {
    fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// What was used since `before`. A count that is lower than before began anew.
    pub fn since(self, before: Self) -> Self {
        let tokens = |of: Self| of.input_tokens.saturating_add(of.output_tokens);
        let counts_on = tokens(self) >= tokens(before);
        let before_tokens = if counts_on { before } else { Self::default() };
        let before_cost =
            if self.cost_micro_usd >= before.cost_micro_usd { before.cost_micro_usd } else { 0 };
        Self {
            input_tokens: self.input_tokens.saturating_sub(before_tokens.input_tokens),
            output_tokens: self.output_tokens.saturating_sub(before_tokens.output_tokens),
            cost_micro_usd: self.cost_micro_usd - before_cost,
        }
    }
}

/// The agent's result, normalised on the way in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum AttemptResult {
    Complete,
    Incomplete,
    /// The agent says it is done but has nothing to show.
    NoEvidence,
    /// The agent says the work was already done.
    NoChanges {
        reason: String,
    },
    /// The agent asked the human and ended its turn to wait.
    Asked {
        question: QuestionDraft,
    },
    Blocked {
        reason: BlockReason,
    },
    Error {
        cause: ErrorCause,
        message: String,
    },
    /// Baton ended the attempt at its turn limit.
    TurnLimit,
    /// Somebody stopped it before it was finished: a person, or the agent itself.
    Stopped {
        reason: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum BlockReason {
    Timeout,
    InteractivePrompt,
    Unstated,
    Other(String),
}

impl BlockReason {
    /// A program waited for somebody at the keyboard.
    pub fn is_interactive(&self) -> bool {
        match self {
            Self::InteractivePrompt => true,
            Self::Other(reason) => reason.trim().eq_ignore_ascii_case("STDIN_REQUIRED"),
            Self::Timeout | Self::Unstated => false,
        }
    }
}

/// Whose fault an error is. Only the task's own counts against it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCause {
    /// Missing binary, rate limit, network: the next attempt may well succeed.
    Systemic,
    Own,
}

/// The kind of a result without its contents; the columns of the result table.
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
    Stopped,
}

impl ResultKind {
    pub const ALL: [Self; 10] = [
        Self::Complete,
        Self::Incomplete,
        Self::NoEvidence,
        Self::NoChanges,
        Self::Asked,
        Self::Blocked,
        Self::SystemicError,
        Self::OwnError,
        Self::TurnLimit,
        Self::Stopped,
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
            Self::Stopped => "stopped",
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
            Self::Stopped { .. } => ResultKind::Stopped,
        }
    }
}

/// Everything the agent said at the end of its attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptReport {
    #[serde(flatten)]
    pub result: AttemptResult,
    #[serde(default)]
    pub output: String,
    /// Whether a plan was submitted with `submit_breakdown`. Only breakdown tasks need one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub plan_submitted: bool,
    /// What was wrong with the plan it submitted, if it could not be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_fault: Option<NonBlank>,
}

impl AttemptReport {
    pub fn new(result: AttemptResult, output: impl Into<String>) -> Self {
        Self { result, output: output.into(), plan_submitted: false, plan_fault: None }
    }
}

/// The accounts that the agents of one attempt ran on, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UsedAccounts(pub Vec<AgentName>);

/// Everything Baton measured itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Evidence {
    /// What its agents ran on, where accounts are set up. Boxed, because evidence is part of commands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accounts: Option<Box<UsedAccounts>>,
    /// I15: counted in the attempt's own worktree, `base..head`.
    pub commits: u32,
    /// The agent left uncommitted work. Baton commits it; it counts as work.
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
    pub checks: Vec<CheckResult>,
    /// The commit the attempt started from; everything is measured from there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<CommitId>,
    /// The head of the task's branch at the end. Exactly this commit is merged when the work is accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<CommitId>,
    /// What is odd about it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<WorkFinding>,
}

/// Tenths of the turns after which an attempt without work counts as burned out: 40 of 50.
const BURNED_OUT_TENTHS: u64 = 8;

impl Evidence {
    /// No work in git, and the turns (nearly) used up. Uncommitted changes are work.
    pub const fn is_burned_out(&self) -> bool {
        let turns_used = self.turns as u64 * 10 >= self.turns_max as u64 * BURNED_OUT_TENTHS;
        !self.shows_work() && self.turns > 0 && turns_used
    }

    /// Whether git has anything new.
    pub const fn shows_work(&self) -> bool {
        self.commits > 0 || self.uncommitted_changes
    }

    /// The checks that fail because of the work. One that fails without it too is nothing its agent is sent back for: the
    /// branch is red, and landing waits until it is not.
    pub fn broken_checks(&self) -> impl Iterator<Item = &CheckResult> {
        self.checks.iter().filter(|check| check.exit_code != 0 && !check.fails_without)
    }

    /// There are commits, and together they change no file. Where nothing was measured, nothing is known.
    pub const fn changes_nothing(&self) -> bool {
        self.commits > 0 && self.files_changed == 0 && !self.uncommitted_changes && self.head.is_some()
    }
}

/// A check of the user's that Baton ran on the result, and its output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckResult {
    pub name: NonBlank,
    pub exit_code: i32,
    /// The end of its output; enough to tell the next attempt what is wrong.
    pub output_tail: String,
    /// It fails on what the work started from, too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fails_without: bool,
}

impl CheckResult {
    pub fn new(name: NonBlank, exit_code: i32, output_tail: impl Into<String>) -> Self {
        Self { name, exit_code, output_tail: output_tail.into(), fails_without: false }
    }
}

/// How an attempt ended: claim and evidence side by side, never mixed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptEnd {
    pub reported: AttemptReport,
    pub verified: Evidence,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(commits: u32, turns: u32) -> Evidence {
        Evidence { commits, turns, turns_max: 50, ..Evidence::default() }
    }

    #[test]
    fn burned_out_is_no_commits_and_four_fifths_of_the_turns() {
        assert!(!evidence(0, 39).is_burned_out());
        assert!(evidence(0, 40).is_burned_out());
        assert!(evidence(0, 50).is_burned_out());
        assert!(!evidence(1, 50).is_burned_out());
    }

    #[test]
    fn what_a_resumed_session_used_before_counts_once() {
        let used = |input_tokens, output_tokens, cost_micro_usd| SessionUse {
            input_tokens,
            output_tokens,
            cost_micro_usd,
        };
        assert_eq!(used(150, 30, 9).since(used(100, 10, 4)), used(50, 20, 5));
        assert_eq!(used(150, 30, 9).since(SessionUse::default()), used(150, 30, 9));
        // Some agents begin to count anew when a session is loaded.
        assert_eq!(used(20, 5, 9).since(used(100, 10, 4)), used(20, 5, 5));
        assert_eq!(used(150, 30, 3).since(used(100, 10, 4)), used(50, 20, 3));
    }

    #[test]
    fn uncommitted_changes_are_work() {
        let uncommitted = Evidence { uncommitted_changes: true, ..evidence(0, 50) };
        assert!(!uncommitted.is_burned_out());
    }

    #[test]
    fn an_attempt_that_never_took_a_turn_did_not_burn_out() {
        assert!(!Evidence::default().is_burned_out());
    }
}
