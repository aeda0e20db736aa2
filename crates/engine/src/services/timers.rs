//! The list of timers, and the service that fires them.
//!
//! A timer is an effect that stays in the outbox until it has fired, so it is durable; the list is read from there after a
//! start. A timer that fires late or twice changes nothing.

use std::collections::BTreeMap;
use std::time::Duration;

use baton_core::base::id::EffectId;
use baton_core::base::time::Timestamp;
use baton_core::records::effect::Timer;
use tokio::time::Instant;

use crate::asking::AutoResponder;
use crate::base::error::EngineError;
use crate::base::supervisor::{Item, ItemKind, Items, Round, Service, ServiceError, ServiceName};
use crate::cluster::leader::Leadership;
use crate::limits::holds::Holds;
use crate::services::queues::Queue;
use crate::services::workspace::Workspace;
use crate::tasks::service::TaskService;

/// The longest sleep; later timers are checked again in between.
const LONGEST_WAIT: Duration = Duration::from_hours(1);

/// The pause before a timer that waits for more than its time is looked at again.
const NEXT_LOOK: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub struct Timers {
    /// Sorted by due time.
    set: BTreeMap<(Timestamp, EffectId), Timer>,
}

impl Timers {
    pub fn set(&mut self, id: EffectId, timer: Timer, at: Timestamp) {
        self.set.insert((at, id), timer);
    }

    /// Removes every timer for this. Returns the effects that set them.
    pub fn cancel(&mut self, timer: &Timer) -> Vec<EffectId> {
        let keys: Vec<(Timestamp, EffectId)> =
            self.set.iter().filter(|(_, set)| *set == timer).map(|(key, _)| *key).collect();
        for key in &keys {
            self.set.remove(key);
        }
        keys.into_iter().map(|(_, id)| id).collect()
    }

    /// The due timers, in order. They stay in the list until removed.
    pub fn due(&self, now: Timestamp) -> Vec<(EffectId, Timer)> {
        let due = self.set.iter().take_while(|((at, _), _)| *at <= now);
        due.map(|((_, id), timer)| (*id, timer.clone())).collect()
    }

    pub fn remove(&mut self, id: EffectId) {
        self.set.retain(|(_, set), _| *set != id);
    }

    /// When the next timer after this moment is due.
    pub fn next_after(&self, now: Timestamp) -> Option<Timestamp> {
        self.set.keys().map(|(at, _)| *at).find(|at| *at > now)
    }

    fn is_empty(&self) -> bool {
        self.set.is_empty()
    }
}

pub(super) struct TimerService {
    tasks: TaskService,
    holds: Holds,
    responder: AutoResponder,
    leadership: Leadership,
    timers: Queue<Timers>,
    items: Items,
}

impl TimerService {
    pub(super) fn new(workspace: &Workspace, leadership: Leadership, timers: Queue<Timers>) -> Self {
        let items = workspace.items(ServiceName::Timers);
        let responder = AutoResponder::by_settings(&workspace.projects, &workspace.settings);
        let holds = workspace.limits.holds.clone();
        Self { tasks: workspace.tasks.clone(), holds, responder, leadership, timers, items }
    }

    /// False if it has to be looked at again.
    async fn fire(&self, id: EffectId, timer: &Timer) -> Result<bool, EngineError> {
        match timer {
            Timer::QuestionExpires(question) => {
                self.responder.attend(*question).await?;
            }
            Timer::IntakeResumes(agent) => {
                self.holds.expire(agent).await?;
            }
            Timer::TaskStarts(task) => self.tasks.start_in_time(*task).await?,
            Timer::TaskFollows(task) => {
                if !self.tasks.start_after_earlier(*task).await? {
                    return Ok(false);
                }
            }
        }
        self.tasks.store.finish_effects(&[id]).await?;
        Ok(true)
    }
}

impl Service for TimerService {
    async fn run_once(&mut self) -> Result<Round, ServiceError> {
        if !self.leadership.is_held() || self.timers.lock().is_empty() {
            return Ok(Round::default());
        }
        let now = self.tasks.store.now().await?;
        let due = self.timers.lock().due(now);
        let mut looks_again = false;
        for (id, timer) in due {
            let item = Item::new(ItemKind::Timer, &id);
            match self.items.attempt(&item, self.fire(id, &timer)).await?.done() {
                Some(true) => self.timers.lock().remove(id),
                Some(false) => looks_again = true,
                None => {}
            }
        }
        let next = self.timers.lock().next_after(now).map(|at| {
            let left = u64::try_from(at.ms() - now.ms()).unwrap_or(0);
            Instant::now() + Duration::from_millis(left).min(LONGEST_WAIT)
        });
        let next = if looks_again {
            let soon = Instant::now() + NEXT_LOOK;
            Some(next.map_or(soon, |next| next.min(soon)))
        } else {
            next
        };
        Ok(self.items.end_round().again_at(next))
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
        let mut keeper = Timers::default();
        for (id, at) in [(1, 30), (2, 10), (3, 20), (4, 10)] {
            keeper.set(EffectId::from_bits(id), expires(u32::try_from(id).unwrap()), Timestamp::from_ms(at));
        }
        assert_eq!(keeper.next_after(Timestamp::from_ms(0)), Some(Timestamp::from_ms(10)));
        assert_eq!(keeper.due(Timestamp::from_ms(9)), []);
        let due = keeper.due(Timestamp::from_ms(20));
        assert_eq!(due, [2, 4, 3].map(|id| (EffectId::from_bits(id.into()), expires(id))));
        assert_eq!(keeper.next_after(Timestamp::from_ms(20)), Some(Timestamp::from_ms(30)));
        for (id, _) in due {
            keeper.remove(id);
        }
        assert_eq!(keeper.due(Timestamp::from_ms(20)), []);
    }

    #[test]
    fn a_cancelled_timer_is_gone_with_all_that_set_it() {
        let mut keeper = Timers::default();
        keeper.set(EffectId::from_bits(1), expires(7), Timestamp::from_ms(10));
        keeper.set(EffectId::from_bits(2), expires(8), Timestamp::from_ms(10));
        assert_eq!(keeper.cancel(&expires(7)), [EffectId::from_bits(1)]);
        assert_eq!(keeper.cancel(&expires(7)), []);
        assert_eq!(keeper.due(Timestamp::from_ms(10)), [(EffectId::from_bits(2), expires(8))]);
    }
}
