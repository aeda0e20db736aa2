//! The dispatcher: claims ready work and sets runners on it. A change wakes it; it does not poll.

use std::collections::BTreeMap;
use std::time::Duration;

use baton_core::actor::Actor;
use baton_core::id::AttemptId;
use baton_core::text::{AgentName, Role};
use baton_store::claim::{ClaimRequest, Claimed};
use baton_store::lease::Lease;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};
use tracing::field::Empty;
use tracing::{Instrument, Level, debug, debug_span, info_span};

use crate::error::EngineError;
use crate::head_start::{HEAD_START, HeadStart};
use crate::ids::random_bits;
use crate::runner::Runner;
use crate::settings::{AgentSettings, Settings};
use crate::workshop::Workshop;

/// The safety net under the wake-ups: nothing waits longer than this because one was missed.
const SWEEP: Duration = Duration::from_secs(5);
/// A claim that is under way when the end is called has this long to come back. What it brings after that is nobody's,
/// until its lease runs out.
const LAST_CLAIM: Duration = Duration::from_secs(2);

/// How many unclaimed tasks the log explains at a time.
const EXPLAINED_MAX: u32 = 20;

pub struct Dispatcher {
    shop: Workshop,
    /// What runs here, by whose account it does.
    agents: BTreeMap<AttemptId, AgentName>,
    /// Of others, for work on projects that are not at hand here.
    head_start: HeadStart,
    /// When to ask again at the earliest, after asking in vain.
    not_before: Instant,
}

type Runners = JoinSet<Result<(), EngineError>>;

impl Dispatcher {
    pub fn new(shop: Workshop) -> Self {
        let now = Instant::now();
        Self { shop, agents: BTreeMap::new(), head_start: HeadStart::new(now), not_before: now }
    }

    /// Runs until `shutdown` turns true. What runs here then has the time of its post to finish; what is left after that,
    /// or once `hurry` turns true, is ended and goes back to the queue.
    pub async fn run(
        &mut self,
        mut shutdown: watch::Receiver<bool>,
        mut hurry: watch::Receiver<bool>,
    ) -> Result<(), EngineError> {
        let mut changes = self.shop.desk.store.subscribe();
        let mut ends = self.shop.running.ends();
        let mut runners: Runners = JoinSet::new();
        while !*shutdown.borrow() {
            // What changes from here on wakes the wait below, so nothing falls between looking and waiting.
            changes.mark_unchanged();
            ends.mark_unchanged();
            let (claimed, look_again) = self.claim_unless_over(&mut shutdown).await?;
            for claimed in claimed {
                self.start(claimed, &mut runners);
            }
            tokio::select! {
                _ = changes.changed() => self.head_start.changed(Instant::now()),
                _ = ends.changed() => {}
                () = sleep(look_again) => {}
                _ = shutdown.changed() => {}
            }
            tokio::select! {
                () = sleep_until(self.not_before) => {}
                _ = shutdown.changed() => {}
            }
            while let Some(ended) = runners.try_join_next() {
                ended.map_err(|error| EngineError::Runner { detail: error.to_string() })??;
            }
        }
        tokio::select! {
            finished = finish(&mut runners) => return finished,
            () = sleep(self.shop.post.grace) => {}
            _ = hurry.wait_for(|hurry| *hurry) => {}
        }
        self.shop.running.stop_all();
        finish(&mut runners).await
    }

    /// A server that cannot be reached must not keep the end from coming.
    async fn claim_unless_over(
        &mut self,
        shutdown: &mut watch::Receiver<bool>,
    ) -> Result<(Vec<Claimed>, Duration), EngineError> {
        let mut over = shutdown.clone();
        let is_over = async {
            // An error means that whoever could have said so is gone, which is as good.
            let _ = over.wait_for(|over| *over).await;
            sleep(LAST_CLAIM).await;
        };
        tokio::select! {
            claimed = self.claim().instrument(debug_span!("claim")) => claimed,
            () = is_over => Ok((Vec::new(), Duration::ZERO)),
        }
    }

    fn start(&mut self, claimed: Claimed, runners: &mut Runners) {
        let Lease { attempt, agent, .. } = &claimed.lease;
        self.agents.insert(*attempt, agent.clone());
        let seat = self.shop.running.enter(*attempt);
        let runner = Runner::new(self.shop.clone());
        let span = attempt_span(&claimed);
        runners.spawn(async move { runner.run(claimed, seat).await }.instrument(span));
    }

    /// As much as may run, and when to look again at the latest.
    async fn claim(&mut self) -> Result<(Vec<Claimed>, Duration), EngineError> {
        let settings = self.shop.settings.clone();
        let (agents, free) = self.room(&settings);
        if free == 0 || agents.is_empty() {
            let running = self.agents.len();
            debug!(running, max = settings.max_agents, roles = agents.len(), "no room: nothing is claimed");
            return Ok((Vec::new(), SWEEP));
        }
        let takes_cold = self.head_start.is_over(Instant::now());
        let reach = self.shop.reach(takes_cold).await?;
        let request = ClaimRequest {
            agents,
            worker: self.shop.worker.clone(),
            attempt_ids: (0..free).map(|_| self.shop.desk.ids.attempt()).collect(),
            lease_ms: settings.lease_ms(),
            capacity: self.shop.capacity(),
            intakes: self.shop.desk.held_intakes(&self.shop.intakes).await?,
            fit: reach.fit,
            actor: Actor::Baton,
        };
        let look_again = if reach.has_cold { HEAD_START } else { SWEEP };
        let claimed = self.shop.desk.store.claim(request).await?;
        debug!(claimed = claimed.len(), free, "claimed");
        if claimed.is_empty() {
            self.explain_unclaimed().await?;
            self.not_before = Instant::now() + self.shop.fleet.pause(random_bits());
        }
        Ok((claimed, look_again))
    }

    /// Logs why the first ready tasks were not claimed. Costs queries, so only for whoever reads the log.
    async fn explain_unclaimed(&self) -> Result<(), EngineError> {
        if !tracing::enabled!(Level::DEBUG) {
            return Ok(());
        }
        let ready = self.shop.desk.store.ready(EXPLAINED_MAX).await?;
        let queueing = self.shop.queueing(ready.iter().map(|stored| &stored.value)).await?;
        for task in ready.iter().map(|stored| &stored.value) {
            let reason = queueing.log_reason(task);
            debug!(task = %task.id(), role = %task.spec().role, reason, "ready, but not claimed");
        }
        Ok(())
    }

    /// Who may be started here, and how many at most.
    fn room(&mut self, settings: &Settings) -> (BTreeMap<Role, AgentName>, u32) {
        let here = self.shop.running.ids();
        self.agents.retain(|attempt, _| here.contains(attempt));
        let count = |many: usize| u32::try_from(many).unwrap_or(u32::MAX);
        let mut free = settings.max_agents.saturating_sub(count(here.len()));
        let mut agents = served_roles(settings);
        if self.shop.place.store.is_shared() {
            // What is not installed here may be elsewhere; on a machine alone, the failure to start it tells more.
            agents.retain(|_, agent| settings.agents.get(agent).is_some_and(AgentSettings::is_found));
            let left = |agent: &AgentName| {
                let running = count(self.agents.values().filter(|running| *running == agent).count());
                settings.agents.get(agent).map_or(0, |of| of.max).saturating_sub(running)
            };
            agents.retain(|_, agent| left(agent) > 0);
            free = agents.values().map(left).fold(free, u32::min);
        }
        (agents, free)
    }
}

/// The span of an attempt. It belongs to the trace of its task, whose root is sent with the first attempt.
fn attempt_span(claimed: &Claimed) -> tracing::Span {
    let (spec, Lease { attempt, agent, .. }) = (claimed.task.value.spec(), &claimed.lease);
    let number = claimed.task.value.ledger().started;
    if number <= 1 {
        let created_unix_ms = spec.created_at.ms();
        // Ends at once: it covers the time from the task's creation to its first claim.
        info_span!(parent: None, "task", task = %spec.id, role = %spec.role, created_unix_ms);
    }
    info_span!(
        parent: None,
        "attempt",
        task = %spec.id,
        %attempt,
        number,
        %agent,
        role = %spec.role,
        project = spec.project_id.map(tracing::field::display),
        outcome = Empty,
    )
}

async fn finish(runners: &mut Runners) -> Result<(), EngineError> {
    while let Some(ended) = runners.join_next().await {
        ended.map_err(|error| EngineError::Runner { detail: error.to_string() })??;
    }
    Ok(())
}

/// The roles somebody is set up for, and who.
pub fn served_roles(settings: &Settings) -> BTreeMap<Role, AgentName> {
    let own = [Role::implement(), Role::breakdown()].into_iter().chain(Role::of_loop());
    let roles = settings.roles.keys().cloned().chain(own);
    roles
        .filter(|role| settings.only_roles.is_empty() || settings.only_roles.contains(role))
        .filter_map(|role| settings.agent_for(&role).map(|(name, _)| (role.clone(), name.clone())))
        .collect()
}
