//! Placing and releasing a hold on an agent's account.

use crate::base::time::Timestamp;
use crate::limits::hold::{Hold, Released};
use crate::people::actor::Actor;
use crate::records::change::{Change, Guard, Record, Stored};
use crate::records::effect::{Effect, Timer};
use crate::records::event::{Event, EventBody};

impl Hold {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::text::NonBlank;
    use crate::limits::hold::HoldReason;

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
}
