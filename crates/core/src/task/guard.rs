//! Judges the end of an attempt: the table of (task type, reported result), after the evidence is in.
//!
//! Every cell is written out. There is no catch-all, so a new result or task type does not compile until someone
//! decides what it means (I2).

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::ask::detection::{asks, question_in};
use crate::ask::fallback::{Fallback, dangerous_stopped};
use crate::ask::question::QuestionDraft;
use crate::base::task_type::{Deliverable, TaskType};
use crate::base::text::NonBlank;
use crate::task::attempt::{AttemptEnd, AttemptReport, AttemptResult, BlockReason, ErrorCause, Evidence};
use crate::task::finding::WorkFinding;
use crate::task::state::ReviewMark;

/// Marks work whose run was stopped before its end.
pub const NOT_FINISHED: &str = "stopped, not finished";

/// Where the attempt's end takes the task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttemptVerdict {
    /// The output is the deliverable, and it is there.
    Done,
    /// For someone to accept; `question` is what the agent still asked.
    Provisional {
        mark: ReviewMark,
        question: Option<NonBlank>,
    },
    Await {
        question: QuestionDraft,
    },
    /// Only for dangerous operations.
    Block {
        question: QuestionDraft,
    },
    /// There is work, and more to do on the same branch.
    Continue,
    Requeue {
        reason: RequeueReason,
    },
    Fail {
        error: NonBlank,
    },
    /// Somebody stopped it before there was anything to accept (I22).
    Stop {
        reason: NonBlank,
    },
}

/// Why a task goes back to the queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum RequeueReason {
    NoCommits,
    /// A breakdown ended without a plan that can be used.
    NoPlan {
        /// What was wrong with the one it submitted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fault: Option<NonBlank>,
    },
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

/// Completes a sentence for people.
impl fmt::Display for RequeueReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCommits => f.write_str("it committed nothing"),
            Self::NoPlan { fault: None } => f.write_str("it handed in no plan"),
            Self::NoPlan { fault: Some(fault) } => write!(f, "its plan could not be used: {fault}"),
            Self::CheckFailed { check, .. } => write!(f, "the check {check} failed"),
            Self::Systemic { message } => write!(f, "not its fault: {message}"),
            Self::LeaseExpired => f.write_str("not its fault: the attempt ended early"),
        }
    }
}

impl RequeueReason {
    /// Whether the attempt counts against the task.
    pub const fn is_blamed(&self) -> bool {
        match self {
            Self::NoCommits | Self::NoPlan { .. } | Self::CheckFailed { .. } => true,
            Self::Systemic { .. } | Self::LeaseExpired => false,
        }
    }
}

/// The verdict, and the output as shown (with a supplied question appended).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    pub verdict: AttemptVerdict,
    pub output: String,
}

/// Judges an attempt at ordinary work.
pub fn judge(task_type: TaskType, end: &AttemptEnd) -> Judgement {
    let AttemptEnd { reported, verified } = end;
    let verdict = match task_type.deliverable() {
        Deliverable::Output => judge_output(reported, verified),
        Deliverable::Code => judge_code(reported, verified),
        Deliverable::Danger => judge_danger(reported, verified),
    };
    with_shown_output(verdict, reported)
}

fn judge_output(reported: &AttemptReport, verified: &Evidence) -> AttemptVerdict {
    let fallback = fallback_for(Deliverable::Output, &reported.result);
    match &reported.result {
        AttemptResult::Complete
        | AttemptResult::Incomplete
        | AttemptResult::NoEvidence
        | AttemptResult::TurnLimit
        // "Nothing to change" means nothing for work that changes nothing: the output decides.
        | AttemptResult::NoChanges { .. } => {
            if reported.output.trim().is_empty() || asks(&reported.output) {
                awaiting(&reported.output, fallback, verified)
            } else {
                AttemptVerdict::Done
            }
        }
        AttemptResult::Asked { question } => AttemptVerdict::Await { question: question.clone() },
        AttemptResult::Blocked { .. } => awaiting(&reported.output, fallback, verified),
        AttemptResult::Error { cause, message } => failed(*cause, message),
        AttemptResult::Stopped { reason } => AttemptVerdict::Stop { reason: stop_reason(reason) },
    }
}

fn judge_code(reported: &AttemptReport, verified: &Evidence) -> AttemptVerdict {
    let fallback = fallback_for(Deliverable::Code, &reported.result);
    match &reported.result {
        // Evidence beats the report: with commits, "no evidence" is judged like "complete".
        AttemptResult::Complete | AttemptResult::NoEvidence => {
            if verified.shows_work() {
                with_work(reported, verified)
            } else if asks(&reported.output) {
                awaiting(&reported.output, fallback, verified)
            } else {
                without_work(reported, verified)
            }
        }
        AttemptResult::Incomplete => {
            if verified.shows_work() && asks(&reported.output) {
                with_work(reported, verified)
            } else if verified.shows_work() {
                AttemptVerdict::Continue
            } else {
                awaiting(&reported.output, fallback, verified)
            }
        }
        AttemptResult::NoChanges { reason } => no_changes(reason, reported, verified),
        AttemptResult::Asked { question } => AttemptVerdict::Await { question: question.clone() },
        AttemptResult::Blocked { .. } => awaiting(&reported.output, fallback, verified),
        AttemptResult::Error { cause, message } => failed(*cause, message),
        AttemptResult::TurnLimit => {
            if verified.shows_work() {
                AttemptVerdict::Continue
            } else {
                AttemptVerdict::Provisional { mark: ReviewMark::BurnedOut, question: None }
            }
        }
        AttemptResult::Stopped { reason } => stopped(reason, verified),
    }
}

fn judge_danger(reported: &AttemptReport, verified: &Evidence) -> AttemptVerdict {
    let fallback = fallback_for(Deliverable::Danger, &reported.result);
    match &reported.result {
        AttemptResult::Complete => {
            let shows_nothing = reported.output.trim().is_empty() && !verified.shows_work();
            if asks(&reported.output) || shows_nothing {
                awaiting(&reported.output, fallback, verified)
            } else {
                // Never run again by itself: what it did may not be in the worktree.
                no_changes(&reported.output, reported, verified)
            }
        }
        AttemptResult::Incomplete | AttemptResult::NoEvidence => {
            awaiting(&reported.output, fallback, verified)
        }
        AttemptResult::TurnLimit if !asks(&reported.output) => {
            AttemptVerdict::Await { question: dangerous_stopped("has used up its turns", verified.commits) }
        }
        AttemptResult::TurnLimit => awaiting(&reported.output, fallback, verified),
        AttemptResult::NoChanges { reason } => no_changes(reason, reported, verified),
        AttemptResult::Asked { question } => AttemptVerdict::Await { question: question.clone() },
        AttemptResult::Blocked { reason: BlockReason::Timeout } if !asks(&reported.output) => {
            AttemptVerdict::Block {
                question: dangerous_stopped("has reached its time limit", verified.commits),
            }
        }
        AttemptResult::Blocked { .. } => match awaiting(&reported.output, fallback, verified) {
            AttemptVerdict::Await { question } => AttemptVerdict::Block { question },
            other => other,
        },
        AttemptResult::Error { cause, message } => failed(*cause, message),
        AttemptResult::Stopped { reason } => stopped(reason, verified),
    }
}

/// Judges a task that was created for a run. Nobody asked for code, so its output is enough; but code it wrote waits
/// for acceptance as usual.
pub fn judge_run(end: &AttemptEnd) -> Judgement {
    let AttemptEnd { reported, verified } = end;
    let verdict =
        if verified.shows_work() { judge_code(reported, verified) } else { judge_output(reported, verified) };
    with_shown_output(verdict, reported)
}

/// Judges an attempt at a breakdown, whose deliverable is a plan.
pub fn judge_breakdown(end: &AttemptEnd) -> Judgement {
    let AttemptEnd { reported, verified } = end;
    let fallback = Fallback::Default;
    let verdict = match &reported.result {
        AttemptResult::Error { cause, message } => failed(*cause, message),
        AttemptResult::Asked { question } => AttemptVerdict::Await { question: question.clone() },
        AttemptResult::Complete
        | AttemptResult::Incomplete
        | AttemptResult::NoEvidence
        | AttemptResult::NoChanges { .. }
        | AttemptResult::TurnLimit
        | AttemptResult::Stopped { .. }
        | AttemptResult::Blocked { .. }
            if reported.plan_submitted =>
        {
            AttemptVerdict::Provisional { mark: ReviewMark::Plan, question: question_in(&reported.output) }
        }
        AttemptResult::Blocked { .. } | AttemptResult::Stopped { .. } => {
            awaiting(&reported.output, fallback, verified)
        }
        // A breakdown that burned out is not split further; the transition escalates it (I14).
        AttemptResult::TurnLimit => {
            AttemptVerdict::Provisional { mark: ReviewMark::BurnedOut, question: None }
        }
        AttemptResult::Complete
        | AttemptResult::Incomplete
        | AttemptResult::NoEvidence
        | AttemptResult::NoChanges { .. } => {
            if asks(&reported.output) {
                awaiting(&reported.output, fallback, verified)
            } else if verified.is_burned_out() {
                AttemptVerdict::Provisional { mark: ReviewMark::BurnedOut, question: None }
            } else {
                AttemptVerdict::Requeue {
                    reason: RequeueReason::NoPlan { fault: reported.plan_fault.clone() },
                }
            }
        }
    };
    with_shown_output(verdict, reported)
}

fn with_work(reported: &AttemptReport, verified: &Evidence) -> AttemptVerdict {
    if let Some(check) = verified.broken_checks().next() {
        return AttemptVerdict::Requeue {
            reason: RequeueReason::CheckFailed {
                check: check.name.clone(),
                output_tail: check.output_tail.clone(),
            },
        };
    }
    let findings = verified.findings.iter().filter(|finding| finding.needs_person());
    let mut reasons: Vec<String> = findings.map(ToString::to_string).collect();
    if verified.changes_nothing() {
        reasons.push("its commits change no file".to_owned());
    }
    let mark = if reasons.is_empty() { ReviewMark::Ready } else { ReviewMark::NeedsReview { reasons } };
    AttemptVerdict::Provisional { mark, question: question_in(&reported.output) }
}

/// "Done", and nothing to show for it. What it wrote may be all that was wanted, which a person decides; an agent that
/// wrote nothing either, or broke its worktree, is run again.
fn without_work(reported: &AttemptReport, verified: &Evidence) -> AttemptVerdict {
    // There is work, but a person has to say what becomes of it.
    let is_left = |finding: &&WorkFinding| matches!(finding, WorkFinding::FileNotCommitted { .. });
    let left: Vec<String> = verified.findings.iter().filter(is_left).map(ToString::to_string).collect();
    if !left.is_empty() {
        let mark = ReviewMark::NeedsReview { reasons: left };
        return AttemptVerdict::Provisional { mark, question: question_in(&reported.output) };
    }
    if verified.is_burned_out() {
        AttemptVerdict::Provisional { mark: ReviewMark::BurnedOut, question: None }
    } else if !reported.output.trim().is_empty() && verified.findings.is_empty() {
        awaiting(&reported.output, Fallback::NothingChanged, verified)
    } else {
        AttemptVerdict::Requeue { reason: RequeueReason::NoCommits }
    }
}

/// "It was already done": a human decides. Commits outweigh the claim, and an agent that used up its turns to find
/// this out counts as burned out.
fn no_changes(reason: &str, reported: &AttemptReport, verified: &Evidence) -> AttemptVerdict {
    if verified.shows_work() {
        with_work(reported, verified)
    } else if verified.is_burned_out() {
        AttemptVerdict::Provisional { mark: ReviewMark::BurnedOut, question: None }
    } else {
        AttemptVerdict::Provisional {
            mark: ReviewMark::NoChanges { reason: reason.to_owned() },
            question: question_in(&reported.output),
        }
    }
}

/// The work that is there can be accepted, but only by a person who has seen that it is not finished.
fn stopped(reason: &str, verified: &Evidence) -> AttemptVerdict {
    let reason = stop_reason(reason);
    if !verified.shows_work() {
        return AttemptVerdict::Stop { reason };
    }
    let findings = verified.findings.iter().filter(|finding| finding.needs_person());
    let mut reasons = vec![NOT_FINISHED.to_owned(), reason.to_string()];
    reasons.extend(findings.map(ToString::to_string));
    AttemptVerdict::Provisional { mark: ReviewMark::NeedsReview { reasons }, question: None }
}

fn stop_reason(reason: &str) -> NonBlank {
    NonBlank::or(reason, NonBlank::fixed("stopped"))
}

fn failed(cause: ErrorCause, message: &str) -> AttemptVerdict {
    match cause {
        ErrorCause::Systemic => {
            AttemptVerdict::Requeue { reason: RequeueReason::Systemic { message: message.to_owned() } }
        }
        ErrorCause::Own => AttemptVerdict::Fail {
            error: NonBlank::or(message, NonBlank::fixed("the agent failed without a message")),
        },
    }
}

/// The agent's own question if it asked one, otherwise ours. I1: never without a text.
fn awaiting(output: &str, fallback: Fallback, verified: &Evidence) -> AttemptVerdict {
    let supplied = fallback.question_after(Some(verified.commits));
    let question = match question_in(output) {
        Some(text) => QuestionDraft { options: Vec::new(), no_holds: false, text, ..supplied },
        None => supplied,
    };
    AttemptVerdict::Await { question }
}

fn fallback_for(deliverable: Deliverable, result: &AttemptResult) -> Fallback {
    match (result, deliverable) {
        // Whatever stopped it, only a person may let a dangerous operation continue.
        (_, Deliverable::Danger) => Fallback::Dangerous,
        (AttemptResult::Blocked { reason: BlockReason::Timeout }, _) => Fallback::Timeout,
        (AttemptResult::TurnLimit, _) => Fallback::TurnLimit,
        (AttemptResult::Blocked { reason }, _) if reason.is_interactive() => Fallback::Interactive,
        (_, Deliverable::Output) => Fallback::Default,
        (_, Deliverable::Code) => Fallback::Implementation,
    }
}

/// An output without a question gets the supplied one appended, so that the output alone is enough to answer; the question
/// gets the output, so that it is, too.
fn with_shown_output(verdict: AttemptVerdict, reported: &AttemptReport) -> Judgement {
    let output = reported.output.as_str();
    let shown = match &verdict {
        AttemptVerdict::Await { question } | AttemptVerdict::Block { question } if !asks(output) => {
            let lead = output.trim_end();
            if lead.is_empty() { question.text.to_string() } else { format!("{lead}\n\n{}", question.text) }
        }
        // An agent that failed without a word is described by its error.
        AttemptVerdict::Fail { error } if output.trim().is_empty() => error.to_string(),
        AttemptVerdict::Await { .. }
        | AttemptVerdict::Block { .. }
        | AttemptVerdict::Done
        | AttemptVerdict::Provisional { .. }
        | AttemptVerdict::Continue
        | AttemptVerdict::Requeue { .. }
        | AttemptVerdict::Stop { .. }
        | AttemptVerdict::Fail { .. } => output.to_owned(),
    };
    // What the agent asked itself stands alone.
    let is_supplied = !asks(output) && !matches!(reported.result, AttemptResult::Asked { .. });
    let verdict = match verdict {
        AttemptVerdict::Await { question } if is_supplied => {
            AttemptVerdict::Await { question: question.quoting(output) }
        }
        AttemptVerdict::Block { question } if is_supplied => {
            AttemptVerdict::Block { question: question.quoting(output) }
        }
        decided => decided,
    };
    Judgement { verdict, output: shown }
}
