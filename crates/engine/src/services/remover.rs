//! Removes worktrees that nobody needs any more, apart from the outbox: a big one takes minutes, and so may the commands that run
//! before. What is interrupted at shutdown is repeated after the next start.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use baton_core::base::id::{AttemptId, EffectId};
use baton_core::records::effect::Effect;
use tracing::{Instrument, debug_span};

use crate::base::error::EngineError;
use crate::base::supervisor::{Item, ItemKind, ItemResult, Items, Round, Service, ServiceError, ServiceName};
use crate::services::outbox::{TRIES_MAX, give_up};
use crate::services::queues::Queue;
use crate::services::workspace::Workspace;

pub(super) struct WorktreeRemover {
    workspace: Workspace,
    removals: Queue<BTreeMap<EffectId, AttemptId>>,
    items: Items,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Removed {
    Done,
    /// Somebody still uses it.
    NotYet,
}

impl WorktreeRemover {
    pub(super) fn new(workspace: Workspace, removals: Queue<BTreeMap<EffectId, AttemptId>>) -> Self {
        let items = workspace.items(ServiceName::WorktreeRemover);
        Self { workspace, removals, items }
    }

    /// Removes one worktree, schedules a retry, or gives it up with an event.
    async fn see_to(&mut self, id: EffectId, attempt: AttemptId) -> Result<(), ServiceError> {
        let item = Item::new(ItemKind::Removal, &attempt);
        let record = self.workspace.tasks.store.attempt(attempt).await?;
        let item = Item { task: record.map(|record| record.task_id), ..item };
        let span = debug_span!("remove", %attempt);
        let is_blocked = AtomicBool::new(false);
        match self.items.attempt(&item, self.remove(attempt, &is_blocked).instrument(span)).await? {
            ItemResult::Done(Removed::NotYet) | ItemResult::Waiting => return Ok(()),
            // The commands of its project fail, or nobody has allowed them: it stays until a person has seen to that.
            ItemResult::Failed { .. } if is_blocked.load(Ordering::Relaxed) => return Ok(()),
            ItemResult::Failed { tries, .. } if tries < TRIES_MAX => return Ok(()),
            ItemResult::Failed { tries, error } => {
                give_up(&self.workspace, &Effect::RetireWorktree { attempt }, tries, &error).await?;
                self.items.forget(&item);
            }
            ItemResult::Done(Removed::Done) => {}
        }
        self.workspace.tasks.store.finish_effects(&[id]).await?;
        self.removals.lock().remove(&id);
        Ok(())
    }

    /// I17: a snapshot is saved before anything is removed.
    async fn remove(&self, attempt: AttemptId, is_blocked: &AtomicBool) -> Result<Removed, EngineError> {
        let Workspace { projects, running, .. } = &self.workspace;
        // An attempt that was stopped may still be ending, and its last hook may run, in another process too.
        if running.ids().contains(&attempt) || projects.is_folder_used(attempt)? {
            return Ok(Removed::NotYet);
        }
        let Some(record) = self.workspace.tasks.store.attempt(attempt).await? else {
            return Ok(Removed::Done);
        };
        if record.attempt.worker.is_some_and(|worker| worker != self.workspace.node.name)
            && self.workspace.place.store.is_shared()
        {
            return Ok(Removed::Done);
        }
        let worktrees = projects.worktrees_of(record.task_id).await?;
        let prepared = self.workspace.prepare_removal(&worktrees, record.task_id, attempt).await;
        is_blocked.store(prepared.is_err(), Ordering::Relaxed);
        prepared?;
        worktrees.retire(attempt).await?;
        projects.release_values(record.task_id).await?;
        // Retried if the remote is unavailable.
        if let Err(error) = projects.push_vault(&worktrees, record.task_id, attempt).await {
            (self.workspace.announce)(&format!("{attempt}: cannot push its snapshot yet: {error}"));
        }
        Ok(Removed::Done)
    }
}

impl Service for WorktreeRemover {
    async fn run_once(&mut self) -> Result<Round, ServiceError> {
        let waiting: Vec<(EffectId, AttemptId)> =
            self.removals.lock().iter().map(|(id, attempt)| (*id, *attempt)).collect();
        for (id, attempt) in waiting {
            self.see_to(id, attempt).await?;
        }
        Ok(self.items.end_round())
    }
}
