//! The dispatcher: claims ready work and starts runners for it. A change wakes it; it does not poll.

use std::collections::BTreeMap;
use std::time::Duration;

use baton_core::base::text::{AgentName, Role};
use baton_core::people::actor::Actor;
use baton_core::schedule::{AgentRoutes, WorkerFit};
use baton_store::model::claim::{ClaimRequest, ClaimedTask};
use tokio::sync::watch;
use tokio::time::Instant;
use tracing::{Instrument, Level, debug, debug_span};

use crate::attempt::context::AttemptContext;
use crate::base::error::EngineError;
use crate::base::ids::random_bits;
use crate::base::supervisor::{Items, Round, Service, ServiceError};
use crate::cluster::node::Node;
use crate::dispatch::head_start::{HEAD_START, HeadStart};
use crate::dispatch::not_started::{Scheduling, describe_busy};
use crate::dispatch::runners::Runners;
use crate::runs::Runs;
use crate::settings::{AgentSettings, Settings};

/// The safety net under the wake-ups: nothing waits longer than this because one was missed.
pub const SWEEP: Duration = Duration::from_secs(5);
/// A busy machine is looked at again after this.
const BUSY_SWEEP: Duration = Duration::from_secs(1);
/// A claim that is under way when the end is called has this long to come back. What it brings after that is nobody's,
/// until its lease runs out.
pub const LAST_CLAIM: Duration = Duration::from_secs(2);

/// How many unclaimed tasks the log explains at a time.
const EXPLAINED_MAX: u32 = 20;

/// Claims ready work and starts a runner for each task. What it has started is in `Runners` and outlives its restarts.
pub struct Dispatcher {
    context: AttemptContext,
    scheduling: Scheduling,
    node: Node,
    items: Items,
    runners: Runners,
    changes: watch::Receiver<u64>,
    /// Of others, for work on projects that are not at hand here.
    head_start: HeadStart,
    /// When to ask again at the earliest, after finding no work.
    not_before: Instant,
}

impl Dispatcher {
    pub fn new(
        context: AttemptContext,
        scheduling: Scheduling,
        node: Node,
        items: Items,
        runners: Runners,
    ) -> Self {
        let now = Instant::now();
        let changes = context.tasks.store.subscribe();
        Self {
            context,
            scheduling,
            node,
            items,
            runners,
            changes,
            head_start: HeadStart::new(now),
            not_before: now,
        }
    }

    /// As much as may run, and when to look again at the latest.
    async fn claim(&mut self) -> Result<(Vec<ClaimedTask>, Duration), EngineError> {
        let settings = self.context.settings.clone();
        let (agents, free) = self.room(&settings);
        if free == 0 || agents.is_empty() {
            let running = self.context.running.count();
            debug!(running, max = settings.max_agents, roles = agents.len(), "no room: nothing is claimed");
            return Ok((Vec::new(), SWEEP));
        }
        let short = self.scheduling.machine.shortages();
        if !short.is_empty() {
            debug!(reason = describe_busy(&short), "nothing is claimed");
            return Ok((Vec::new(), BUSY_SWEEP));
        }
        let takes_cold = self.head_start.is_over(Instant::now());
        let reach = self.context.projects.reach(takes_cold).await?;
        let owned = Runs::new(&self.context.tasks).owned_queues().await?;
        let routes = self.routes(&agents).await?;
        if !routes.is_plain() && routes.agents.keys().all(|agent| routes.is_closed(agent)) {
            debug!("nothing is claimed: every agent and account is closed");
            return Ok((Vec::new(), SWEEP));
        }
        let fit = WorkerFit { owned, routes, ..reach.fit };
        let request = ClaimRequest {
            agents,
            worker: self.node.name.clone(),
            attempt_ids: (0..free).map(|_| self.context.tasks.ids.attempt()).collect(),
            lease_ms: settings.lease_ms(),
            capacity: self.scheduling.capacity(),
            intakes: self.context.limits.holds.intakes(&self.context.limits.intakes).await?,
            fit,
            actor: Actor::Baton,
        };
        let look_again = if reach.has_cold { HEAD_START } else { SWEEP };
        let claimed = self.context.tasks.store.claim(request).await?;
        debug!(claimed = claimed.len(), free, "claimed");
        if claimed.is_empty() {
            self.explain_unclaimed().await?;
            self.not_before = Instant::now() + self.node.fleet.pause(random_bits());
        }
        Ok((claimed, look_again))
    }

    /// Logs why the first ready tasks were not claimed. Costs queries, so only where the log is read.
    async fn explain_unclaimed(&self) -> Result<(), EngineError> {
        if !tracing::enabled!(Level::DEBUG) {
            return Ok(());
        }
        let ready = self.context.tasks.store.ready(EXPLAINED_MAX).await?;
        let queueing = self.scheduling.queueing(ready.iter().map(|stored| &stored.value)).await?;
        for task in ready.iter().map(|stored| &stored.value) {
            let reason = queueing.log_reason(task);
            debug!(task = %task.id(), role = %task.spec().role, reason, "ready, but not claimed");
        }
        Ok(())
    }

    /// Who takes what here. Where there is nothing to choose, holds are judged with the other limits.
    async fn routes(&self, roles: &BTreeMap<Role, AgentName>) -> Result<AgentRoutes, EngineError> {
        let mut routes = self.context.limits.routes().await?;
        routes.roles.clone_from(roles);
        if self.node.is_shared {
            let settings = &self.context.settings;
            routes
                .agents
                .retain(|agent, _| settings.agents.get(agent).is_some_and(AgentSettings::is_installed));
        }
        if routes.is_plain() {
            routes.closed.clear();
        }
        Ok(routes)
    }

    /// Who may be started here, and how many at most.
    fn room(&self, settings: &Settings) -> (BTreeMap<Role, AgentName>, u32) {
        let here = self.context.running.ids();
        let busy = self.runners.agents(&here);
        let count = |many: usize| u32::try_from(many).unwrap_or(u32::MAX);
        let mut free = settings.max_agents.saturating_sub(count(here.len()));
        let mut agents = settings.served_roles();
        if self.node.is_shared {
            // What is not installed here may be elsewhere; on a machine alone, the failure to start it tells more.
            agents.retain(|_, agent| settings.agents.get(agent).is_some_and(AgentSettings::is_installed));
            let left = |agent: &AgentName| {
                let running = count(busy.iter().filter(|running| *running == agent).count());
                settings.agents.get(agent).map_or(0, |of| of.max).saturating_sub(running)
            };
            agents.retain(|_, agent| left(agent) > 0);
            free = agents.values().map(left).fold(free, u32::min);
        }
        (agents, free)
    }
}

impl Service for Dispatcher {
    async fn run_once(&mut self) -> Result<Round, ServiceError> {
        if self.changes.has_changed().unwrap_or(false) {
            self.changes.mark_unchanged();
            self.head_start.changed(Instant::now());
        }
        let (claimed, look_again) = self.claim().instrument(debug_span!("claim")).await?;
        let items_done = claimed.len() as u64;
        for claimed in claimed {
            self.runners.start(&self.context, &self.items, claimed);
        }
        let again_at = Some(Instant::now() + look_again);
        Ok(Round { items_done, again_at, ..Round::default() }.not_before(self.not_before))
    }
}
