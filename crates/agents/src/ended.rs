//! How an attempt ended, in the words the rules know.

use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use baton_core::ask::question::QuestionDraft;
use baton_core::base::time::Timestamp;
use baton_core::phase::discovered::DiscoveredTask;
use baton_core::phase::vagueness::Rubric;
use baton_core::recycle::plan::PlanDraft;
use baton_core::task::attempt::{AttemptReport, AttemptResult, BlockReason, ErrorCause};

use crate::failure::{Failure, FailureKind};
use crate::heard::{Heard, Unreadable};
use crate::record::Record;
use crate::report::{OutcomeReport, ResultReport};
use crate::stop_reason::StopReason;
use crate::usage::UsageKind;

/// Everything that is known when nothing of the agent runs any more.
#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    pub how: How,
    /// What the agent said, or what its end says for it. When the attempt was cancelled, the caller knows
    /// better than this what it means.
    pub reported: AttemptReport,
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Code(i32),
    Signal(i32),
}

impl From<ExitStatus> for Exit {
    fn from(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Code(code),
            (None, signal) => Self::Signal(signal.unwrap_or(0)),
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exited with code {code}"),
            Self::Signal(signal) => write!(f, "was ended by signal {signal}"),
        }
    }
}

impl Ended {
    /// An agent that never ran. The task is not to blame for it.
    pub fn failed_to_start(message: String) -> Self {
        let result = AttemptResult::Error { cause: ErrorCause::Systemic, message: message.clone() };
        Self {
            how: How::FailedToStart,
            reported: AttemptReport::new(result, ""),
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

    pub(crate) fn of(heard: Heard, how: How, exit: Option<Exit>) -> Self {
        let Heard {
            turns,
            usage,
            outcome,
            plan,
            rubric,
            discovered,
            problems,
            asked,
            result,
            unreadable,
            ..
        } = heard;
        let stderr = heard.stderr.into_text();
        let stdout = heard.output.into_text();
        let said = Said { asked, result, unreadable };
        let reported = AttemptReport {
            output: said.output().unwrap_or(stdout.trim_end()).to_owned(),
            plan_submitted: plan.is_some(),
            result: said.result(how, exit, stderr.trim()),
        };
        Self {
            how,
            reported,
            outcome,
            plan,
            rubric,
            discovered,
            turns,
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cost_micro_usd: usage.cost_micro_usd,
            tokens_are: UsageKind::PerTurn,
            cost_is: UsageKind::PerTurn,
            agent_session: None,
            stop: None,
            refusals: Vec::new(),
            failure: None,
            exit,
            problems,
        }
    }

    /// The end of an agent that was talked with.
    pub(crate) fn of_talk(
        record: Record,
        heard: Heard,
        how: How,
        exit: Option<Exit>,
        now: Timestamp,
    ) -> Self {
        let stderr = heard.stderr.into_text();
        let (result, failure) = record.result(how, exit, stderr.trim(), now);
        let mut problems = heard.problems;
        problems.extend(record.refusals.iter().map(|refused| format!("refused: {refused}")));
        let tally = record.tally;
        Self {
            how,
            reported: AttemptReport::new(result, heard.output.into_text().trim_end()),
            outcome: None,
            plan: None,
            rubric: None,
            discovered: None,
            turns: heard.turns,
            input_tokens: tally.usage.input_tokens,
            output_tokens: tally.usage.output_tokens,
            cost_micro_usd: tally.usage.cost_micro_usd,
            tokens_are: tally.tokens_are,
            cost_is: tally.cost_is,
            agent_session: record.session,
            stop: record.stop,
            refusals: record.refusals,
            failure,
            exit,
            problems,
        }
    }
}

/// The reports that can settle a result.
struct Said {
    asked: Option<QuestionDraft>,
    result: Option<ResultReport>,
    unreadable: Option<Unreadable>,
}

impl Said {
    fn output(&self) -> Option<&str> {
        self.result.as_ref()?.output.as_deref()
    }

    fn result(self, how: How, exit: Option<Exit>, stderr: &str) -> AttemptResult {
        match how {
            How::Finished => self.finished(exit, stderr),
            How::TurnLimit => AttemptResult::TurnLimit,
            // Its work was done and reported; only its program did not get to its end.
            How::TimedOut | How::Idle => match self.result {
                Some(report) => report.result,
                None => AttemptResult::Blocked { reason: BlockReason::Timeout },
            },
            // Should the caller take it as it is, the task goes back to the queue and is not blamed.
            How::Cancelled => systemic("the attempt was cancelled"),
            How::FailedToStart => systemic("the agent did not start"),
        }
    }

    fn finished(self, exit: Option<Exit>, stderr: &str) -> AttemptResult {
        if let Some(question) = self.asked {
            return AttemptResult::Asked { question };
        }
        match (self.result.map(|report| report.result), exit) {
            (_, None) => systemic("the agent ended, but the system does not say how"),
            // These say themselves that it did not go well; the exit code adds nothing.
            (
                Some(
                    result @ (AttemptResult::Incomplete
                    | AttemptResult::Blocked { .. }
                    | AttemptResult::Error { .. }),
                ),
                Some(_),
            ) => result,
            (Some(result), Some(Exit::Code(0))) => result,
            (Some(_), Some(exit)) => own(format!("the agent reported success, but {exit}"), stderr),
            (None, Some(exit)) if exit != Exit::Code(0) => own(format!("the agent {exit}"), stderr),
            (None, Some(_)) => match self.unreadable {
                // It meant to say something that matters. To take its silence for success would be a guess.
                Some(Unreadable::Question(fault)) => {
                    AttemptResult::Blocked { reason: BlockReason::Other(fault.to_string()) }
                }
                Some(Unreadable::Result(fault)) => own(fault.to_string(), stderr),
                None => AttemptResult::Complete,
            },
        }
    }
}

fn systemic(message: &str) -> AttemptResult {
    AttemptResult::Error { cause: ErrorCause::Systemic, message: message.to_owned() }
}

/// `stderr` is its end; that is where programs say what went wrong.
fn own(message: String, stderr: &str) -> AttemptResult {
    let message = if stderr.is_empty() { message } else { format!("{message}\n{stderr}") };
    AttemptResult::Error { cause: ErrorCause::Own, message }
}
