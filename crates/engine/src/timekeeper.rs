//! The timekeeper: which timers are set, and which of them are due.
//!
//! A timer is an effect that stays in the outbox until it has fired, so it is as durable as everything else; the list
//! here is read from there after a start. It decides nothing: one that fires late finds nothing left to do.

use std::collections::BTreeMap;

use baton_core::base::id::EffectId;
use baton_core::base::time::Timestamp;
use baton_core::records::effect::Timer;

#[derive(Debug, Default)]
pub struct Timekeeper {
    /// In the order they fall due.
    set: BTreeMap<(Timestamp, EffectId), Timer>,
}

impl Timekeeper {
    pub fn set(&mut self, id: EffectId, timer: Timer, at: Timestamp) {
        self.set.insert((at, id), timer);
    }

    /// Forgets every timer for this; returns the effects that set them.
    pub fn cancel(&mut self, timer: &Timer) -> Vec<EffectId> {
        let keys: Vec<(Timestamp, EffectId)> =
            self.set.iter().filter(|(_, set)| *set == timer).map(|(key, _)| *key).collect();
        for key in &keys {
            self.set.remove(key);
        }
        keys.into_iter().map(|(_, id)| id).collect()
    }

    /// The next one that is due, taken off the list.
    pub fn take_due(&mut self, now: Timestamp) -> Option<(EffectId, Timer)> {
        let (at, id) = *self.set.keys().next()?;
        if at > now {
            return None;
        }
        self.set.remove(&(at, id)).map(|timer| (id, timer))
    }

    /// When to look again.
    pub fn next_at(&self) -> Option<Timestamp> {
        self.set.keys().next().map(|(at, _)| *at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_core::base::id::QuestionId;

    fn expires(bits: u32) -> Timer {
        Timer::QuestionExpires(QuestionId::from_bits(bits))
    }

    #[test]
    fn timers_fall_due_in_order_and_not_before() {
        let mut keeper = Timekeeper::default();
        for (id, at) in [(1, 30), (2, 10), (3, 20), (4, 10)] {
            keeper.set(EffectId::from_bits(id), expires(u32::try_from(id).unwrap()), Timestamp::from_ms(at));
        }
        assert_eq!(keeper.next_at(), Some(Timestamp::from_ms(10)));
        assert_eq!(keeper.take_due(Timestamp::from_ms(9)), None);
        let due: Vec<_> = std::iter::from_fn(|| keeper.take_due(Timestamp::from_ms(20))).collect();
        assert_eq!(due, [2, 4, 3].map(|id| (EffectId::from_bits(id.into()), expires(id))));
        assert_eq!(keeper.next_at(), Some(Timestamp::from_ms(30)));
    }

    #[test]
    fn a_cancelled_timer_is_gone_with_all_that_set_it() {
        let mut keeper = Timekeeper::default();
        keeper.set(EffectId::from_bits(1), expires(7), Timestamp::from_ms(10));
        keeper.set(EffectId::from_bits(2), expires(8), Timestamp::from_ms(10));
        assert_eq!(keeper.cancel(&expires(7)), [EffectId::from_bits(1)]);
        assert_eq!(keeper.cancel(&expires(7)), []);
        assert_eq!(keeper.take_due(Timestamp::from_ms(10)), Some((EffectId::from_bits(2), expires(8))));
    }
}
