//! Performs the effects in the outbox, which were committed with changes.
//!
//! An effect is removed after it was performed, so it may be repeated after a crash; effects are idempotent. What takes time or
//! can fail goes to other services and stays in the outbox until they are done: timers, questions, notices and worktrees to
//! remove.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use baton_core::base::id::{AttemptId, EffectId};
use baton_core::base::text::NonBlank;
use baton_core::people::actor::Actor;
use baton_core::records::change::Change;
use baton_core::records::effect::{Effect, Notification};
use baton_core::records::event::{Event, EventBody};
use baton_store::model::outbox::PendingEffect;
use tokio::time::Instant;

use crate::base::error::EngineError;
use crate::base::supervisor::{Round, Service, ServiceError};
use crate::cluster::leader::Leadership;
use crate::services::queues::Queues;
use crate::services::workspace::Workspace;

/// Effects read at once.
const BATCH: u32 = 100;
/// Failures after which the service that performs an effect gives it up.
pub const TRIES_MAX: u32 = 8;
/// How often the leader reads the whole outbox, for effects that other machines left.
const READ_AGAIN_AFTER: Duration = Duration::from_mins(10);
/// A machine without a heartbeat for this long is not waited for. If it returns, its pruner removes its worktrees.
const FORGOTTEN_AFTER_MS: i64 = 3_600_000;
/// The shortest time between two reads by a machine that is not the leader. It only has to stop agents or clean up after
/// them.
const PAUSE: Duration = Duration::from_millis(500);

pub(super) struct OutboxWorker {
    workspace: Workspace,
    leadership: Leadership,
    queues: Queues,
    /// Whether notifications are configured.
    has_notifier: bool,
    /// Whether this machine is the leader; unknown before the first round.
    is_leader: Option<bool>,
    begun_at: Instant,
    /// The last effect read from the outbox.
    read_to: Option<EffectId>,
}

/// The workers of the attempts that effects concern.
#[derive(Default)]
struct Owners {
    of: BTreeMap<AttemptId, String>,
    /// The machines that may still handle theirs; only known to the leader.
    present: BTreeSet<String>,
}

impl OutboxWorker {
    pub(super) fn new(
        workspace: Workspace,
        leadership: Leadership,
        queues: Queues,
        has_notifier: bool,
    ) -> Self {
        Self {
            workspace,
            leadership,
            queues,
            has_notifier,
            is_leader: None,
            begun_at: Instant::now(),
            read_to: None,
        }
    }

    /// Reads the outbox from the beginning after a change of leader, and regularly for effects of machines that are gone.
    fn begin(&mut self, is_leader: bool) {
        let is_shared = self.workspace.place.store.is_shared();
        let is_stale = is_shared && is_leader && self.begun_at.elapsed() > READ_AGAIN_AFTER;
        if self.is_leader == Some(is_leader) && !is_stale {
            return;
        }
        if self.is_leader == Some(true) && !is_leader {
            self.queues.clear();
        }
        self.is_leader = Some(is_leader);
        self.begun_at = Instant::now();
        self.read_to = None;
    }

    async fn read_outbox(&mut self) -> Result<u64, ServiceError> {
        let running = self.workspace.running.clone();
        let mut done = 0;
        loop {
            let pending = self.workspace.tasks.store.pending_effects(self.read_to, BATCH).await?;
            let Some(last) = pending.last().map(|last| last.id) else { return Ok(done) };
            let owners = self.owners(&pending).await?;
            let mut over = Vec::new();
            for PendingEffect { id, effect } in pending {
                if !self.is_for_us(&effect, &owners) {
                    continue;
                }
                match effect {
                    Effect::ScheduleTimer { timer, at } => {
                        self.queues.timers.lock().set(id, timer, at);
                        self.queues.timers.wake();
                    }
                    Effect::CancelTimer { timer } => {
                        over.extend(self.queues.timers.lock().cancel(&timer));
                        over.push(id);
                    }
                    Effect::Notify { about } => {
                        if let Notification::Question(question) = about {
                            self.queues.ask(question);
                        }
                        if self.has_notifier {
                            self.queues.notify(id, about);
                        } else {
                            over.push(id);
                        }
                    }
                    Effect::RetireWorktree { attempt } => self.queues.retire(id, attempt),
                    // The worker that claimed it starts it; if that died first, the lease expires.
                    Effect::StartAgent { .. } => over.push(id),
                    Effect::StopAgent { attempt } => {
                        running.stop(attempt);
                        over.push(id);
                    }
                    Effect::EndTurn { attempt } => {
                        running.end_turn(attempt);
                        over.push(id);
                    }
                    Effect::DeliverMessages { attempt } => {
                        running.wake_for_messages(attempt);
                        over.push(id);
                    }
                }
            }
            if !over.is_empty() {
                done += over.len() as u64;
                self.workspace.tasks.store.finish_effects(&over).await?;
            }
            self.read_to = Some(last);
        }
    }

    /// Whether this machine performs the effect. With a shared store, effects about an attempt belong to the machine that
    /// ran it, and all others to the leader.
    fn is_for_us(&self, effect: &Effect, owners: &Owners) -> bool {
        if !self.workspace.place.store.is_shared() {
            return true;
        }
        match effect {
            Effect::Notify { .. } | Effect::ScheduleTimer { .. } | Effect::CancelTimer { .. } => {
                self.is_leader == Some(true)
            }
            Effect::StartAgent { attempt, .. } => {
                self.is_leader == Some(true) || self.workspace.running.ids().contains(attempt)
            }
            Effect::StopAgent { attempt }
            | Effect::EndTurn { attempt }
            | Effect::DeliverMessages { attempt }
            | Effect::RetireWorktree { attempt } => {
                match owners.of.get(attempt) {
                    Some(worker) if *worker == self.workspace.node.name => true,
                    // The leader stands in for an unknown machine, and finds nothing to do.
                    Some(worker) => self.is_leader == Some(true) && !owners.present.contains(worker),
                    None => self.is_leader == Some(true),
                }
            }
        }
    }

    /// One query for all effects, because every machine reads every effect.
    async fn owners(&self, pending: &[PendingEffect]) -> Result<Owners, EngineError> {
        let attempts: Vec<AttemptId> = pending.iter().filter_map(|one| attempt_of(&one.effect)).collect();
        if attempts.is_empty() || !self.workspace.place.store.is_shared() {
            return Ok(Owners::default());
        }
        let store = &self.workspace.tasks.store;
        let of = store.workers_of(&attempts).await?;
        let mut present = BTreeSet::new();
        if self.is_leader == Some(true) && of.values().any(|worker| *worker != self.workspace.node.name) {
            let now = store.now().await?;
            let mut seen = store.workers().await?;
            seen.retain(|seen| now.ms().saturating_sub(seen.seen_at.ms()) <= FORGOTTEN_AFTER_MS);
            present.extend(seen.into_iter().map(|seen| seen.worker.name));
        }
        Ok(Owners { of, present })
    }
}

/// The attempt whose machine performs the effect.
fn attempt_of(effect: &Effect) -> Option<AttemptId> {
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

/// Records that an effect was given up.
pub(super) async fn give_up(
    workspace: &Workspace,
    effect: &Effect,
    tries: u32,
    error: &ServiceError,
) -> Result<(), ServiceError> {
    (workspace.announce)(&format!("Gave up after {tries} attempts: {error}"));
    let (effect, error) = (Box::new(effect.clone()), NonBlank::new(error.to_string())?);
    let body = EventBody::EffectGivenUp { effect, tries, error };
    let mut change = Change::new();
    change.events.push(Event { at: workspace.tasks.store.now().await?, by: Actor::Baton, body });
    Ok(workspace.tasks.write(change).await?)
}

impl Service for OutboxWorker {
    async fn run_once(&mut self) -> Result<Round, ServiceError> {
        let is_leader = self.leadership.is_held();
        self.begin(is_leader);
        let round = Round { items_done: self.read_outbox().await?, ..Round::default() };
        Ok(if is_leader { round } else { round.not_before(Instant::now() + PAUSE) })
    }
}
