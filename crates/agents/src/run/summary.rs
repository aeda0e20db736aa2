//! Turns what was observed of a run into its [`Ended`].

use baton_core::attempt::{AttemptResult, BlockReason, ErrorCause, Reported};
use baton_core::question::Draft;
use baton_core::time::Timestamp;

use crate::driver::run_result::{Ended, How};
use crate::process::exit::Exit;
use crate::report::ResultReport;
use crate::report::usage::UsageKind;
use crate::run::record::Record;
use crate::run::transcript::{Heard, Unreadable};

/// The end of an agent that reports in lines on standard output.
pub(crate) fn of_reports(heard: Heard, how: How, exit: Option<Exit>) -> Ended {
    let Heard {
        turns, usage, outcome, plan, rubric, discovered, problems, asked, result, unreadable, ..
    } = heard;
    let stderr = heard.stderr.into_text();
    let stdout = heard.output.into_text();
    let said = Said { asked, result, unreadable };
    let reported = Reported {
        output: said.output().unwrap_or(stdout.trim_end()).to_owned(),
        plan_submitted: plan.is_some(),
        result: said.result(how, exit, stderr.trim()),
    };
    Ended {
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
pub(crate) fn of_dialogue(
    record: Record,
    heard: Heard,
    how: How,
    exit: Option<Exit>,
    now: Timestamp,
) -> Ended {
    let stderr = heard.stderr.into_text();
    let (result, failure) = record.result(how, exit, stderr.trim(), now);
    let mut problems = heard.problems;
    problems.extend(record.refusals.iter().map(|refused| format!("refused: {refused}")));
    let tally = record.tally;
    Ended {
        how,
        reported: Reported::new(result, heard.output.into_text().trim_end()),
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

/// The reports that can settle a result.
struct Said {
    asked: Option<Draft>,
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
