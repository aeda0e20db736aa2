//! How a run ended, in core's terms.

use std::fmt;

use baton_core::phase::discovered::DiscoveredTask;
use baton_core::phase::vagueness::Rubric;
use baton_core::recycle::plan::PlanDraft;
use baton_core::task::attempt::{AttemptReport, AttemptResult, ErrorCause};

use crate::failure::{AgentFailure, FailureKind};
pub use crate::process::exit::ProcessExit;
use crate::report::OutcomeReport;
use crate::report::stop_reason::StopReason;
use crate::report::usage::UsageKind;

/// Everything known about a run once its process tree is gone.
#[derive(Debug, Clone, PartialEq)]
pub struct RunResult {
    pub reason: EndReason,
    /// What the agent reported, or what its end implies. For a cancelled run the caller knows better.
    pub reported: AttemptReport,
    pub outcome: Option<OutcomeReport>,
    pub plan: Option<PlanDraft>,
    /// Its last rating of how vague the task is.
    pub rubric: Option<Rubric>,
    /// Tasks it discovered.
    pub discovered: Option<Vec<DiscoveredTask>>,
    pub turns: u32,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cost_micro_usd: u64,
    /// What the token counts cover.
    pub token_kind: UsageKind,
    pub cost_kind: UsageKind,
    /// The agent's session id, for a later attempt to resume.
    pub agent_session: Option<String>,
    /// The reason the agent gave for its end. Recorded, never trusted.
    pub stop_reason: Option<StopReason>,
    /// How many messages of its feed the agent got.
    pub messages_delivered: usize,
    /// Titles of the tool calls that were refused.
    pub refusals: Vec<String>,
    /// A failure that is not the task's fault.
    pub failure: Option<AgentFailure>,
    /// None when it did not start or its status is unknown.
    pub exit: Option<ProcessExit>,
    /// What went wrong on the way, one sentence each.
    pub problems: Vec<String>,
}

/// What ended the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndReason {
    /// The agent ended by itself, or asked a question.
    Finished,
    TurnLimit,
    TimedOut,
    /// No output for too long.
    Idle,
    Cancelled,
    FailedToStart,
}

impl fmt::Display for EndReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Finished => "it finished",
            Self::TurnLimit => "ended at its turn limit",
            Self::TimedOut => "ended because it took too long",
            Self::Idle => "ended because it wrote nothing for too long",
            Self::Cancelled => "stopped",
            Self::FailedToStart => "it did not start",
        })
    }
}

impl RunResult {
    /// The result of an agent that did not start. The task is not to blame.
    pub fn failed_to_start(message: String) -> Self {
        let result = AttemptResult::Error { cause: ErrorCause::Systemic, message: message.clone() };
        Self {
            reason: EndReason::FailedToStart,
            reported: AttemptReport::new(result, ""),
            outcome: None,
            plan: None,
            rubric: None,
            discovered: None,
            turns: 0,
            input_tokens: 0,
            output_tokens: 0,
            cost_micro_usd: 0,
            token_kind: UsageKind::default(),
            cost_kind: UsageKind::default(),
            agent_session: None,
            stop_reason: None,
            messages_delivered: 0,
            refusals: Vec::new(),
            failure: Some(AgentFailure {
                kind: FailureKind::CrashAtStart,
                until: None,
                is_of_model: false,
                message: message.clone(),
            }),
            exit: None,
            problems: vec![message],
        }
    }
}
