//! The courier: carries out the effects that were committed with changes, each once as far as anyone can tell.
//!
//! An effect leaves the outbox only after it was done, so after a crash it is done again, and doing it again does
//! nothing more. One that fails is tried again, later and later; one that keeps failing is given up, and an event
//! says so. Timers stay in the outbox until they are due.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use baton_core::actor::Actor;
use baton_core::change::Change;
use baton_core::effect::{Effect, Notice, Timer};
use baton_core::event::{Event, EventBody};
use baton_core::id::{AttemptId, EffectId};
use baton_core::text::NonBlank;
use baton_store::outbox::PendingEffect;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, sleep, sleep_until, timeout_at};
use tracing::{Instrument, debug_span};

use crate::asking::Attendant;
use crate::error::EngineError;
use crate::notifier::{NoticeText, Notifier};
use crate::timekeeper::Timekeeper;
use crate::workshop::Workshop;

/// Effects read at once.
const BATCH: u32 = 100;
/// Notices on their way at once; a receiver that hangs holds up no more than these.
const NOTICES_MAX: usize = 8;
/// How often an effect is tried before a person has to see to it.
pub const TRIES_MAX: u32 = 8;
/// The pause after the first failure; it doubles with each.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// And never grows beyond this.
const LONGEST_PAUSE: Duration = Duration::from_mins(2);
/// How often the steward looks through the whole outbox for what others left.
const READ_AGAIN_AFTER: Duration = Duration::from_mins(10);
/// A machine that was not heard of for this long is not waited for; should it come back, its pruner sees to its worktrees.
const FORGOTTEN_AFTER_MS: i64 = 3_600_000;
/// At the end, notices on their way get this long to arrive: one that is cut off is told again by whoever comes next.
const LAST_NOTICES: Duration = Duration::from_secs(5);
/// A timer further away than this is looked at again on the way.
const LONGEST_WAIT: Duration = Duration::from_hours(1);

pub struct Courier {
    shop: Workshop,
    /// Whether what must be done once for all machines is done here.
    is_steward: bool,
    begun_at: Instant,
    notifier: Notifier,
    attendant: Attendant,
    timers: Timekeeper,
    /// Everything up to here has been read from the outbox.
    read_to: Option<EffectId>,
    /// To be done, in the order it was caused.
    waiting: VecDeque<Errand>,
    /// Notices on their way.
    under_way: JoinSet<Told>,
    /// Notices that came to an end while it idled, to be settled in the next round.
    arrived: Vec<Result<Told, JoinError>>,
}

/// A notice, and whether it was taken.
type Told = (Errand, Result<(), String>);

/// Who had the attempts that some effects are about.
#[derive(Default)]
struct Owners {
    of: BTreeMap<AttemptId, String>,
    /// The machines that may still see to theirs; known to the steward alone.
    present: BTreeSet<String>,
}

/// An effect, and how often it has failed.
struct Errand {
    id: EffectId,
    effect: Effect,
    tries: u32,
    not_before: Option<Instant>,
}

impl Courier {
    pub fn new(shop: Workshop, is_steward: bool) -> Self {
        let notify = &shop.settings.notify;
        let (root, program) = (shop.place.root.clone(), shop.program.clone());
        let notifier = Notifier::new(notify.command.clone(), notify.webhook.clone(), root, program);
        let attendant = Attendant::new(shop.desk.clone(), shop.settings.asking.policy());
        Self {
            shop,
            is_steward,
            begun_at: Instant::now(),
            notifier,
            attendant,
            timers: Timekeeper::default(),
            read_to: None,
            waiting: VecDeque::new(),
            under_way: JoinSet::new(),
            arrived: Vec::new(),
        }
    }

    /// Before the first round: whoever set a policy while Baton was down wants the questions of before seen too.
    pub async fn begin(&self) -> Result<(), EngineError> {
        if self.is_steward { self.attendant.attend_all(None).await } else { Ok(()) }
    }

    /// Whether the outbox has to be read from its beginning again: who sees to what has changed, or what was left to a
    /// machine that is gone by now may be ours.
    pub fn is_outdated(&self, is_steward: bool) -> bool {
        let is_shared = self.shop.place.store.is_shared();
        is_steward != self.is_steward
            || (is_shared && is_steward && self.begun_at.elapsed() > READ_AGAIN_AFTER)
    }

    /// One round: reads what is new, does what is due.
    pub async fn run_once(&mut self) -> Result<(), EngineError> {
        self.read_outbox().await?;
        self.fire_timers().await?;
        self.settle_arrived().await?;
        for _ in 0..self.waiting.len() {
            let Some(errand) = self.waiting.pop_front() else { break };
            let is_due = errand.not_before.is_none_or(|at| at <= Instant::now());
            let is_notice = matches!(errand.effect, Effect::Notify { .. });
            if !is_due || (is_notice && self.under_way.len() >= NOTICES_MAX) {
                self.waiting.push_back(errand);
                continue;
            }
            if let Effect::Notify { about } = &errand.effect {
                let about = about.clone();
                self.send_out(errand, &about).await?;
            } else {
                let span = debug_span!("effect", id = %errand.id, effect = errand.effect.name(), tries = errand.tries);
                let done = self.carry_out(&errand.effect).instrument(span).await;
                let done = done.map_err(|error| error.to_string());
                self.settle(errand, done).await?;
            }
        }
        Ok(())
    }

    /// Lets the notices on their way arrive, before another courier takes over.
    pub async fn finish(mut self) -> Result<(), EngineError> {
        let until = Instant::now() + LAST_NOTICES;
        while let Ok(Some(joined)) = timeout_at(until, self.under_way.join_next()).await {
            self.arrived.push(joined);
        }
        self.settle_arrived().await
    }

    /// Waits until there may be something to do that no change tells of. Safe to drop half-way: what arrived is noted
    /// without a further wait, and settled in the next round.
    pub async fn idle(&mut self) -> Result<(), EngineError> {
        let due = self.waiting.iter().filter_map(|errand| errand.not_before).min();
        let timer = match self.timers.next_at() {
            Some(at) => {
                let now = self.shop.desk.store.now().await?;
                let left = u64::try_from(at.ms() - now.ms()).unwrap_or(0);
                Some(Instant::now() + Duration::from_millis(left).min(LONGEST_WAIT))
            }
            None => None,
        };
        let at = [due, timer].into_iter().flatten().min();
        tokio::select! {
            () = async { match at { Some(at) => sleep_until(at).await, None => sleep(LONGEST_WAIT).await } } => {}
            Some(joined) = self.under_way.join_next() => self.arrived.push(joined),
        }
        Ok(())
    }

    async fn read_outbox(&mut self) -> Result<(), EngineError> {
        loop {
            let pending = self.shop.desk.store.pending_effects(self.read_to, BATCH).await?;
            let Some(last) = pending.last() else { return Ok(()) };
            self.read_to = Some(last.id);
            let owners = self.owners(&pending).await?;
            let mut over = Vec::new();
            for PendingEffect { id, effect } in pending {
                if !self.is_for_us(&effect, &owners) {
                    continue;
                }
                match effect {
                    Effect::ScheduleTimer { timer, at } => self.timers.set(id, timer, at),
                    Effect::CancelTimer { timer } => {
                        over.extend(self.timers.cancel(&timer));
                        over.push(id);
                    }
                    Effect::StartAgent { .. }
                    | Effect::StopAgent { .. }
                    | Effect::RetireWorktree { .. }
                    | Effect::Notify { .. } => {
                        self.waiting.push_back(Errand { id, effect, tries: 0, not_before: None });
                    }
                }
            }
            if !over.is_empty() {
                self.shop.desk.store.finish_effects(&over).await?;
            }
        }
    }

    /// Whether to see to it here. Where machines share a store, what is about an attempt is for the machine that had it,
    /// and the rest is for the steward.
    fn is_for_us(&self, effect: &Effect, owners: &Owners) -> bool {
        if !self.shop.place.store.is_shared() {
            return true;
        }
        match effect {
            Effect::Notify { .. } | Effect::ScheduleTimer { .. } | Effect::CancelTimer { .. } => {
                self.is_steward
            }
            Effect::StartAgent { attempt, .. } => {
                self.is_steward || self.shop.running.ids().contains(attempt)
            }
            Effect::StopAgent { attempt } | Effect::RetireWorktree { attempt } => {
                match owners.of.get(attempt) {
                    Some(worker) if *worker == self.shop.worker => true,
                    // A machine that is not known any more is stood in for by the steward, who finds nothing to do.
                    Some(worker) => self.is_steward && !owners.present.contains(worker),
                    None => self.is_steward,
                }
            }
        }
    }

    /// Asked once for all of them: every machine reads every effect, and a question for each would add up.
    async fn owners(&self, pending: &[PendingEffect]) -> Result<Owners, EngineError> {
        let attempts: Vec<AttemptId> = pending.iter().filter_map(|one| attempt_of(&one.effect)).collect();
        if attempts.is_empty() || !self.shop.place.store.is_shared() {
            return Ok(Owners::default());
        }
        let store = &self.shop.desk.store;
        let of = store.workers_of(&attempts).await?;
        let mut present = BTreeSet::new();
        if self.is_steward && of.values().any(|worker| *worker != self.shop.worker) {
            let now = store.now().await?;
            let mut seen = store.workers().await?;
            seen.retain(|seen| now.ms().saturating_sub(seen.seen_at.ms()) <= FORGOTTEN_AFTER_MS);
            present.extend(seen.into_iter().map(|seen| seen.worker.name));
        }
        Ok(Owners { of, present })
    }

    async fn fire_timers(&mut self) -> Result<(), EngineError> {
        if self.timers.next_at().is_none() {
            return Ok(());
        }
        let now = self.shop.desk.store.now().await?;
        while let Some((id, timer)) = self.timers.take_due(now) {
            match timer {
                Timer::QuestionExpires(question) => {
                    self.attendant.attend(question).await?;
                }
                Timer::IntakeResumes(agent) => {
                    self.shop.desk.end_hold(&agent).await?;
                }
            }
            self.shop.desk.store.finish_effects(&[id]).await?;
        }
        Ok(())
    }

    /// A question is first looked at by those who may answer it, then told to the human, whoever answered.
    async fn send_out(&mut self, errand: Errand, about: &Notice) -> Result<(), EngineError> {
        if let Notice::Question(question) = about {
            self.attendant.attend(*question).await?;
        }
        let text = if self.notifier.is_set() { NoticeText::of(&self.shop.desk, about).await? } else { None };
        let Some(text) = text else { return self.settle(errand, Ok(())).await };
        let notifier = self.notifier.clone();
        self.under_way.spawn(async move {
            let told = notifier.tell(errand.id, &text).await;
            (errand, told)
        });
        Ok(())
    }

    async fn settle_arrived(&mut self) -> Result<(), EngineError> {
        while let Some(joined) = self.arrived.pop().or_else(|| self.under_way.try_join_next()) {
            let (errand, told) = joined.map_err(|error| EngineError::Runner { detail: error.to_string() })?;
            self.settle(errand, told).await?;
        }
        Ok(())
    }

    /// Done and gone, or later again, or given up where a person sees it.
    async fn settle(&mut self, mut errand: Errand, done: Result<(), String>) -> Result<(), EngineError> {
        let Err(error) = done else {
            self.notifier.forget(errand.id);
            return Ok(self.shop.desk.store.finish_effects(&[errand.id]).await?);
        };
        errand.tries += 1;
        tracing::debug!(id = %errand.id, tries = errand.tries, error, "an effect failed");
        if errand.tries < TRIES_MAX {
            errand.not_before = Some(Instant::now() + pause_after(errand.tries));
            self.waiting.push_back(errand);
            return Ok(());
        }
        (self.shop.say)(&format!("given up after {} tries: {error}", errand.tries));
        let tries = errand.tries;
        let error = NonBlank::new(error).or_else(|_| NonBlank::new("it gave no reason"))?;
        self.say(EventBody::EffectGivenUp { effect: Box::new(errand.effect), tries, error }).await?;
        self.notifier.forget(errand.id);
        Ok(self.shop.desk.store.finish_effects(&[errand.id]).await?)
    }

    async fn say(&self, body: EventBody) -> Result<(), EngineError> {
        let at = self.shop.desk.store.now().await?;
        let mut change = Change::new();
        change.events.push(Event { at, by: Actor::Baton, body });
        self.shop.desk.write(change).await
    }

    async fn carry_out(&self, effect: &Effect) -> Result<(), EngineError> {
        match effect {
            // Whoever claimed it starts it; if they died first, the rescuer takes it back.
            Effect::StartAgent { .. } => Ok(()),
            Effect::StopAgent { attempt } => {
                self.shop.running.stop(*attempt);
                Ok(())
            }
            Effect::RetireWorktree { attempt } => self.retire(*attempt).await,
            // These have ways of their own, and never come here.
            Effect::Notify { .. } | Effect::ScheduleTimer { .. } | Effect::CancelTimer { .. } => Ok(()),
        }
    }

    /// I17: everything is kept before anything goes.
    async fn retire(&self, attempt: AttemptId) -> Result<(), EngineError> {
        let Some(record) = self.shop.desk.store.attempt(attempt).await? else { return Ok(()) };
        // One that was told to stop may still be ending; its worktree is retired once it has.
        self.shop.running.gone(attempt).await;
        if record.attempt.worker.is_some_and(|worker| worker != self.shop.worker)
            && self.shop.place.store.is_shared()
        {
            return Ok(());
        }
        let worktrees = self.shop.worktrees_of(record.task_id).await?;
        worktrees.retire(attempt).await?;
        // Where the remote is away it is tried again by itself.
        if let Err(error) = self.shop.push_vault(&worktrees, record.task_id, attempt).await {
            (self.shop.say)(&format!("{attempt}: what is kept of it stays on this machine for now: {error}"));
        }
        Ok(())
    }
}

/// The attempt whose machine has to see to it.
fn attempt_of(effect: &Effect) -> Option<AttemptId> {
    match effect {
        Effect::StopAgent { attempt } | Effect::RetireWorktree { attempt } => Some(*attempt),
        Effect::StartAgent { .. }
        | Effect::Notify { .. }
        | Effect::ScheduleTimer { .. }
        | Effect::CancelTimer { .. } => None,
    }
}

fn pause_after(tries: u32) -> Duration {
    let doublings = tries.saturating_sub(1).min(16);
    FIRST_PAUSE.saturating_mul(1 << doublings).min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_limit() {
        let pauses: Vec<u128> = (1..=10).map(|tries| pause_after(tries).as_millis()).collect();
        assert_eq!(pauses, [500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 120_000, 120_000]);
    }
}
