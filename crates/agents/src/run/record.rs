//! Baton's own record of a conversation with an agent.
//!
//! Agents say `end_turn` after every tool call was refused, and `cancelled` after one refusal. So Baton counts calls and
//! refusals itself; the agent's stop reason is only one input to the result.

use std::collections::BTreeMap;

use baton_core::ask::question::QuestionDraft;
use baton_core::base::time::Timestamp;
use baton_core::task::attempt::{AttemptResult, BlockReason, ErrorCause};
use tracing::warn;

use crate::driver::run_result::{EndReason, ProcessExit};
use crate::failure::{AgentFailure, Symptoms};
use crate::report::stop_reason::StopReason;
use crate::report::usage::UsageTotals;

/// Refusals kept by title.
const REFUSALS_NAMED_MAX: usize = 10;

#[derive(Debug, Default)]
pub(crate) struct RunRecord {
    /// The agent's session, once it has one.
    pub session: Option<String>,
    /// The prompt was sent; before that a failure cannot be the task's fault.
    pub is_prompted: bool,
    calls: BTreeMap<String, CallState>,
    /// Titles of refused calls.
    pub refusals: Vec<String>,
    pub totals: UsageTotals,
    pub stop_reason: Option<StopReason>,
    /// The error from the agent's protocol.
    pub error: Option<String>,
    /// Messages of people that the agent got.
    pub messages_delivered: usize,
    /// The question the attempt ends with.
    pub asked: Option<QuestionDraft>,
    /// What ended the attempt, if not the agent.
    pub reason: Option<EndReason>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallState {
    Open,
    Done,
    Failed,
    Refused,
}

impl RunRecord {
    /// Whether this call is new. Gemini, for example, first mentions a call when it asks for permission.
    pub(crate) fn is_new(&self, id: &str) -> bool {
        !self.calls.contains_key(id)
    }

    /// Whether a call with this id has ended. Some models reuse ids.
    pub(crate) fn is_ended(&self, id: &str) -> bool {
        matches!(self.calls.get(id), Some(CallState::Done | CallState::Failed))
    }

    /// Whether a tool runs, as far as the agent says.
    pub(crate) fn has_open_call(&self) -> bool {
        self.calls.values().any(|call| *call == CallState::Open)
    }

    pub(crate) fn begin_call(&mut self, id: &str) {
        self.calls.insert(id.to_owned(), CallState::Open);
    }

    /// True when the call was open.
    pub(crate) fn end_call(&mut self, id: &str, is_done: bool) -> bool {
        match self.calls.get_mut(id) {
            Some(call @ CallState::Open) => {
                *call = if is_done { CallState::Done } else { CallState::Failed };
                true
            }
            // Agents report a refused call as failed; keep the refusal.
            Some(CallState::Done | CallState::Failed | CallState::Refused) | None => false,
        }
    }

    pub(crate) fn refuse_call(&mut self, id: &str, title: &str) {
        self.calls.insert(id.to_owned(), CallState::Refused);
        if self.refusals.len() < REFUSALS_NAMED_MAX {
            self.refusals.push(title.to_owned());
        }
    }

    /// Every call was refused.
    fn was_refused_everything(&self) -> bool {
        !self.refusals.is_empty() && self.calls.values().all(|call| *call == CallState::Refused)
    }

    /// The result in core's terms, and the failure if it is not the task's fault.
    pub(crate) fn result(
        &self,
        reason: EndReason,
        exit: Option<ProcessExit>,
        stderr: &str,
        now: Timestamp,
    ) -> (AttemptResult, Option<AgentFailure>) {
        let plain = |result| (result, None);
        if let Some(question) = &self.asked {
            return plain(AttemptResult::Asked { question: question.clone() });
        }
        match reason {
            EndReason::TurnLimit => plain(AttemptResult::TurnLimit),
            EndReason::TimedOut | EndReason::Idle => {
                plain(AttemptResult::Blocked { reason: BlockReason::Timeout })
            }
            EndReason::Cancelled => plain(systemic("the attempt was cancelled".to_owned())),
            EndReason::FailedToStart => self.broken_result("the agent did not start", exit, stderr, now),
            EndReason::Finished => match &self.stop_reason {
                None if self.is_prompted => {
                    self.broken_result("the agent exited in the middle of its turn", exit, stderr, now)
                }
                None => {
                    self.broken_result("the agent exited before it received its prompt", exit, stderr, now)
                }
                Some(StopReason::Error) => self.broken_result("the agent's turn failed", None, stderr, now),
                Some(_) if self.was_refused_everything() => plain(blocked(format!(
                    "every tool call of the agent was refused: {}",
                    self.refusals.join(", ")
                ))),
                Some(StopReason::EndTurn | StopReason::Other(_)) => plain(AttemptResult::Complete),
                Some(StopReason::MaxTokens | StopReason::MaxTurns) => plain(AttemptResult::Incomplete),
                Some(StopReason::Refusal) => plain(blocked("the model refused to continue".to_owned())),
                // Not Baton's cancel: some agents end their turn this way after a refusal.
                Some(StopReason::Cancelled) if !self.refusals.is_empty() => plain(blocked(format!(
                    "the agent stopped after this was refused: {}",
                    self.refusals.join(", ")
                ))),
                Some(StopReason::Cancelled) => plain(AttemptResult::Incomplete),
            },
        }
    }

    /// The result of an agent that failed. The task is not to blame.
    fn broken_result(
        &self,
        what: &str,
        exit: Option<ProcessExit>,
        stderr: &str,
        now: Timestamp,
    ) -> (AttemptResult, Option<AgentFailure>) {
        let error = self.error.as_deref().unwrap_or_default();
        let symptoms = Symptoms { error, stderr, was_prompted: self.is_prompted };
        let failure = AgentFailure::classify(&symptoms, now);
        warn!(what, failure = ?failure.as_ref().map(|failure| failure.kind), "agent failed");
        let exit = exit.map(|exit| format!(" ({exit})")).unwrap_or_default();
        let advice = failure.as_ref().map(|failure| format!(": {failure}")).unwrap_or_default();
        let mut message = format!("{what}{exit}{advice}");
        for said in [error, stderr].into_iter().filter(|said| !said.is_empty()) {
            message.push('\n');
            message.push_str(said);
        }
        (systemic(message), failure)
    }
}

fn systemic(message: String) -> AttemptResult {
    AttemptResult::Error { cause: ErrorCause::Systemic, message }
}

fn blocked(reason: String) -> AttemptResult {
    AttemptResult::Blocked { reason: BlockReason::Other(reason) }
}
