//! The attempts this process runs: each in a task of its own, whatever becomes of the dispatcher that started it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use baton_core::base::id::AttemptId;
use baton_core::base::text::AgentName;
use baton_store::model::claim::ClaimedTask;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::sleep;
use tracing::field::Empty;
use tracing::{Instrument, Span, info_span};

use crate::attempt::context::AttemptContext;
use crate::attempt::runner::Runner;
use crate::base::supervisor::{Item, ItemKind, Items};
use crate::cluster::running::Running;

/// Cheap to clone. With the last clone, what still runs is aborted.
#[derive(Clone, Default)]
pub struct Runners(Arc<Mutex<Started>>);

#[derive(Default)]
struct Started {
    tasks: JoinSet<()>,
    /// By whose account each attempt runs.
    agents: BTreeMap<AttemptId, AgentName>,
}

impl Runners {
    /// Runs a claimed task to its end. If the runner itself fails, its task says so and is taken back with its lease.
    pub fn start(&self, context: &AttemptContext, items: &Items, claimed: ClaimedTask) {
        let attempt = claimed.lease.attempt;
        let running = context.running.enter(attempt);
        let items = items.clone();
        let runner = Runner::new(context.clone());
        let span = attempt_span(&claimed);
        let mut started = self.started();
        started.agents.insert(attempt, claimed.lease.agent.clone());
        while started.tasks.try_join_next().is_some() {}
        let run = async move {
            let item = Item::new(ItemKind::Attempt, &attempt).for_task(claimed.lease.task);
            if let Err(error) = Items::isolate(&item, runner.run(claimed, running)).await {
                if let Err(unwritten) = items.failed(&item, &error).await {
                    tracing::error!(%attempt, %error, %unwritten, "the failure of a runner could not be recorded");
                }
                items.forget(&item);
            }
        };
        started.tasks.spawn(run.instrument(span));
    }

    /// Whose accounts the attempts in `here` run by.
    pub fn agents(&self, here: &[AttemptId]) -> Vec<AgentName> {
        let mut started = self.started();
        started.agents.retain(|attempt, _| here.contains(attempt));
        started.agents.values().cloned().collect()
    }

    /// Waits until everything has ended. What runs longer than the node's grace, or once `hurry` turns true, is stopped and
    /// goes back to the queue.
    pub async fn drain(&self, running: &Running, grace: Duration, mut hurry: watch::Receiver<bool>) {
        let mut tasks = std::mem::take(&mut self.started().tasks);
        tokio::select! {
            () = finish(&mut tasks) => return,
            () = sleep(grace) => {}
            _ = hurry.wait_for(|hurry| *hurry) => {}
        }
        running.stop_all();
        finish(&mut tasks).await;
    }

    fn started(&self) -> MutexGuard<'_, Started> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The span of an attempt. It belongs to the trace of its task, whose root is sent with the first attempt.
fn attempt_span(claimed: &ClaimedTask) -> Span {
    let (spec, lease) = (claimed.task.value.spec(), &claimed.lease);
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
        attempt = %lease.attempt,
        number,
        agent = %lease.agent,
        role = %spec.role,
        project = spec.project_id.map(tracing::field::display),
        outcome = Empty,
    )
}

async fn finish(tasks: &mut JoinSet<()>) {
    while tasks.join_next().await.is_some() {}
}
