//! The heartbeat: tells the store again and again that this worker lives, what it has and what it can take.

use std::collections::BTreeSet;
use std::pin::pin;
use std::time::Duration;

use baton_core::base::id::ProjectId;
use baton_core::base::time::Timestamp;
use baton_core::schedule::worker::{BEAT_MS, Worker};
use baton_store::Store;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::dispatcher::served_roles;
use crate::error::EngineError;
use crate::post::host_name;
use crate::settings::AgentSettings;
use crate::workshop::Workshop;

/// Beats between two counts of who else is there.
const CENSUS_BEATS: u32 = 5;
/// At the end, a beat on its way gets this long to arrive.
const LAST_BEAT: Duration = Duration::from_secs(5);

impl<S: Store> Workshop<S> {
    /// This worker as others see it.
    pub fn described(&self, started_at: Timestamp, is_draining: bool, warm: BTreeSet<ProjectId>) -> Worker {
        let mut roles = served_roles(&self.settings);
        roles.retain(|_, agent| self.settings.agents.get(agent).is_some_and(AgentSettings::is_found));
        Worker {
            name: self.worker.clone(),
            host: host_name(),
            duty: self.post.duty,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            agents: roles.values().cloned().collect(),
            roles: roles.into_keys().collect(),
            labels: self.post.labels.clone(),
            capacity: self.settings.max_agents,
            is_draining,
            warm,
            started_at,
        }
    }
}

pub struct Heartbeat<S> {
    shop: Workshop<S>,
}

impl<S: Store> Heartbeat<S> {
    pub fn new(shop: Workshop<S>) -> Self {
        Self { shop }
    }

    /// Beats until `end`, and then takes leave. On a store of this machine's own there is nobody to tell.
    pub async fn run(
        &self,
        draining: watch::Receiver<bool>,
        mut end: watch::Receiver<bool>,
    ) -> Result<(), EngineError> {
        if !self.shop.place.store.is_shared() {
            return Ok(());
        }
        let store = &self.shop.desk.store;
        let started_at = store.now().await?;
        let mut draining = draining;
        let mut beats: u32 = 0;
        while !*end.borrow() {
            let is_draining = *draining.borrow_and_update();
            let warm = self.shop.projects.warm();
            let worker = self.shop.described(started_at, is_draining, warm);
            let mut beating = pin!(store.beat(&worker));
            tokio::select! {
                beaten = &mut beating => beaten?,
                // Cut off, it could arrive after the leave, and this worker would seem to live on.
                _ = end.changed() => {
                    let _ = timeout(LAST_BEAT, beating).await;
                    break;
                }
            }
            if beats.is_multiple_of(CENSUS_BEATS) {
                self.shop.fleet.note(store.workers().await?.len());
            }
            beats = beats.wrapping_add(1);
            tokio::select! {
                () = sleep(Duration::from_millis(BEAT_MS.unsigned_abs())) => {}
                changed = draining.changed(), if !is_draining => { let _ = changed; }
                _ = end.changed() => {}
            }
        }
        Ok(store.forget_worker(&self.shop.worker).await?)
    }
}
