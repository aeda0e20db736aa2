//! Keeps the machine alive: when memory runs out, pauses the agent that started last, and lets it go on when there is room.

use std::time::Duration;

use baton_core::base::id::AttemptId;
use baton_core::base::text::NonBlank;
use baton_core::limits::machine::{MachineShortage, shortages};
use baton_core::task::environment::EnvironmentChange;

use crate::attempt::environment::tell;
use crate::base::error::EngineError;
use crate::base::supervisor::{Item, ItemKind, Items, Round, Service, ServiceError, ServiceName};
use crate::services::recovery::tree_of;
use crate::services::workspace::Workspace;

pub(super) struct RoomKeeper {
    workspace: Workspace,
    items: Items,
    short: Vec<MachineShortage>,
}

impl RoomKeeper {
    /// Memory runs out within seconds.
    pub(super) const PERIOD: Duration = Duration::from_secs(2);

    pub(super) fn new(workspace: Workspace) -> Self {
        let items = workspace.items(ServiceName::Room);
        Self { workspace, items, short: Vec::new() }
    }

    async fn pause(&self, attempt: AttemptId, shortage: MachineShortage) -> Result<(), EngineError> {
        let reason = NonBlank::new(format!("the machine is busy: {shortage}"))?;
        if !self.workspace.running.pause(attempt) {
            return Ok(());
        }
        tree_of(&self.workspace, attempt).pause().await;
        (self.workspace.announce)(&format!("{attempt} is paused, {reason}"));
        self.tell(attempt, EnvironmentChange::Paused { reason }).await
    }

    async fn resume(&self, attempt: AttemptId) -> Result<(), EngineError> {
        tree_of(&self.workspace, attempt).resume().await;
        if !self.workspace.running.resume(attempt) {
            return Ok(());
        }
        (self.workspace.announce)(&format!("{attempt} goes on"));
        self.tell(attempt, EnvironmentChange::Resumed).await
    }

    async fn tell(&self, attempt: AttemptId, change: EnvironmentChange) -> Result<(), EngineError> {
        let tasks = &self.workspace.tasks;
        match tasks.store.attempt(attempt).await? {
            Some(record) => tell(tasks, record.task_id, attempt, change).await,
            None => Ok(()),
        }
    }
}

impl Service for RoomKeeper {
    async fn run_once(&mut self) -> Result<Round, ServiceError> {
        let limits = self.workspace.settings.room.pause_limits();
        self.short = shortages(&limits, &self.workspace.machine.reading(), &self.short);
        let pausable = self.workspace.running.pausable();
        match self.short.first().copied() {
            // One always works: a paused agent keeps its memory, so with none at work nothing would ever change.
            Some(shortage) if pausable.at_work.len() > 1 => {
                if let Some(newest) = pausable.at_work.last().copied() {
                    let item = Item::new(ItemKind::Attempt, &newest);
                    self.items.attempt(&item, self.pause(newest, shortage)).await?;
                }
            }
            Some(_) if !pausable.at_work.is_empty() => {}
            Some(_) | None => {
                if let Some(oldest) = pausable.paused.first().copied() {
                    let item = Item::new(ItemKind::Attempt, &oldest);
                    self.items.attempt(&item, self.resume(oldest)).await?;
                }
            }
        }
        Ok(self.items.end_round())
    }
}
