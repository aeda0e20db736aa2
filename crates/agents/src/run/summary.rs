//! Builds the [`RunResult`] of a run.

use baton_core::ask::question::QuestionDraft;
use baton_core::base::time::Timestamp;
use baton_core::task::attempt::{AttemptReport, AttemptResult, BlockReason, ErrorCause};

use crate::driver::run_result::{EndReason, RunResult};
use crate::failure::{AgentFailure, Remedy, Symptoms};
use crate::process::exit::ProcessExit;
use crate::report::ResultReport;
use crate::report::usage::UsageKind;
use crate::run::record::RunRecord;
use crate::run::transcript::{Transcript, UnreadableReport};

/// The last lines of a failed command's output that may say why.
const LAST_LINES: usize = 3;

/// The result of a command agent.
pub(crate) fn from_reports(
    transcript: Transcript,
    reason: EndReason,
    exit: Option<ProcessExit>,
    now: Timestamp,
) -> RunResult {
    let Transcript {
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
    } = transcript;
    let stderr = transcript.stderr.into_text();
    let stdout = transcript.output.into_text();
    let said = FinalReports { asked, result, unreadable };
    let output = said.output().unwrap_or(stdout.trim_end()).to_owned();
    let result = said.result(reason, exit, stderr.trim());
    let (result, failure) = blame(result, stderr.trim(), &stdout, now);
    let reported = AttemptReport { output, plan_submitted: plan.is_some(), plan_fault: None, result };
    RunResult {
        reason,
        reported,
        outcome,
        plan,
        rubric,
        discovered,
        turns,
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
        cost_micro_usd: usage.cost_micro_usd,
        token_kind: UsageKind::PerTurn,
        cost_kind: UsageKind::PerTurn,
        agent_session: None,
        stop_reason: None,
        messages_delivered: 0,
        refusals: Vec::new(),
        failure,
        exit,
        problems,
    }
}

/// The result of an agent with a two-way protocol.
pub(crate) fn from_dialogue(
    record: RunRecord,
    transcript: Transcript,
    reason: EndReason,
    exit: Option<ProcessExit>,
    now: Timestamp,
) -> RunResult {
    let stderr = transcript.stderr.into_text();
    let (result, failure) = record.result(reason, exit, stderr.trim(), now);
    let mut problems = transcript.problems;
    problems.extend(record.refusals.iter().map(|refused| format!("refused: {refused}")));
    let totals = record.totals;
    RunResult {
        reason,
        reported: AttemptReport::new(result, transcript.output.into_text().trim_end()),
        outcome: None,
        plan: None,
        rubric: None,
        discovered: None,
        turns: transcript.turns,
        input_tokens: totals.usage.input_tokens,
        output_tokens: totals.usage.output_tokens,
        cost_micro_usd: totals.usage.cost_micro_usd,
        token_kind: totals.token_kind,
        cost_kind: totals.cost_kind,
        agent_session: record.session,
        stop_reason: record.stop_reason,
        messages_delivered: record.messages_delivered,
        refusals: record.refusals,
        failure,
        exit,
        problems,
    }
}

/// The reports that determine the result.
struct FinalReports {
    asked: Option<QuestionDraft>,
    result: Option<ResultReport>,
    unreadable: Option<UnreadableReport>,
}

impl FinalReports {
    fn output(&self) -> Option<&str> {
        self.result.as_ref()?.output.as_deref()
    }

    fn result(self, reason: EndReason, exit: Option<ProcessExit>, stderr: &str) -> AttemptResult {
        match reason {
            EndReason::Finished => self.finished(exit, stderr),
            EndReason::TurnLimit => AttemptResult::TurnLimit,
            // The work was reported; only the program did not exit in time.
            EndReason::TimedOut | EndReason::Idle => match self.result {
                Some(report) => report.result,
                None => AttemptResult::Blocked { reason: BlockReason::Timeout },
            },
            // Systemic, so that the task returns to the queue without blame.
            EndReason::Cancelled => systemic("the attempt was cancelled"),
            EndReason::FailedToStart => systemic("the agent did not start"),
        }
    }

    fn finished(self, exit: Option<ProcessExit>, stderr: &str) -> AttemptResult {
        if let Some(question) = self.asked {
            return AttemptResult::Asked { question };
        }
        match (self.result.map(|report| report.result), exit) {
            (_, None) => systemic("the agent ended, but its exit status is unknown"),
            // These already report a failure; the exit code adds nothing.
            (
                Some(
                    result @ (AttemptResult::Incomplete
                    | AttemptResult::Blocked { .. }
                    | AttemptResult::Error { .. }),
                ),
                Some(_),
            ) => result,
            (Some(result), Some(ProcessExit::Code(0))) => result,
            (Some(_), Some(exit)) => own(format!("the agent reported success, but {exit}"), stderr),
            (None, Some(exit)) if exit != ProcessExit::Code(0) => own(format!("the agent {exit}"), stderr),
            (None, Some(_)) => match self.unreadable {
                // It tried to report something; calling that a success would be a guess.
                Some(UnreadableReport::Question(fault)) => {
                    AttemptResult::Blocked { reason: BlockReason::Other(fault.to_string()) }
                }
                Some(UnreadableReport::Result(fault)) => own(fault.to_string(), stderr),
                None => AttemptResult::Complete,
            },
        }
    }
}

/// A command that failed because of its provider is not its task's fault. What it says of its error is looked at, then
/// standard error, and without that the last lines of its output: whatever comes before them may be about anything.
fn blame(
    result: AttemptResult,
    stderr: &str,
    stdout: &str,
    now: Timestamp,
) -> (AttemptResult, Option<AgentFailure>) {
    let AttemptResult::Error { cause: ErrorCause::Own, message } = &result else { return (result, None) };
    let lines: Vec<&str> = stdout.lines().filter(|line| !line.trim().is_empty()).collect();
    let last_words = lines[lines.len().saturating_sub(LAST_LINES)..].join("\n");
    let stderr = if stderr.is_empty() { &last_words } else { stderr };
    let symptoms = Symptoms { error: message, stderr, was_prompted: true };
    match AgentFailure::classify(&symptoms, now) {
        // A command has no session that could be full: the task itself is too much for it.
        None => (result, None),
        Some(failure) if failure.remedy(now) == Remedy::NewSession => (result, None),
        Some(failure) => {
            let message = format!("{failure}\n{message}");
            (AttemptResult::Error { cause: ErrorCause::Systemic, message }, Some(failure))
        }
    }
}

fn systemic(message: &str) -> AttemptResult {
    AttemptResult::Error { cause: ErrorCause::Systemic, message: message.to_owned() }
}

/// `stderr` is the tail of standard error, where programs say what went wrong.
fn own(message: String, stderr: &str) -> AttemptResult {
    let message = if stderr.is_empty() { message } else { format!("{message}\n{stderr}") };
    AttemptResult::Error { cause: ErrorCause::Own, message }
}
