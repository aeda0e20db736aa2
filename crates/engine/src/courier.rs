//! The courier: carries out the effects that were committed with changes, each once as far as anyone can tell.
//!
//! An effect is marked as done only after it was done; after a crash it is done again, and doing it again
//! does nothing more.

use baton_core::effect::Effect;
use baton_core::id::AttemptId;
use baton_store::Store;
use baton_store::outbox::PendingEffect;

use crate::error::EngineError;
use crate::workshop::Workshop;

/// Effects taken at once.
const BATCH: u32 = 100;

pub struct Courier<S> {
    shop: Workshop<S>,
}

impl<S: Store> Courier<S> {
    pub fn new(shop: Workshop<S>) -> Self {
        Self { shop }
    }

    /// Carries out everything that waits; returns what could not be done, to be told to a person.
    pub async fn run_once(&self) -> Result<Vec<String>, EngineError> {
        let mut troubles = Vec::new();
        loop {
            let pending = self.shop.desk.store.pending_effects(BATCH).await?;
            if pending.is_empty() {
                return Ok(troubles);
            }
            for PendingEffect { id, effect } in &pending {
                if let Err(error) = self.carry_out(effect).await {
                    // Trying again at once would fail alike and hold up the rest. What could not be retired
                    // stays where it is, whole, and the person is told.
                    troubles.push(format!("{effect:?}: {error}"));
                }
                self.shop.desk.store.finish_effects(&[*id]).await?;
            }
        }
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
            // The inbox and the event log tell whoever looks; there is nobody else to tell yet.
            Effect::Notify { .. } | Effect::ScheduleTimer { .. } | Effect::CancelTimer { .. } => Ok(()),
        }
    }

    /// I17: everything is kept before anything goes.
    async fn retire(&self, attempt: AttemptId) -> Result<(), EngineError> {
        let Some(record) = self.shop.desk.store.attempt(attempt).await? else { return Ok(()) };
        // One that was told to stop may still be ending; its worktree is retired once it has.
        self.shop.running.gone(attempt).await;
        let worktrees = self.shop.worktrees_of(record.task_id).await?;
        worktrees.retire(attempt).await?;
        Ok(())
    }
}
