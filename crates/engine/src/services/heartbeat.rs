//! The heartbeat: reports to the store that this worker is alive, what it runs and what it can claim.

use std::time::Duration;

use baton_core::base::time::Timestamp;
use baton_core::schedule::worker::BEAT_MS;
use tokio::sync::watch;

use crate::base::supervisor::{Round, Service, ServiceError};
use crate::services::workspace::Workspace;

/// Heartbeats between two counts of all workers.
const CENSUS_BEATS: u32 = 5;
/// How long shutdown waits for a running heartbeat, which must not arrive after this worker was removed.
pub const LAST_BEAT: Duration = Duration::from_secs(5);

/// Only runs with a shared store.
pub struct Heartbeat {
    workspace: Workspace,
    draining: watch::Receiver<bool>,
    started_at: Option<Timestamp>,
    beats: u32,
}

impl Heartbeat {
    pub const PERIOD: Duration = Duration::from_millis(BEAT_MS.unsigned_abs());

    /// `draining` becomes true when this worker claims no more work.
    pub fn new(workspace: Workspace, draining: watch::Receiver<bool>) -> Self {
        Self { workspace, draining, started_at: None, beats: 0 }
    }
}

impl Service for Heartbeat {
    async fn run_once(&mut self) -> Result<Round, ServiceError> {
        let store = &self.workspace.tasks.store;
        let started_at = match self.started_at {
            Some(at) => at,
            None => *self.started_at.insert(store.now().await?),
        };
        let is_draining = *self.draining.borrow();
        let warm = self.workspace.projects.here.warm();
        store
            .beat(&self.workspace.node.describe(&self.workspace.settings, started_at, is_draining, warm))
            .await?;
        if self.beats.is_multiple_of(CENSUS_BEATS) {
            self.workspace.node.fleet.note(store.workers().await?.len());
        }
        self.beats = self.beats.wrapping_add(1);
        Ok(Round::default())
    }

    /// Removes this worker, so that others need not wait for its heartbeat to expire.
    async fn close(&mut self) -> Result<(), ServiceError> {
        Ok(self.workspace.tasks.store.forget_worker(&self.workspace.node.name).await?)
    }
}
