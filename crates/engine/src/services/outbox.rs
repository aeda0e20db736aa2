//! Performs the effects in the outbox, which were committed with changes.
//!
//! An effect is removed after it was performed, so it may be repeated after a crash; effects are idempotent. A failing one
//! is retried with back-off; after several failures it is given up, with an event. Timers, questions and notices go to
//! other services and stay in the outbox until those are done.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use baton_core::base::id::{AttemptId, EffectId, TaskId};
use baton_core::base::text::NonBlank;
use baton_core::people::actor::Actor;
use baton_core::records::change::Change;
use baton_core::records::effect::{Effect, Notification};
use baton_core::records::event::{Event, EventBody};
use baton_store::model::outbox::PendingEffect;
use tokio::time::Instant;
use tracing::{Instrument, debug_span};

use crate::base::error::EngineError;
use crate::base::supervisor::{Item, ItemKind, ItemResult, Items, Round, Service, ServiceError, ServiceName};
use crate::cluster::leader::Leadership;
use crate::services::queues::Queues;
use crate::services::workspace::Workspace;

/// Effects read at once.
const BATCH: u32 = 100;
/// Failures after which an effect is given up.
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
    items: Items,
    /// Whether this machine is the leader; unknown before the first round.
    is_leader: Option<bool>,
    begun_at: Instant,
    /// The last effect read from the outbox.
    read_to: Option<EffectId>,
    /// The effects to perform, in order.
    waiting: VecDeque<(EffectId, Effect)>,
}

/// The workers of the attempts that effects concern.
#[derive(Default)]
struct Owners {
    of: BTreeMap<AttemptId, String>,
    /// The machines that may still handle theirs; only known to the leader.
    present: BTreeSet<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CarriedOut {
    Done,
    /// Its attempt has not ended yet.
    NotYet,
}

impl OutboxWorker {
    pub(super) fn new(
        workspace: Workspace,
        leadership: Leadership,
        queues: Queues,
        has_notifier: bool,
    ) -> Self {
        let items = workspace.items(ServiceName::Outbox);
        Self {
            workspace,
            leadership,
            queues,
            has_notifier,
            items,
            is_leader: None,
            begun_at: Instant::now(),
            read_to: None,
            waiting: VecDeque::new(),
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
        self.waiting.clear();
    }

    async fn read_outbox(&mut self) -> Result<(), ServiceError> {
        loop {
            let pending = self.workspace.tasks.store.pending_effects(self.read_to, BATCH).await?;
            let Some(last) = pending.last().map(|last| last.id) else { return Ok(()) };
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
                    Effect::StartAgent { .. }
                    | Effect::StopAgent { .. }
                    | Effect::EndTurn { .. }
                    | Effect::DeliverMessages { .. }
                    | Effect::RetireWorktree { .. } => {
                        self.waiting.push_back((id, effect));
                    }
                }
            }
            if !over.is_empty() {
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

    /// Performs one effect and removes it, schedules a retry, or gives it up with an event.
    async fn see_to(&mut self, id: EffectId, effect: Effect) -> Result<(), ServiceError> {
        let item = Item::new(ItemKind::Effect, &describe(id, &effect));
        let item = Item { task: self.task_of(&effect).await?, ..item };
        let span = debug_span!("effect", %id, effect = describe(id, &effect));
        match self.items.attempt(&item, self.carry_out(&effect).instrument(span)).await? {
            ItemResult::Done(CarriedOut::NotYet) | ItemResult::Waiting => {
                self.waiting.push_back((id, effect));
                return Ok(());
            }
            ItemResult::Failed { tries, .. } if tries < TRIES_MAX => {
                self.waiting.push_back((id, effect));
                return Ok(());
            }
            ItemResult::Failed { tries, error } => {
                give_up(&self.workspace, &effect, tries, &error).await?;
                self.items.forget(&item);
            }
            ItemResult::Done(CarriedOut::Done) => {}
        }
        Ok(self.workspace.tasks.store.finish_effects(&[id]).await?)
    }

    /// The task in whose history a failure is recorded.
    async fn task_of(&self, effect: &Effect) -> Result<Option<TaskId>, ServiceError> {
        let Effect::RetireWorktree { attempt } = effect else { return Ok(None) };
        Ok(self.workspace.tasks.store.attempt(*attempt).await?.map(|record| record.task_id))
    }

    async fn carry_out(&self, effect: &Effect) -> Result<CarriedOut, EngineError> {
        match effect {
            // The worker that claimed it starts it; if that died first, the lease expires.
            Effect::StartAgent { .. } => {}
            Effect::StopAgent { attempt } => {
                self.workspace.running.stop(*attempt);
            }
            Effect::EndTurn { attempt } => self.workspace.running.end_turn(*attempt),
            Effect::DeliverMessages { attempt } => self.workspace.running.wake_for_messages(*attempt),
            // A stopped attempt may still be ending; its worktree is retired afterwards.
            Effect::RetireWorktree { attempt } if self.workspace.running.ids().contains(attempt) => {
                return Ok(CarriedOut::NotYet);
            }
            // The same for its last hook, which another process may run.
            Effect::RetireWorktree { attempt } if self.workspace.projects.is_folder_used(*attempt)? => {
                return Ok(CarriedOut::NotYet);
            }
            Effect::RetireWorktree { attempt } => self.retire(*attempt).await?,
            // Handled by other services.
            Effect::Notify { .. } | Effect::ScheduleTimer { .. } | Effect::CancelTimer { .. } => {}
        }
        Ok(CarriedOut::Done)
    }

    /// I17: a snapshot is saved before anything is removed.
    async fn retire(&self, attempt: AttemptId) -> Result<(), EngineError> {
        let Some(record) = self.workspace.tasks.store.attempt(attempt).await? else { return Ok(()) };
        if record.attempt.worker.is_some_and(|worker| worker != self.workspace.node.name)
            && self.workspace.place.store.is_shared()
        {
            return Ok(());
        }
        let worktrees = self.workspace.projects.worktrees_of(record.task_id).await?;
        self.workspace.prepare_removal(&worktrees, record.task_id, attempt).await?;
        worktrees.retire(attempt).await?;
        self.workspace.projects.release_values(record.task_id).await?;
        // Retried if the remote is unavailable.
        if let Err(error) = self.workspace.projects.push_vault(&worktrees, record.task_id, attempt).await {
            (self.workspace.announce)(&format!("{attempt}: cannot push its snapshot yet: {error}"));
        }
        Ok(())
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

/// A name of the effect for users.
fn describe(id: EffectId, effect: &Effect) -> String {
    let kind = match effect {
        Effect::StartAgent { .. } => "start_agent",
        Effect::StopAgent { .. } => "stop_agent",
        Effect::EndTurn { .. } => "end_turn",
        Effect::DeliverMessages { .. } => "deliver_messages",
        Effect::RetireWorktree { .. } => "retire_worktree",
        Effect::Notify { .. } => "notify",
        Effect::ScheduleTimer { .. } => "schedule_timer",
        Effect::CancelTimer { .. } => "cancel_timer",
    };
    format!("{kind} {id}")
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
        self.read_outbox().await?;
        for _ in 0..self.waiting.len() {
            let Some((id, effect)) = self.waiting.pop_front() else { break };
            self.see_to(id, effect).await?;
        }
        let round = self.items.end_round();
        Ok(if is_leader { round } else { round.not_before(Instant::now() + PAUSE) })
    }
}
