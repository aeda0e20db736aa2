//! The heartbeat: tells the store that this worker lives, what it runs and what it can take.

use std::collections::BTreeSet;
use std::time::Duration;

use baton_core::base::id::ProjectId;
use baton_core::base::time::Timestamp;
use baton_core::schedule::worker::{BEAT_MS, Worker};
use tokio::sync::watch;

use crate::cluster::node::host_name;
use crate::dispatch::dispatcher::served_roles;
use crate::settings::AgentSettings;
use crate::supervisor::{Round, Service, ServiceError};
use crate::workshop::Workshop;

/// Beats between two counts of who else is there.
const CENSUS_BEATS: u32 = 5;
/// At the end, a beat on its way gets this long to arrive: cut off, it could arrive after the leave.
pub const LAST_BEAT: Duration = Duration::from_secs(5);

impl Workshop {
    /// This worker as others see it.
    pub fn described(&self, started_at: Timestamp, is_draining: bool, warm: BTreeSet<ProjectId>) -> Worker {
        let mut roles = served_roles(&self.settings);
        roles.retain(|_, agent| self.settings.agents.get(agent).is_some_and(AgentSettings::is_found));
        Worker {
            name: self.worker.clone(),
            host: host_name(),
            duty: self.node.duty,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            agents: roles.values().cloned().collect(),
            roles: roles.into_keys().collect(),
            labels: self.node.labels.clone(),
            capacity: self.settings.max_agents,
            is_draining,
            warm,
            started_at,
        }
    }
}

/// Reports this worker to a store that others share. On a store of its own there is nobody to tell.
pub struct Heartbeat {
    shop: Workshop,
    draining: watch::Receiver<bool>,
    started_at: Option<Timestamp>,
    beats: u32,
}

impl Heartbeat {
    pub const PERIOD: Duration = Duration::from_millis(BEAT_MS.unsigned_abs());

    /// `draining` turns true when this worker takes no more work.
    pub fn new(shop: Workshop, draining: watch::Receiver<bool>) -> Self {
        Self { shop, draining, started_at: None, beats: 0 }
    }
}

impl Service for Heartbeat {
    async fn run_once(&mut self) -> Result<Round, ServiceError> {
        let store = &self.shop.tasks.store;
        let started_at = match self.started_at {
            Some(at) => at,
            None => *self.started_at.insert(store.now().await?),
        };
        let is_draining = *self.draining.borrow();
        let warm = self.shop.projects.warm();
        store.beat(&self.shop.described(started_at, is_draining, warm)).await?;
        if self.beats.is_multiple_of(CENSUS_BEATS) {
            self.shop.fleet.note(store.workers().await?.len());
        }
        self.beats = self.beats.wrapping_add(1);
        Ok(Round::default())
    }

    /// Takes leave, so that others need not wait until it is missed.
    async fn close(&mut self) -> Result<(), ServiceError> {
        Ok(self.shop.tasks.store.forget_worker(&self.shop.worker).await?)
    }
}
