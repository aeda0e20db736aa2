//! Baton's own record of an attempt at which an agent is talked with.
//!
//! Agents say `end_turn` after everything was refused to them, and `cancelled` after one refusal. So limits,
//! refusals and calls are counted here, and what the agent says of its end is only one line among them.

use std::collections::BTreeMap;

use baton_core::ask::question::QuestionDraft;
use baton_core::base::time::Timestamp;
use baton_core::task::attempt::{AttemptResult, BlockReason, ErrorCause};

use crate::ended::{Exit, How};
use crate::failure::{Failure, Symptoms};
use crate::stop_reason::StopReason;
use crate::usage::Tally;

/// Refusals worth naming; the rest is counted by them.
const REFUSALS_NAMED_MAX: usize = 10;

#[derive(Debug, Default)]
pub struct Record {
    /// The agent's session, once it has one.
    pub session: Option<String>,
    /// It was given its prompt; before that nothing of the task can be at fault.
    pub is_prompted: bool,
    calls: BTreeMap<String, Call>,
    /// What was refused, as the agent named it.
    pub refusals: Vec<String>,
    pub tally: Tally,
    pub stop: Option<StopReason>,
    /// What the agent's protocol said of an error.
    pub error: Option<String>,
    /// The question the attempt ends with.
    pub asked: Option<QuestionDraft>,
    /// What ends the attempt, when it is not the agent.
    pub how: Option<How>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    Open,
    Done,
    Failed,
    Refused,
}

impl Record {
    /// Whether this call is new. Gemini, for one, first names a call when it asks for permission.
    pub fn is_new(&self, id: &str) -> bool {
        !self.calls.contains_key(id)
    }

    /// A call of this id has ended. Models were seen to use an id again.
    pub fn is_ended(&self, id: &str) -> bool {
        matches!(self.calls.get(id), Some(Call::Done | Call::Failed))
    }

    pub fn begun(&mut self, id: &str) {
        self.calls.insert(id.to_owned(), Call::Open);
    }

    /// True when the call was known and still open.
    pub fn ended(&mut self, id: &str, is_done: bool) -> bool {
        match self.calls.get_mut(id) {
            Some(call @ Call::Open) => {
                *call = if is_done { Call::Done } else { Call::Failed };
                true
            }
            // The agent says of a refused call that it failed; we know better why.
            Some(Call::Done | Call::Failed | Call::Refused) | None => false,
        }
    }

    pub fn refused(&mut self, id: &str, title: &str) {
        self.calls.insert(id.to_owned(), Call::Refused);
        if self.refusals.len() < REFUSALS_NAMED_MAX {
            self.refusals.push(title.to_owned());
        }
    }

    /// Everything it tried to do was refused to it.
    fn did_nothing_but_ask(&self) -> bool {
        !self.refusals.is_empty() && self.calls.values().all(|call| *call == Call::Refused)
    }

    /// How it went, in our few words, and the failure that is not the task's, if it was one.
    pub fn result(
        &self,
        how: How,
        exit: Option<Exit>,
        stderr: &str,
        now: Timestamp,
    ) -> (AttemptResult, Option<Failure>) {
        let plain = |result| (result, None);
        if let Some(question) = &self.asked {
            return plain(AttemptResult::Asked { question: question.clone() });
        }
        match how {
            How::TurnLimit => plain(AttemptResult::TurnLimit),
            How::TimedOut | How::Idle => plain(AttemptResult::Blocked { reason: BlockReason::Timeout }),
            How::Cancelled => plain(systemic("the attempt was cancelled".to_owned())),
            How::FailedToStart => self.broken("the agent did not start", exit, stderr, now),
            How::Finished => match &self.stop {
                None if self.is_prompted => {
                    self.broken("the agent ended in the middle of its turn", exit, stderr, now)
                }
                None => self.broken("the agent ended before it could be given its prompt", exit, stderr, now),
                Some(StopReason::Error) => self.broken("the agent's turn failed", None, stderr, now),
                Some(_) if self.did_nothing_but_ask() => plain(blocked(format!(
                    "every tool the agent wanted to use was refused: {}",
                    self.refusals.join(", ")
                ))),
                Some(StopReason::EndTurn | StopReason::Other(_)) => plain(AttemptResult::Complete),
                Some(StopReason::MaxTokens | StopReason::MaxTurns) => plain(AttemptResult::Incomplete),
                Some(StopReason::Refusal) => plain(blocked("the model refused to go on".to_owned())),
                // Not our doing: some agents end their turn so when something was refused to them.
                Some(StopReason::Cancelled) if !self.refusals.is_empty() => plain(blocked(format!(
                    "the agent stopped when this was refused: {}",
                    self.refusals.join(", ")
                ))),
                Some(StopReason::Cancelled) => plain(AttemptResult::Incomplete),
            },
        }
    }

    /// An agent that broke down. The task is not to blame: it has no way to make an agent's program end.
    fn broken(
        &self,
        what: &str,
        exit: Option<Exit>,
        stderr: &str,
        now: Timestamp,
    ) -> (AttemptResult, Option<Failure>) {
        let error = self.error.as_deref().unwrap_or_default();
        let symptoms = Symptoms { error, stderr, exit, was_prompted: self.is_prompted };
        let failure = Failure::classify(&symptoms, now);
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
