//! The dispatcher: claims ready work and sets runners on it. A change wakes it; it does not poll.

use std::collections::BTreeMap;
use std::time::Duration;

use baton_core::actor::Actor;
use baton_core::text::{AgentName, Role};
use baton_store::Store;
use baton_store::claim::{ClaimRequest, Claimed};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::error::EngineError;
use crate::runner::Runner;
use crate::workshop::Workshop;

/// The safety net under the wake-ups: nothing waits longer than this because one was missed.
const SWEEP: Duration = Duration::from_secs(5);

pub struct Dispatcher<S> {
    shop: Workshop<S>,
}

impl<S: Store> Dispatcher<S> {
    pub fn new(shop: Workshop<S>) -> Self {
        Self { shop }
    }

    /// Runs until `shutdown` turns true, then ends what runs here and waits for it.
    pub async fn run(&self, mut shutdown: watch::Receiver<bool>) -> Result<(), EngineError> {
        let mut changes = self.shop.desk.store.subscribe();
        let mut ends = self.shop.running.ends();
        let mut runners: JoinSet<Result<(), EngineError>> = JoinSet::new();
        while !*shutdown.borrow() {
            // What changes from here on wakes the wait below, so nothing falls between looking and waiting.
            changes.mark_unchanged();
            ends.mark_unchanged();
            for claimed in self.claim().await? {
                self.start(claimed, &mut runners);
            }
            tokio::select! {
                _ = changes.changed() => {}
                _ = ends.changed() => {}
                () = sleep(SWEEP) => {}
                _ = shutdown.changed() => {}
            }
            while let Some(ended) = runners.try_join_next() {
                ended.map_err(|error| EngineError::Runner { detail: error.to_string() })??;
            }
        }
        self.shop.running.stop_all();
        while let Some(ended) = runners.join_next().await {
            ended.map_err(|error| EngineError::Runner { detail: error.to_string() })??;
        }
        Ok(())
    }

    fn start(&self, claimed: Claimed, runners: &mut JoinSet<Result<(), EngineError>>) {
        let seat = self.shop.running.enter(claimed.lease.attempt);
        let runner = Runner::new(self.shop.clone());
        runners.spawn(async move { runner.run(claimed, seat).await });
    }

    /// As much as may run. The limits are judged in the store, over everything that runs on it.
    async fn claim(&self) -> Result<Vec<Claimed>, EngineError> {
        let settings = &self.shop.settings;
        let here = u32::try_from(self.shop.running.count()).unwrap_or(u32::MAX);
        let free = settings.max_agents.saturating_sub(here);
        let agents = self.agents();
        if free == 0 || agents.is_empty() {
            return Ok(Vec::new());
        }
        let request = ClaimRequest {
            agents,
            worker: self.shop.worker.clone(),
            attempt_ids: (0..free).map(|_| self.shop.desk.ids.attempt()).collect(),
            lease_ms: settings.lease_ms(),
            capacity: settings.capacity(),
            intakes: self.shop.desk.held_intakes(&self.shop.intakes).await?,
            actor: Actor::Baton,
        };
        Ok(self.shop.desk.store.claim(request).await?)
    }

    /// The roles somebody is set up for.
    fn agents(&self) -> BTreeMap<Role, AgentName> {
        let settings = &self.shop.settings;
        let own = [Role::implement(), Role::breakdown()].into_iter().chain(Role::of_loop());
        let roles = settings.roles.keys().cloned().chain(own);
        roles
            .filter(|role| settings.only_roles.is_empty() || settings.only_roles.contains(role))
            .filter_map(|role| settings.agent_for(&role).map(|(name, _)| (role.clone(), name.clone())))
            .collect()
    }
}
