//! What an attempt's end does to its task: the table of (type of task, reported result) after the evidence is in.
//!
//! Every cell is written out. There is no catch-all, so a new result or a new type of task does not compile
//! until someone has decided what it means (I2).

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::ask::detection::{asks, question_in};
use crate::ask::fallback::Fallback;
use crate::ask::question::Draft;
use crate::base::task_type::{Deliverable, TaskType};
use crate::base::text::NonBlank;
use crate::task::attempt::{AttemptEnd, AttemptResult, BlockReason, ErrorCause, Evidence, Reported};
use crate::task::state::Mark;

/// Where the attempt's end takes the task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The output is the deliverable, and it is there.
    Done,
    /// For someone to accept; `question` is what the agent would still like to know.
    Provisional {
        mark: Mark,
        question: Option<NonBlank>,
    },
    Await {
        question: Draft,
    },
    /// Only ever given to a dangerous operation.
    Block {
        question: Draft,
    },
    /// There is work and more is to come, on the same branch.
    Continue,
    Requeue {
        reason: RequeueReason,
    },
    Fail {
        error: NonBlank,
    },
}

/// Why a task goes back to the queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum RequeueReason {
    NoCommits,
    /// A breakdown ended without a plan.
    NoPlan,
    CheckFailed {
        check: NonBlank,
        output_tail: String,
    },
    /// Not the task's fault.
    Systemic {
        message: String,
    },
    /// Not the task's fault.
    LeaseExpired,
}

/// For a person, as the end of a sentence.
impl fmt::Display for RequeueReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCommits => f.write_str("it committed nothing"),
            Self::NoPlan => f.write_str("it handed in no plan"),
            Self::CheckFailed { check, .. } => write!(f, "the check {check} failed"),
            Self::Systemic { message } => write!(f, "not its fault: {message}"),
            Self::LeaseExpired => f.write_str("not its fault: the agent was lost"),
        }
    }
}

impl RequeueReason {
    /// Whether the attempt is held against the task.
    pub const fn is_blamed(&self) -> bool {
        match self {
            Self::NoCommits | Self::NoPlan | Self::CheckFailed { .. } => true,
            Self::Systemic { .. } | Self::LeaseExpired => false,
        }
    }
}

/// The verdict, and the output as people will see it (a supplied question is appended to it).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    pub verdict: Verdict,
    pub output: String,
}

/// Judges the end of an attempt at ordinary work.
pub fn judge(task_type: TaskType, end: &AttemptEnd) -> Judgement {
    let AttemptEnd { reported, verified } = end;
    let verdict = match task_type.deliverable() {
        Deliverable::Output => judge_output(reported),
        Deliverable::Code => judge_code(reported, verified),
        Deliverable::Danger => judge_danger(reported, verified),
    };
    with_shown_output(verdict, &reported.output)
}

fn judge_output(reported: &Reported) -> Verdict {
    let fallback = fallback_for(Deliverable::Output, &reported.result);
    match &reported.result {
        AttemptResult::Complete
        | AttemptResult::Incomplete
        | AttemptResult::NoEvidence
        | AttemptResult::TurnLimit
        // "Nothing to change" is no news for work that changes nothing: the output decides.
        | AttemptResult::NoChanges { .. } => {
            if reported.output.trim().is_empty() || asks(&reported.output) {
                awaiting(&reported.output, fallback)
            } else {
                Verdict::Done
            }
        }
        AttemptResult::Asked { question } => Verdict::Await { question: question.clone() },
        AttemptResult::Blocked { .. } => awaiting(&reported.output, fallback),
        AttemptResult::Error { cause, message } => failed(*cause, message),
    }
}

fn judge_code(reported: &Reported, verified: &Evidence) -> Verdict {
    let fallback = fallback_for(Deliverable::Code, &reported.result);
    match &reported.result {
        // Verified beats reported: where there are commits, "no evidence" is judged like "complete".
        AttemptResult::Complete | AttemptResult::NoEvidence => {
            if verified.shows_work() {
                with_work(reported, verified)
            } else if asks(&reported.output) {
                awaiting(&reported.output, fallback)
            } else {
                without_work(verified)
            }
        }
        AttemptResult::Incomplete => {
            if verified.shows_work() && asks(&reported.output) {
                with_work(reported, verified)
            } else if verified.shows_work() {
                Verdict::Continue
            } else {
                awaiting(&reported.output, fallback)
            }
        }
        AttemptResult::NoChanges { reason } => no_changes(reason, reported, verified),
        AttemptResult::Asked { question } => Verdict::Await { question: question.clone() },
        AttemptResult::Blocked { .. } => awaiting(&reported.output, fallback),
        AttemptResult::Error { cause, message } => failed(*cause, message),
        AttemptResult::TurnLimit => {
            if verified.shows_work() {
                Verdict::Continue
            } else {
                Verdict::Provisional { mark: Mark::BurnedOut, question: None }
            }
        }
    }
}

fn judge_danger(reported: &Reported, verified: &Evidence) -> Verdict {
    let fallback = fallback_for(Deliverable::Danger, &reported.result);
    match &reported.result {
        AttemptResult::Complete => {
            if asks(&reported.output) {
                awaiting(&reported.output, fallback)
            } else if verified.shows_work() {
                with_work(reported, verified)
            } else {
                without_work(verified)
            }
        }
        AttemptResult::Incomplete | AttemptResult::NoEvidence | AttemptResult::TurnLimit => {
            awaiting(&reported.output, fallback)
        }
        AttemptResult::NoChanges { reason } => no_changes(reason, reported, verified),
        AttemptResult::Asked { question } => Verdict::Await { question: question.clone() },
        AttemptResult::Blocked { .. } => match awaiting(&reported.output, fallback) {
            Verdict::Await { question } => Verdict::Block { question },
            other => other,
        },
        AttemptResult::Error { cause, message } => failed(*cause, message),
    }
}

/// Judges the end of a task that was made for a run. Nobody asked for code, so its output is enough; but work
/// that is there waits for someone to accept it, like any other.
pub fn judge_run(end: &AttemptEnd) -> Judgement {
    let AttemptEnd { reported, verified } = end;
    let verdict = if verified.shows_work() { judge_code(reported, verified) } else { judge_output(reported) };
    with_shown_output(verdict, &reported.output)
}

/// Judges the end of an attempt at a breakdown, whose deliverable is a plan.
pub fn judge_breakdown(end: &AttemptEnd) -> Judgement {
    let AttemptEnd { reported, verified } = end;
    let fallback = Fallback::Default;
    let verdict = match &reported.result {
        AttemptResult::Error { cause, message } => failed(*cause, message),
        AttemptResult::Asked { question } => Verdict::Await { question: question.clone() },
        AttemptResult::Complete
        | AttemptResult::Incomplete
        | AttemptResult::NoEvidence
        | AttemptResult::NoChanges { .. }
        | AttemptResult::TurnLimit
        | AttemptResult::Blocked { .. }
            if reported.plan_submitted =>
        {
            Verdict::Provisional { mark: Mark::Plan, question: question_in(&reported.output) }
        }
        AttemptResult::Blocked { .. } => awaiting(&reported.output, fallback),
        // A breakdown that burned out is nobody's to split further; the transition escalates it (I14).
        AttemptResult::TurnLimit => Verdict::Provisional { mark: Mark::BurnedOut, question: None },
        AttemptResult::Complete
        | AttemptResult::Incomplete
        | AttemptResult::NoEvidence
        | AttemptResult::NoChanges { .. } => {
            if asks(&reported.output) {
                awaiting(&reported.output, fallback)
            } else if verified.is_burned_out() {
                Verdict::Provisional { mark: Mark::BurnedOut, question: None }
            } else {
                Verdict::Requeue { reason: RequeueReason::NoPlan }
            }
        }
    };
    with_shown_output(verdict, &reported.output)
}

fn with_work(reported: &Reported, verified: &Evidence) -> Verdict {
    match verified.failed_checks().next() {
        Some(check) => Verdict::Requeue {
            reason: RequeueReason::CheckFailed {
                check: check.name.clone(),
                output_tail: check.output_tail.clone(),
            },
        },
        None => Verdict::Provisional { mark: Mark::Ready, question: question_in(&reported.output) },
    }
}

fn without_work(verified: &Evidence) -> Verdict {
    if verified.is_burned_out() {
        Verdict::Provisional { mark: Mark::BurnedOut, question: None }
    } else {
        Verdict::Requeue { reason: RequeueReason::NoCommits }
    }
}

/// "It was done already": for a human to believe or not. Commits that are there all the same speak louder,
/// and an agent that used up its turns to find this out is treated as burned out.
fn no_changes(reason: &str, reported: &Reported, verified: &Evidence) -> Verdict {
    if verified.shows_work() {
        with_work(reported, verified)
    } else if verified.is_burned_out() {
        Verdict::Provisional { mark: Mark::BurnedOut, question: None }
    } else {
        Verdict::Provisional {
            mark: Mark::NoChanges { reason: reason.to_owned() },
            question: question_in(&reported.output),
        }
    }
}

fn failed(cause: ErrorCause, message: &str) -> Verdict {
    match cause {
        ErrorCause::Systemic => {
            Verdict::Requeue { reason: RequeueReason::Systemic { message: message.to_owned() } }
        }
        ErrorCause::Own => Verdict::Fail {
            error: NonBlank::or(message, NonBlank::fixed("the agent failed without a message")),
        },
    }
}

/// The agent's own question where it asked one, else ours. I1: never without a text.
fn awaiting(output: &str, fallback: Fallback) -> Verdict {
    let supplied = fallback.question();
    let question = match question_in(output) {
        Some(text) => Draft { options: Vec::new(), text, ..supplied },
        None => supplied,
    };
    Verdict::Await { question }
}

fn fallback_for(deliverable: Deliverable, result: &AttemptResult) -> Fallback {
    match (result, deliverable) {
        // Whatever stopped it, only a person lets a dangerous operation go on.
        (_, Deliverable::Danger) => Fallback::Dangerous,
        (AttemptResult::Blocked { reason: BlockReason::Timeout } | AttemptResult::TurnLimit, _) => {
            Fallback::Timeout
        }
        (AttemptResult::Blocked { reason: BlockReason::InteractivePrompt }, _) => Fallback::Interactive,
        (_, Deliverable::Output) => Fallback::Default,
        (_, Deliverable::Code) => Fallback::Implementation,
    }
}

/// An output without a question gets the supplied one appended, so that the output alone is enough to answer.
fn with_shown_output(verdict: Verdict, output: &str) -> Judgement {
    let shown = match &verdict {
        Verdict::Await { question } | Verdict::Block { question } if !asks(output) => {
            let lead = output.trim_end();
            if lead.is_empty() { question.text.to_string() } else { format!("{lead}\n\n{}", question.text) }
        }
        Verdict::Await { .. }
        | Verdict::Block { .. }
        | Verdict::Done
        | Verdict::Provisional { .. }
        | Verdict::Continue
        | Verdict::Requeue { .. }
        | Verdict::Fail { .. } => output.to_owned(),
    };
    Judgement { verdict, output: shown }
}
