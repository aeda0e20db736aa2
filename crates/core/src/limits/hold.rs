//! A hold: no work starts on an agent's account for a while, or until a person releases it.
//!
//! A hold is about the account, never about a task: the task that ran into it goes back to the queue without blame. A
//! hold with an end expires by itself; a person can release any hold.

use serde::{Deserialize, Serialize};

use crate::base::text::{AgentName, NonBlank};
use crate::base::time::Timestamp;
use crate::people::actor::Actor;

/// At most one per agent or account; the latest one counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// The agent, or the account, that gets no work. No account has the name of an agent.
    pub agent: AgentName,
    pub why: HoldReason,
    /// What the agent said, and what to do about it.
    pub reason: NonBlank,
    pub since: Timestamp,
    /// `None` for a hold that lasts until a person releases it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released: Option<HoldRelease>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HoldRelease {
    pub at: Timestamp,
    pub by: Actor,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HoldReason {
    RateLimit,
    Quota,
    Authentication,
    Overload,
    Network,
    CrashAtStart,
    /// It failed several times in a row for an unknown reason.
    Failures,
    /// The daily budget a person set is used up.
    Budget,
}

impl HoldReason {
    pub const ALL: [Self; 8] = [
        Self::RateLimit,
        Self::Quota,
        Self::Authentication,
        Self::Overload,
        Self::Network,
        Self::CrashAtStart,
        Self::Failures,
        Self::Budget,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RateLimit => "rate_limit",
            Self::Quota => "quota",
            Self::Authentication => "authentication",
            Self::Overload => "overload",
            Self::Network => "network",
            Self::CrashAtStart => "crash_at_start",
            Self::Failures => "failures",
            Self::Budget => "budget",
        }
    }
}

impl Hold {
    /// Falls back to the kind of hold if no reason was given.
    pub fn new(
        agent: AgentName,
        why: HoldReason,
        said: &str,
        since: Timestamp,
        until: Option<Timestamp>,
    ) -> Self {
        let reason = NonBlank::or(said.trim(), NonBlank::fixed(why.as_str()));
        Self { agent, why, reason, since, until, released: None }
    }

    /// Whether the hold stops work from starting now.
    pub fn is_active(&self, now: Timestamp) -> bool {
        self.released.is_none() && self.until.is_none_or(|until| now < until)
    }

    /// When claims may resume; far in the future for a hold without an end.
    pub fn effective_end(&self) -> Timestamp {
        self.until.unwrap_or(Timestamp::from_ms(FAR_AWAY_MS))
    }
}

/// The year 9999: later than anything, and still a readable date.
const FAR_AWAY_MS: i64 = 253_402_300_799_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stored_form_is_stable() {
        let (since, until) = (Timestamp::from_ms(0), Timestamp::from_ms(10));
        let hold = Hold::new("claude".parse().unwrap(), HoldReason::RateLimit, "429", since, Some(until));
        let stored = serde_json::to_string(&hold).unwrap();
        insta::assert_snapshot!(stored, @r#"{"agent":"claude","why":"rate_limit","reason":"429","since":"1970-01-01T00:00:00.000Z","until":"1970-01-01T00:00:00.010Z"}"#);
        for why in HoldReason::ALL {
            assert_eq!(serde_json::to_string(&why).unwrap(), format!("\"{}\"", why.as_str()));
        }
    }
}
