//! The outbox: carries out the effects that were committed with changes, each once as far as anyone can tell.
//!
//! An effect leaves the outbox only after it was done, so after a crash it is done again, and doing it again does
//! nothing more. One that fails is tried again, later and later; one that keeps failing is given up, and an event
//! says so. Timers, questions and notices are handed to the services that see to them, and stay in the outbox until
//! these have.

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
use crate::base::supervisor::{Attempted, Item, ItemKind, Items, Round, Service, ServiceError, ServiceName};
use crate::cluster::leader::Leadership;
use crate::services::queues::Queues;
use crate::services::workspace::Workspace;

/// Effects read at once.
const BATCH: u32 = 100;
/// How often an effect is tried before a person has to see to it.
pub const TRIES_MAX: u32 = 8;
/// How often the leader looks through the whole outbox for what others left.
const READ_AGAIN_AFTER: Duration = Duration::from_mins(10);
/// A machine that was not heard of for this long is not waited for; should it come back, its pruner sees to its worktrees.
const FORGOTTEN_AFTER_MS: i64 = 3_600_000;
/// Whoever does not lead looks into the outbox no more often than this, however much happens on other machines. What is
/// there for it is to stop an agent, or to clear up after one.
const PAUSE: Duration = Duration::from_millis(500);

pub(super) struct OutboxWorker {
    workspace: Workspace,
    leadership: Leadership,
    queues: Queues,
    /// Whether somebody is to be told anything at all.
    has_notifier: bool,
    items: Items,
    /// Whether what must be done once for all machines is done here; not known before the first round.
    is_leader: Option<bool>,
    begun_at: Instant,
    /// Everything up to here has been read from the outbox.
    read_to: Option<EffectId>,
    /// To be done, in the order it was caused.
    waiting: VecDeque<(EffectId, Effect)>,
}

/// Who had the attempts that some effects are about.
#[derive(Default)]
struct Owners {
    of: BTreeMap<AttemptId, String>,
    /// The machines that may still see to theirs; known to the leader alone.
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

    /// The outbox is read from its beginning when who sees to what has changed, and now and then for what was left to a
    /// machine that is gone by now.
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
                    Effect::StartAgent { .. } | Effect::StopAgent { .. } | Effect::RetireWorktree { .. } => {
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

    /// Whether to see to it here. Where machines share a store, what is about an attempt is for the machine that had it,
    /// and the rest is for the leader.
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
            Effect::StopAgent { attempt } | Effect::RetireWorktree { attempt } => {
                match owners.of.get(attempt) {
                    Some(worker) if *worker == self.workspace.node.name => true,
                    // A machine that is not known any more is stood in for by the leader, who finds nothing to do.
                    Some(worker) => self.is_leader == Some(true) && !owners.present.contains(worker),
                    None => self.is_leader == Some(true),
                }
            }
        }
    }

    /// Asked once for all of them: every machine reads every effect, and a question for each would add up.
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

    /// One effect, done and gone, or later again, or given up where a person sees it.
    async fn see_to(&mut self, id: EffectId, effect: Effect) -> Result<(), ServiceError> {
        let item = Item::new(ItemKind::Effect, &describe(id, &effect));
        let item = Item { task: self.task_of(&effect).await?, ..item };
        let span = debug_span!("effect", %id, effect = describe(id, &effect));
        match self.items.attempt(&item, self.carry_out(&effect).instrument(span)).await? {
            Attempted::Done(CarriedOut::NotYet) | Attempted::Waiting => {
                self.waiting.push_back((id, effect));
                return Ok(());
            }
            Attempted::Failed { tries, .. } if tries < TRIES_MAX => {
                self.waiting.push_back((id, effect));
                return Ok(());
            }
            Attempted::Failed { tries, error } => {
                give_up(&self.workspace, &effect, tries, &error).await?;
                self.items.forget(&item);
            }
            Attempted::Done(CarriedOut::Done) => {}
        }
        Ok(self.workspace.tasks.store.finish_effects(&[id]).await?)
    }

    /// Whose history tells when it fails.
    async fn task_of(&self, effect: &Effect) -> Result<Option<TaskId>, ServiceError> {
        let Effect::RetireWorktree { attempt } = effect else { return Ok(None) };
        Ok(self.workspace.tasks.store.attempt(*attempt).await?.map(|record| record.task_id))
    }

    async fn carry_out(&self, effect: &Effect) -> Result<CarriedOut, EngineError> {
        match effect {
            // Whoever claimed it starts it; if they died first, its lease expires.
            Effect::StartAgent { .. } => {}
            Effect::StopAgent { attempt } => {
                self.workspace.running.stop(*attempt);
            }
            // One that was told to stop may still be ending; its worktree is retired once it has.
            Effect::RetireWorktree { attempt } if self.workspace.running.ids().contains(attempt) => {
                return Ok(CarriedOut::NotYet);
            }
            Effect::RetireWorktree { attempt } => self.retire(*attempt).await?,
            // These are handed to other services and never come here.
            Effect::Notify { .. } | Effect::ScheduleTimer { .. } | Effect::CancelTimer { .. } => {}
        }
        Ok(CarriedOut::Done)
    }

    /// I17: everything is kept before anything goes.
    async fn retire(&self, attempt: AttemptId) -> Result<(), EngineError> {
        let Some(record) = self.workspace.tasks.store.attempt(attempt).await? else { return Ok(()) };
        if record.attempt.worker.is_some_and(|worker| worker != self.workspace.node.name)
            && self.workspace.place.store.is_shared()
        {
            return Ok(());
        }
        let worktrees = self.workspace.projects.worktrees_of(record.task_id).await?;
        worktrees.retire(attempt).await?;
        // Where the remote is away it is tried again by itself.
        if let Err(error) = self.workspace.projects.push_vault(&worktrees, record.task_id, attempt).await {
            (self.workspace.announce)(&format!(
                "{attempt}: what is kept of it stays on this machine for now: {error}"
            ));
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

/// Which effect it is, for people.
fn describe(id: EffectId, effect: &Effect) -> String {
    let kind = match effect {
        Effect::StartAgent { .. } => "start_agent",
        Effect::StopAgent { .. } => "stop_agent",
        Effect::RetireWorktree { .. } => "retire_worktree",
        Effect::Notify { .. } => "notify",
        Effect::ScheduleTimer { .. } => "schedule_timer",
        Effect::CancelTimer { .. } => "cancel_timer",
    };
    format!("{kind} {id}")
}

/// Says for good that an effect could not be carried out.
pub(super) async fn give_up(
    workspace: &Workspace,
    effect: &Effect,
    tries: u32,
    error: &ServiceError,
) -> Result<(), ServiceError> {
    (workspace.announce)(&format!("Given up after {tries} tries: {error}"));
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
