//! One machine of a simulated fleet: to the store it is what `baton worker` is, down to every statement and when it is
//! said; only its agents are not there.
//!
//! Each service here has a namesake in the engine, and does what that one does to the store.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use baton_core::base::id::{AttemptId, EffectId, QuestionId, TaskId};
use baton_core::people::actor::Actor;
use baton_core::records::change::Change;
use baton_core::records::effect::Effect;
use baton_core::schedule::worker::BEAT_MS;
use baton_core::task::Task;
use baton_core::transition::command::Command;
use baton_store::model::claim::ClaimedTask;
use baton_store::model::commit::{Commit, Conflict};
use baton_store::model::query::QuestionFilter;
use baton_store::postgres::{LogPiece, LogWatch};
use baton_store::{Backend, PostgresStore};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, sleep};

use crate::fleet::{Fleet, add, described};
use crate::{life, work};

/// The engine's defaults: how long a lease is good for, when it is renewed, and how long a service sleeps at most.
const LEASE_MS: i64 = 30_000;
const RENEW_EVERY: Duration = Duration::from_secs(10);
const SWEEP: Duration = Duration::from_secs(5);
const PROJECTS_FRESH_FOR: Duration = Duration::from_secs(1);
const RESCUED_MAX: u32 = 100;
const EFFECTS_MAX: u32 = 100;
const OUTBOX_PAUSE: Duration = Duration::from_millis(500);
/// After asking for work in vain, for each other machine, on average.
const BETWEEN_LOOKS: Duration = Duration::from_micros(2_500);
const LOG_LOOK_EVERY: Duration = Duration::from_millis(250);
const LOG_SWEEP: Duration = Duration::from_secs(10);
/// What an agent adds to its log in a second.
const LOG_BYTES_PER_SECOND: u64 = 2_000;

pub(crate) struct Machine {
    pub(crate) store: PostgresStore,
    pub(crate) name: String,
    agents: u32,
    pub(crate) fleet: Arc<Fleet>,
    running: Mutex<BTreeSet<AttemptId>>,
    /// Counts up whenever an attempt ends here.
    ended: watch::Sender<u64>,
    begun: Instant,
    projects_read_at: Mutex<Option<Instant>>,
}

impl Machine {
    pub(crate) fn new(store: PostgresStore, name: String, agents: u32, fleet: Arc<Fleet>) -> Arc<Self> {
        let (running, ended) = (Mutex::default(), watch::Sender::new(0));
        Arc::new(Self {
            store,
            name,
            agents,
            fleet,
            running,
            ended,
            begun: Instant::now(),
            projects_read_at: Mutex::default(),
        })
    }

    pub(crate) fn start(self: &Arc<Self>, services: &mut JoinSet<()>) {
        services.spawn(Arc::clone(self).dispatch());
        services.spawn(Arc::clone(self).beat());
        services.spawn(Arc::clone(self).keep_leases());
        services.spawn(Arc::clone(self).carry_out());
        services.spawn(Arc::clone(self).relay_logs());
    }

    pub(crate) async fn close(&self) {
        self.store.close().await.unwrap();
    }

    pub(crate) fn running(&self) -> Vec<AttemptId> {
        self.running.lock().unwrap().iter().copied().collect()
    }

    /// One that no other machine has, for what looks like chance.
    fn number(&self) -> u64 {
        self.name.bytes().fold(7, |sum, byte| sum * 31 % 1_000_003 + u64::from(byte))
    }

    /// The dispatcher: asks for work when there is room and something has changed.
    async fn dispatch(self: Arc<Self>) {
        let (mut changes, mut ends, mut end) =
            (self.store.subscribe(), self.ended.subscribe(), self.fleet.end.subscribe());
        let mut agents = JoinSet::new();
        let mut looks = 0;
        while !*end.borrow() {
            changes.mark_unchanged();
            ends.mark_unchanged();
            let free = self.agents - u32::try_from(self.running().len()).unwrap();
            let mut pause = Duration::ZERO;
            if free > 0 {
                let claimed = self.claim(free).await;
                if claimed.is_empty() {
                    looks += 1;
                    pause = (BETWEEN_LOOKS * self.fleet.machines)
                        .mul_f64(2.0 * life::share(looks << 32 | self.number()));
                }
                for claimed in claimed {
                    self.running.lock().unwrap().insert(claimed.lease.attempt);
                    agents.spawn(Arc::clone(&self).agent(claimed));
                }
            }
            tokio::select! {
                _ = changes.changed() => {}
                _ = ends.changed() => {}
                () = sleep(SWEEP) => {}
                _ = end.changed() => {}
            }
            tokio::select! {
                () = sleep(pause) => {}
                _ = end.changed() => {}
            }
            while agents.try_join_next().is_some() {}
        }
        agents.shutdown().await;
    }

    async fn claim(&self, free: u32) -> Vec<ClaimedTask> {
        let is_stale = {
            let mut read_at = self.projects_read_at.lock().unwrap();
            let is_stale = read_at.is_none_or(|at| at.elapsed() > PROJECTS_FRESH_FOR);
            if is_stale {
                *read_at = Some(Instant::now());
            }
            is_stale
        };
        if is_stale {
            self.store.projects(None, 500).await.unwrap();
        }
        // Agents that rest are known to the store.
        self.store.holds().await.unwrap();
        let mut request = work::request(free);
        request.worker.clone_from(&self.name);
        request.lease_ms = LEASE_MS;
        let claimed = self.store.claim(request).await.unwrap();
        let tally = &self.fleet.tally;
        add(&tally.claims, 1);
        add(&tally.claimed, claimed.len());
        let now = Instant::now();
        for one in &claimed {
            if let Some(since) = self.fleet.waiting.lock().unwrap().remove(&one.lease.task) {
                self.fleet.waited.lock().unwrap().push(now - since);
            }
        }
        claimed
    }

    /// The runner: what is read and written around an agent's work.
    async fn agent(self: Arc<Self>, claimed: ClaimedTask) {
        let (task, attempt) = (claimed.lease.task, claimed.lease.attempt);
        let filter = QuestionFilter { task: Some(task), ..QuestionFilter::default() };
        self.store.questions(&filter, None, 100).await.unwrap();
        self.apply(task, Actor::Baton, |_| life::start(attempt)).await;
        let since = self.store.now().await.unwrap();
        self.apply(task, Actor::Baton, |_| life::note_session(attempt, since)).await;
        add(&self.fleet.tally.started, 1);
        self.work(attempt).await;
        // Whether the work is still ours is asked before it is handed in.
        self.store.renew(&self.name, &[attempt], LEASE_MS).await.unwrap();
        let (settled, question) = self.apply(task, Actor::Baton, |task| life::settle(task, attempt)).await;
        add(&self.fleet.tally.settled, 1);
        self.running.lock().unwrap().remove(&attempt);
        self.ended.send_modify(|count| *count += 1);
        // Nobody is there to see to it once the fleet has ended.
        let _ = match question {
            Some(question) => self.fleet.asking.send((task, question)).is_ok(),
            None => self.fleet.accepting.send(settled.id()).is_ok(),
        };
    }

    async fn work(&self, attempt: AttemptId) {
        let mut left = life::takes(attempt);
        if self.fleet.tally.count().settled < self.fleet.under_way {
            left = left.mul_f64(life::share(!attempt.bits()));
        }
        let mut speed = self.fleet.speed.subscribe();
        loop {
            let (begun, faster) = (Instant::now(), *speed.borrow_and_update());
            tokio::select! {
                () = sleep(left.div_f64(faster)) => return,
                _ = speed.changed() => left = left.saturating_sub(begun.elapsed().mul_f64(faster)),
            }
        }
    }

    /// Reads the task, decides and writes, again if it moved meanwhile; as everything that changes a task does. Returns
    /// the question that was asked by it, if one was.
    pub(crate) async fn apply(
        &self,
        id: TaskId,
        actor: Actor,
        command: impl Fn(&Task) -> Command,
    ) -> (Task, Option<QuestionId>) {
        loop {
            let stored = self.store.task(id).await.unwrap().unwrap();
            let context = life::context(self.store.now().await.unwrap(), actor.clone(), id.bits());
            let transition = stored.value.apply(command(&stored.value), &context).unwrap();
            let asked = transition.questions.first().map(|question| question.question.id);
            let task = transition.task.clone();
            let change = Change::transition(stored.version, transition);
            match self.store.commit(change).await.unwrap() {
                Commit::Written { last_seq } => {
                    self.fleet.lag.written(last_seq);
                    return (task, asked);
                }
                Commit::Conflict(Conflict::Moved { .. }) => {}
                Commit::Conflict(conflict) => panic!("{conflict}"),
            }
        }
    }

    /// The heartbeat.
    async fn beat(self: Arc<Self>) {
        let started_at = self.store.now().await.unwrap();
        let worker = described(&self.name, self.agents, started_at);
        let mut end = self.fleet.end.subscribe();
        while !*end.borrow() {
            self.store.beat(&worker).await.unwrap();
            add(&self.fleet.tally.beats, 1);
            tokio::select! {
                () = sleep(Duration::from_millis(BEAT_MS.unsigned_abs())) => {}
                _ = end.changed() => {}
            }
        }
    }

    /// The rescuer: all leases of the machine in one statement, then a look for those of the dead.
    async fn keep_leases(self: Arc<Self>) {
        let mut end = self.fleet.end.subscribe();
        // Machines are not started all at the same moment.
        sleep(RENEW_EVERY.mul_f64(life::share(self.number()))).await;
        let mut round = interval(RENEW_EVERY);
        round.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while !*end.borrow() {
            let alive = self.running();
            if !alive.is_empty() {
                let lost = self.store.renew(&self.name, &alive, LEASE_MS).await.unwrap();
                // One that ended while it was asked is not lost.
                let running = self.running.lock().unwrap().clone();
                let lost = lost.iter().filter(|attempt| running.contains(attempt)).count();
                add(&self.fleet.tally.lost, lost);
                add(&self.fleet.tally.renewals, 1);
                add(&self.fleet.tally.renewed, alive.len());
            }
            self.store.expired_leases(RESCUED_MAX).await.unwrap();
            tokio::select! {
                _ = round.tick() => {}
                _ = end.changed() => {}
            }
        }
    }

    /// The courier: reads the outbox after every change, and does what is about its own attempts.
    async fn carry_out(self: Arc<Self>) {
        let (mut changes, mut end) = (self.store.subscribe(), self.fleet.end.subscribe());
        let mut read_to: Option<EffectId> = None;
        while !*end.borrow() {
            changes.mark_unchanged();
            read_to = self.read_outbox(read_to).await;
            let pause = sleep(OUTBOX_PAUSE);
            tokio::select! {
                _ = changes.changed() => {}
                () = sleep(SWEEP) => {}
                _ = end.changed() => {}
            }
            tokio::select! {
                () = pause => {}
                _ = end.changed() => {}
            }
        }
    }

    async fn read_outbox(&self, mut read_to: Option<EffectId>) -> Option<EffectId> {
        loop {
            let pending = self.store.pending_effects(read_to, EFFECTS_MAX).await.unwrap();
            add(&self.fleet.tally.outbox_looks, 1);
            let Some(last) = pending.last() else { return read_to };
            read_to = Some(last.id);
            let about = pending.iter().filter_map(|one| attempt_of(&one.effect)).collect::<Vec<_>>();
            let owners =
                if about.is_empty() { BTreeMap::new() } else { self.store.workers_of(&about).await.unwrap() };
            for one in pending {
                if self.is_ours(&one.effect, &owners) {
                    self.store.finish_effects(&[one.id]).await.unwrap();
                    add(&self.fleet.tally.effects, 1);
                }
            }
        }
    }

    fn is_ours(&self, effect: &Effect, owners: &BTreeMap<AttemptId, String>) -> bool {
        match effect {
            Effect::StartAgent { attempt, .. } => self.running.lock().unwrap().contains(attempt),
            Effect::StopAgent { attempt }
            | Effect::EndTurn { attempt }
            | Effect::DeliverMessages { attempt }
            | Effect::RetireWorktree { attempt } => {
                owners.get(attempt).is_some_and(|worker| *worker == self.name)
            }
            // For the steward.
            Effect::Notify { .. } | Effect::ScheduleTimer { .. } | Effect::CancelTimer { .. } => false,
        }
    }

    /// The relay: hands out logs that are watched elsewhere.
    async fn relay_logs(self: Arc<Self>) {
        let line = self.store.log_channel();
        let (mut news, mut end) = (line.subscribe_watches(), self.fleet.end.subscribe());
        let mut given: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        while !*end.borrow() {
            news.mark_unchanged();
            add(&self.fleet.tally.log_looks, 1);
            let watches = line.watches().await.unwrap();
            given.retain(|id, _| watches.iter().any(|watch| watch.id == *id));
            let running = self.running.lock().unwrap().clone();
            let here: Vec<LogWatch> =
                watches.into_iter().filter(|watch| running.contains(&watch.attempt)).collect();
            for watch in &here {
                let log_len = self.begun.elapsed().as_secs() * LOG_BYTES_PER_SECOND;
                let from = watch.wanted_from.unwrap_or(log_len).min(log_len);
                if given.insert(watch.id.clone(), (from, log_len)) == Some((from, log_len)) {
                    continue;
                }
                let bytes = vec![b'.'; usize::try_from(log_len - from).unwrap()];
                let piece = LogPiece { machine: self.name.clone(), from, log_len, bytes };
                line.answer(&watch.id, &piece).await.unwrap();
            }
            let pause = sleep(LOG_LOOK_EVERY);
            tokio::select! {
                _ = news.changed() => {}
                () = sleep(if here.is_empty() { LOG_SWEEP } else { LOG_LOOK_EVERY }) => {}
                _ = end.changed() => {}
            }
            tokio::select! {
                () = pause => {}
                _ = end.changed() => {}
            }
        }
    }
}

/// The attempt whose machine has to see to it.
pub(crate) fn attempt_of(effect: &Effect) -> Option<AttemptId> {
    match effect {
        Effect::StopAgent { attempt }
        | Effect::EndTurn { attempt }
        | Effect::DeliverMessages { attempt }
        | Effect::RetireWorktree { attempt } => Some(*attempt),
        Effect::StartAgent { .. }
        | Effect::Notify { .. }
        | Effect::ScheduleTimer { .. }
        | Effect::CancelTimer { .. } => None,
    }
}
