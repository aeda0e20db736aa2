//! How an attempt ended, in the words the rules know.

use baton_core::attempt::{AttemptResult, ErrorCause, Reported};
use baton_core::breakdown::PlanDraft;
use baton_core::discovered::DiscoveredTask;
use baton_core::vagueness::Rubric;

use crate::failure::{Failure, FailureKind};
pub use crate::process::exit::Exit;
use crate::report::OutcomeReport;
use crate::report::stop_reason::StopReason;
use crate::report::usage::UsageKind;

/// Everything that is known when nothing of the agent runs any more.
#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    pub how: How,
    /// What the agent said, or what its end says for it. When the attempt was cancelled, the caller knows
    /// better than this what it means.
    pub reported: Reported,
    pub outcome: Option<OutcomeReport>,
    pub plan: Option<PlanDraft>,
    /// How vague it found its task; the last word counts.
    pub rubric: Option<Rubric>,
    /// The tasks it came upon.
    pub discovered: Option<Vec<DiscoveredTask>>,
    pub turns: u32,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cost_micro_usd: u64,
    /// What the two numbers of tokens mean.
    pub tokens_are: UsageKind,
    pub cost_is: UsageKind,
    /// The agent's own session; with it a later attempt can go on where this one ended.
    pub agent_session: Option<String>,
    /// What the agent gave as the reason of its end. Read, never believed.
    pub stop: Option<StopReason>,
    /// What was refused to the agent, as it named it.
    pub refusals: Vec<String>,
    /// A failure that would have met any other task too.
    pub failure: Option<Failure>,
    /// None when it did not start, or when its status was never learned.
    pub exit: Option<Exit>,
    /// What was not as it should have been, each a sentence.
    pub problems: Vec<String>,
}

/// What brought the end about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// The agent ended by itself, or asked and was ended for it.
    Finished,
    TurnLimit,
    TimedOut,
    /// It wrote nothing for too long.
    Idle,
    Cancelled,
    FailedToStart,
}

impl Ended {
    /// An agent that never ran. The task is not to blame for it.
    pub fn failed_to_start(message: String) -> Self {
        let result = AttemptResult::Error { cause: ErrorCause::Systemic, message: message.clone() };
        Self {
            how: How::FailedToStart,
            reported: Reported::new(result, ""),
            outcome: None,
            plan: None,
            rubric: None,
            discovered: None,
            turns: 0,
            input_tokens: 0,
            output_tokens: 0,
            cost_micro_usd: 0,
            tokens_are: UsageKind::default(),
            cost_is: UsageKind::default(),
            agent_session: None,
            stop: None,
            refusals: Vec::new(),
            failure: Some(Failure { kind: FailureKind::CrashAtStart, until: None, said: message.clone() }),
            exit: None,
            problems: vec![message],
        }
    }
}
