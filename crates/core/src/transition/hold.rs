//! Placing and releasing a hold on an agent's account.

use crate::base::time::Timestamp;
use crate::limits::hold::{Hold, HoldRelease};
use crate::people::actor::Actor;
use crate::records::change::{Change, Record, Versioned, WriteGuard};
use crate::records::effect::{Effect, Timer};
use crate::records::event::{Event, EventBody};

impl Hold {
    /// The change that places this hold. `None` if an active hold already covers it: attempts started earlier fail
    /// for the same reason, and must not report it again.
    pub fn place(&self, known: Option<&Versioned<Self>>) -> Option<Change> {
        let covers = |old: &Self| old.is_active(self.since) && old.effective_end() >= self.effective_end();
        if known.is_some_and(|stored| covers(&stored.value)) {
            return None;
        }
        let guard = known.map_or(WriteGuard::New, |stored| WriteGuard::Version(stored.version));
        let mut change = Change::new().put(Record::Hold(self.clone()), guard);
        let (agent, until, reason) = (self.agent.clone(), self.until, self.reason.clone());
        let body = EventBody::IntakePaused { agent: agent.clone(), until, reason };
        change.events.push(Event { at: self.since, by: Actor::Baton, body });
        if let Some(at) = until {
            change.effects.push(Effect::ScheduleTimer { timer: Timer::IntakeResumes(agent), at });
        }
        Some(change)
    }

    /// The change that ends the hold: it expired, or a person released it.
    pub fn release(stored: &Versioned<Self>, now: Timestamp, by: Actor) -> Change {
        let mut hold = stored.value.clone();
        let agent = hold.agent.clone();
        hold.released = Some(HoldRelease { at: now, by: by.clone() });
        let mut change = Change::new().put(Record::Hold(hold), WriteGuard::Version(stored.version));
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
    fn a_hold_is_active_until_it_expires_or_is_released() {
        assert!(hold(0, Some(10)).is_active(at(9)));
        assert!(!hold(0, Some(10)).is_active(at(10)));
        assert!(hold(0, None).is_active(at(i64::MAX / 2)));
        let stored = Versioned { version: 1, value: hold(0, None) };
        let change = Hold::release(&stored, at(5), Actor::human("mia"));
        let Record::Hold(lifted) = &change.puts[0].record else { panic!("{change:?}") };
        assert!(!lifted.is_active(at(5)));
    }

    #[test]
    fn a_hold_that_is_already_covered_is_not_placed_again() {
        let known = Versioned { version: 1, value: hold(0, Some(100)) };
        assert_eq!(hold(50, Some(100)).place(Some(&known)), None);
        assert!(hold(50, Some(200)).place(Some(&known)).is_some());
        assert!(hold(50, None).place(Some(&known)).is_some());
        assert!(hold(150, Some(160)).place(Some(&known)).is_some(), "the old one is over");
    }

    #[test]
    fn a_timer_ends_the_hold_and_release_cancels_it() {
        let placed = hold(0, Some(10)).place(None).unwrap();
        assert_eq!(placed.effects.len(), 1);
        assert_eq!(hold(0, None).place(None).unwrap().effects, []);
        let stored = Versioned { version: 1, value: hold(0, Some(10)) };
        assert_eq!(Hold::release(&stored, at(5), Actor::Baton).effects.len(), 1);
        assert_eq!(Hold::release(&stored, at(10), Actor::Baton).effects, []);
    }
}
