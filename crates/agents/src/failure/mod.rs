//! Failures that are not the task's fault: recognises them by their wording and says what to do.
//!
//! Pure functions of texts and time. Only error messages are looked at, never the agent's ordinary output, which may well
//! be about rate limits.

#[cfg(test)]
mod tests;
mod until;
mod wording;
use std::fmt;

use baton_core::base::time::Timestamp;

use crate::output::excerpt::excerpt;

/// How much of the error message is kept.
const SAID_BYTES_MAX: usize = 2 * 1024;
/// Hold after a rate limit without a time.
const RATE_LIMIT_PAUSE_MS: i64 = 5 * 60 * 1000;
/// Hold after an overload or a network error, which pass sooner.
const PASSING_PAUSE_MS: i64 = 60 * 1000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FailureKind {
    /// Too many requests, or a plan's allowance is used up for now. Recovers by itself.
    RateLimit,
    /// No credit or allowance is left. Does not recover by itself.
    Quota,
    /// The key is missing or invalid, or the login has expired.
    Authentication,
    /// The provider is overloaded or has an error.
    Overload,
    /// The conversation exceeds the model's context window.
    ContextOverflow,
    /// The provider refuses the conversation as it is, and would refuse it again.
    BrokenSession,
    /// The provider could not be reached.
    Network,
    /// The program ended before it received its prompt.
    CrashAtStart,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentFailure {
    pub kind: FailureKind,
    /// When it is over, if the message says so.
    pub until: Option<Timestamp>,
    /// The message speaks of one model: others of the account may have room.
    pub is_of_model: bool,
    pub message: String,
}

/// What to do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// Start nothing on this agent's account before then.
    HoldUntil(Timestamp),
    /// Start nothing on this agent's account until a human has fixed it.
    HoldForHuman,
    /// Continue in a new session with the conversation so far as its prompt.
    NewSession,
}

/// The evidence of a failure.
#[derive(Debug, Clone, Copy, Default)]
pub struct Symptoms<'a> {
    /// The error from the agent's protocol; takes precedence.
    pub error: &'a str,
    /// The end of standard error.
    pub stderr: &'a str,
    /// It was given its prompt.
    pub was_prompted: bool,
}

impl AgentFailure {
    /// None when the symptoms are not recognised.
    pub fn classify(symptoms: &Symptoms<'_>, now: Timestamp) -> Option<Self> {
        let from = |text: &str| {
            let kind = wording::kind(text)?;
            let until = until::find(text, now);
            let kind = match kind {
                // An allowance that renews is a rate limit, whatever it is called.
                FailureKind::Quota if until.is_some() => FailureKind::RateLimit,
                kind => kind,
            };
            let is_of_model = kind == FailureKind::RateLimit && wording::is_of_model(text);
            Some(Self { kind, until, is_of_model, message: excerpt(text.trim(), SAID_BYTES_MAX) })
        };
        from(symptoms.error).or_else(|| from(symptoms.stderr)).or_else(|| {
            let said = if symptoms.error.trim().is_empty() { symptoms.stderr } else { symptoms.error };
            (!symptoms.was_prompted).then(|| Self {
                kind: FailureKind::CrashAtStart,
                until: None,
                is_of_model: false,
                message: excerpt(said.trim(), SAID_BYTES_MAX),
            })
        })
    }

    pub fn remedy(&self, now: Timestamp) -> Remedy {
        match self.kind {
            FailureKind::RateLimit => {
                Remedy::HoldUntil(self.until.unwrap_or_else(|| now.plus_ms(RATE_LIMIT_PAUSE_MS)))
            }
            FailureKind::Overload | FailureKind::Network => {
                Remedy::HoldUntil(self.until.unwrap_or_else(|| now.plus_ms(PASSING_PAUSE_MS)))
            }
            FailureKind::Quota | FailureKind::Authentication | FailureKind::CrashAtStart => {
                Remedy::HoldForHuman
            }
            FailureKind::ContextOverflow | FailureKind::BrokenSession => Remedy::NewSession,
        }
    }
}

impl FailureKind {
    /// What is wrong and what to do next, as a sentence.
    pub const fn advice(self) -> &'static str {
        match self {
            Self::RateLimit => "the provider's rate limit is reached; this agent gets no work until it ends",
            Self::Quota => "the account has no credit or quota left; add some, then release the hold",
            Self::Authentication => {
                "the agent is not logged in or its key is rejected; log in, then release the hold"
            }
            Self::Overload => {
                "the provider is overloaded or has an error; this agent gets no work for a while"
            }
            Self::ContextOverflow => {
                "the conversation is too long for the model; it continues in a new session"
            }
            Self::BrokenSession => {
                "the provider refuses the conversation; the task continues in a new session"
            }
            Self::Network => "the provider cannot be reached; this agent gets no work for a while",
            Self::CrashAtStart => {
                "the agent exited before it could work; run `baton doctor` to check whether it is installed"
            }
        }
    }
}

impl fmt::Display for AgentFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.advice())?;
        if let Some(until) = self.until {
            write!(f, " (until {until})")?;
        }
        Ok(())
    }
}
