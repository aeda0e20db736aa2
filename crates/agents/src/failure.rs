//! Why an agent failed through no fault of its task, and what to do about it.
//!
//! Pure: texts, codes and the time come in, a value goes out. Only what an agent or its provider said of an
//! error is looked at, never the agent's ordinary talk, which may well be about rate limits.

mod until;
mod wording;

use std::fmt;

use baton_core::base::time::Timestamp;

use crate::ended::Exit;
use crate::excerpt::excerpt;

/// What is kept of the words that gave it away.
const SAID_BYTES_MAX: usize = 2 * 1024;
/// How long to wait after a rate limit that names no time.
const RATE_LIMIT_PAUSE_MS: i64 = 5 * 60 * 1000;
/// After an overload or a broken network, which pass sooner.
const PASSING_PAUSE_MS: i64 = 60 * 1000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FailureKind {
    /// Too much at once, or a plan's allowance for now is used up. It comes back by itself.
    RateLimit,
    /// No money or allowance is left. It does not come back by itself.
    Quota,
    /// The key is missing or wrong, or the login has expired.
    Authentication,
    /// The provider cannot keep up, or has broken down.
    Overload,
    /// The conversation is longer than the model can read.
    ContextOverflow,
    /// The provider was not reached.
    Network,
    /// The program ended before it could be given its prompt.
    CrashAtStart,
}

/// A failure that was recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub kind: FailureKind,
    /// When it is over, where the words say so.
    pub until: Option<Timestamp>,
    pub said: String,
}

/// What to do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// Start nothing on this agent's account before then. The task is not to blame.
    HoldUntil(Timestamp),
    /// Start nothing on this agent's account until a human has mended it.
    HoldForHuman,
    /// Go on in a new session that is told the conversation so far.
    NewSession,
}

/// Everything that may tell why an agent failed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Symptoms<'a> {
    /// What the agent's protocol said of the error; looked at first.
    pub error: &'a str,
    /// The end of standard error.
    pub stderr: &'a str,
    pub exit: Option<Exit>,
    /// It was given its prompt.
    pub was_prompted: bool,
}

impl Failure {
    /// None when nothing in the symptoms is known.
    pub fn classify(symptoms: &Symptoms<'_>, now: Timestamp) -> Option<Self> {
        let from = |text: &str| {
            let kind = wording::kind(text)?;
            let until = until::find(text, now);
            let kind = match kind {
                // An allowance that comes back is a rate, whatever it is called.
                FailureKind::Quota if until.is_some() => FailureKind::RateLimit,
                kind => kind,
            };
            Some(Self { kind, until, said: excerpt(text.trim(), SAID_BYTES_MAX) })
        };
        from(symptoms.error).or_else(|| from(symptoms.stderr)).or_else(|| {
            let said = if symptoms.error.trim().is_empty() { symptoms.stderr } else { symptoms.error };
            (!symptoms.was_prompted).then(|| Self {
                kind: FailureKind::CrashAtStart,
                until: None,
                said: excerpt(said.trim(), SAID_BYTES_MAX),
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
            FailureKind::ContextOverflow => Remedy::NewSession,
        }
    }
}

impl FailureKind {
    /// What is wrong, in a sentence that says what to do next.
    pub const fn advice(self) -> &'static str {
        match self {
            Self::RateLimit => {
                "the provider's rate limit is reached; work on this agent goes on when it is over"
            }
            Self::Quota => "the account has no credit or quota left; add some, then release the hold",
            Self::Authentication => {
                "the agent is not logged in or its key is refused; log in, then release the hold"
            }
            Self::Overload => "the provider is overloaded or has an error; it is tried again in a while",
            Self::ContextOverflow => {
                "the conversation is too long for the model; it goes on in a new session"
            }
            Self::Network => "the provider cannot be reached; it is tried again in a while",
            Self::CrashAtStart => {
                "the agent ended before it could work; run `baton doctor` to see whether it is installed"
            }
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.advice())?;
        if let Some(until) = self.until {
            write!(f, " (until {until})")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
