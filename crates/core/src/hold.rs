//! A hold: nothing is started on an agent's account for a while, or until a person has seen to it.
//!
//! It is about the account and never about a task: whatever ran into it goes back to the queue unblamed. A hold with an
//! end ends by itself; every hold ends when a person releases it.

use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::change::{Change, Guard, Record, Stored};
use crate::effect::{Effect, Timer};
use crate::event::{Event, EventBody};
use crate::text::{AgentName, NonBlank};
use crate::time::Timestamp;

/// One for each agent at most; the last one stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    pub agent: AgentName,
    pub why: HoldReason,
    /// What was said, and what to do about it.
    pub reason: NonBlank,
    pub since: Timestamp,
    /// None until a person releases it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released: Option<Released>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Released {
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
    /// It failed several times in a row, and nobody can say why.
    Failures,
    /// What a person allowed for a day is used up.
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
    /// One that says nothing of its reason is still told with what kind it is.
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

    /// Whether it keeps work from starting now.
    pub fn is_on(&self, now: Timestamp) -> bool {
        self.released.is_none() && self.until.is_none_or(|until| now < until)
    }

    /// When the claim may look again; the end of time for one that waits for a person.
    pub fn until_at_least(&self) -> Timestamp {
        self.until.unwrap_or(Timestamp::from_ms(FAR_AWAY_MS))
    }

    /// What to write when this hold comes into being. None when one that is on already says as much: attempts begun
    /// before fail for the same reason, and must not tell it again.
    pub fn placed(&self, known: Option<&Stored<Self>>) -> Option<Change> {
        let covers = |old: &Self| old.is_on(self.since) && old.until_at_least() >= self.until_at_least();
        if known.is_some_and(|stored| covers(&stored.value)) {
            return None;
        }
        let guard = known.map_or(Guard::New, |stored| Guard::Version(stored.version));
        let mut change = Change::new().put(Record::Hold(self.clone()), guard);
        let (agent, until, reason) = (self.agent.clone(), self.until, self.reason.clone());
        let body = EventBody::IntakePaused { agent: agent.clone(), until, reason };
        change.events.push(Event { at: self.since, by: Actor::Baton, body });
        if let Some(at) = until {
            change.effects.push(Effect::ScheduleTimer { timer: Timer::IntakeResumes(agent), at });
        }
        Some(change)
    }

    /// What to write when it ends: its time has come, or a person says so.
    pub fn lifted(stored: &Stored<Self>, now: Timestamp, by: Actor) -> Change {
        let mut hold = stored.value.clone();
        let agent = hold.agent.clone();
        hold.released = Some(Released { at: now, by: by.clone() });
        let mut change = Change::new().put(Record::Hold(hold), Guard::Version(stored.version));
        let body = EventBody::IntakeResumed { agent: agent.clone() };
        change.events.push(Event { at: now, by, body });
        if stored.value.until.is_some_and(|until| now < until) {
            change.effects.push(Effect::CancelTimer { timer: Timer::IntakeResumes(agent) });
        }
        change
    }
}

/// The year 9999: later than anything, and still a date people can read.
const FAR_AWAY_MS: i64 = 253_402_300_799_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_ms(ms)
    }

    fn hold(since: i64, until: Option<i64>) -> Hold {
        Hold {
            agent: "claude".parse().unwrap(),
            why: HoldReason::RateLimit,
            reason: NonBlank::fixed("429"),
            since: at(since),
            until: until.map(at),
            released: None,
        }
    }

    #[test]
    fn it_is_on_until_its_time_or_until_somebody_releases_it() {
        assert!(hold(0, Some(10)).is_on(at(9)));
        assert!(!hold(0, Some(10)).is_on(at(10)));
        assert!(hold(0, None).is_on(at(i64::MAX / 2)));
        let stored = Stored { version: 1, value: hold(0, None) };
        let change = Hold::lifted(&stored, at(5), Actor::human("mia"));
        let Record::Hold(lifted) = &change.puts[0].record else { panic!("{change:?}") };
        assert!(!lifted.is_on(at(5)));
    }

    #[test]
    fn what_says_no_more_than_is_known_is_not_told_again() {
        let known = Stored { version: 1, value: hold(0, Some(100)) };
        assert_eq!(hold(50, Some(100)).placed(Some(&known)), None);
        assert!(hold(50, Some(200)).placed(Some(&known)).is_some());
        assert!(hold(50, None).placed(Some(&known)).is_some());
        assert!(hold(150, Some(160)).placed(Some(&known)).is_some(), "the old one is over");
    }

    #[test]
    fn a_timer_brings_it_to_its_end_and_is_cancelled_by_a_person() {
        let placed = hold(0, Some(10)).placed(None).unwrap();
        assert_eq!(placed.effects.len(), 1);
        assert_eq!(hold(0, None).placed(None).unwrap().effects, []);
        let stored = Stored { version: 1, value: hold(0, Some(10)) };
        assert_eq!(Hold::lifted(&stored, at(5), Actor::Baton).effects.len(), 1);
        assert_eq!(Hold::lifted(&stored, at(10), Actor::Baton).effects, []);
    }

    #[test]
    fn the_stored_form_is_stable() {
        let stored = serde_json::to_string(&hold(0, Some(10))).unwrap();
        insta::assert_snapshot!(stored, @r#"{"agent":"claude","why":"rate_limit","reason":"429","since":"1970-01-01T00:00:00.000Z","until":"1970-01-01T00:00:00.010Z"}"#);
        for why in HoldReason::ALL {
            assert_eq!(serde_json::to_string(&why).unwrap(), format!("\"{}\"", why.as_str()));
        }
    }
}
