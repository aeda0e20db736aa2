//! How much memory the processes of an attempt may use before they are ended and a person is asked.
//!
//! They are stopped first, so that they take no more while they are measured, and then killed, because a stopped process
//! keeps what it has. The work so far is kept, and the agent goes on in its session if the person says so.

use std::convert::Infallible;
use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use baton_agents::process::memory::TreeMemory;
use baton_agents::process::tree::ProcessTree;
use baton_core::base::id::{AttemptId, TaskId};
use baton_core::limits::budget::{BudgetGrant, BudgetMeasure, BudgetReached, BudgetScope};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use crate::attempt::agent_run::PROCESS_FILE;
use crate::attempt::context::AttemptContext;
use crate::attempt::services::SERVICES_FILE;
use crate::base::error::Result;
use crate::limits::machine;

/// Memory is not filled faster than this, so nothing is missed by looking only when the limit could be reached.
const BYTES_PER_SECOND: u64 = 4 << 30;
const PERIOD_MIN: Duration = Duration::from_millis(250);
const PERIOD_MAX: Duration = Duration::from_secs(2);
/// A look that takes long is taken less often.
const PART_MAX: u32 = 20;
const MIB: u64 = 1 << 20;

/// How many bytes the processes of the task's attempt may use, with what a person has granted. None is not limited.
pub(super) async fn allowed(context: &AttemptContext, task: TaskId) -> Result<Option<u64>> {
    let Some(once) = context.settings.room.attempt_memory_bytes(machine::memory_mb()) else {
        return Ok(None);
    };
    let granted = BudgetGrant::new(&context.tasks.questions_of(task).await?);
    Ok(Some(once.saturating_mul(granted.times.saturating_add(1))))
}

/// Watches the memory of one attempt: its agent, the user tasks it runs, and the services beside it.
pub(super) struct MemoryQuota<'a> {
    context: &'a AttemptContext,
    attempt: AttemptId,
    folder: PathBuf,
    /// None where nothing is limited.
    bytes_max: Option<u64>,
    found: Mutex<Option<BudgetReached>>,
}

impl<'a> MemoryQuota<'a> {
    pub(super) fn new(context: &'a AttemptContext, attempt: AttemptId, bytes_max: Option<u64>) -> Self {
        let folder = context.place.attempt_folder(attempt);
        Self { context, attempt, folder, bytes_max, found: Mutex::new(None) }
    }

    /// Kills the attempt's processes when they use too much. Never comes back; what it found is kept for
    /// [`MemoryQuota::found`].
    pub(super) async fn watch(&self, quit: &watch::Sender<bool>) -> Infallible {
        if let Some(bytes_max) = self.bytes_max {
            let found = self.wait_for_excess(bytes_max).await;
            let tree = self.tree();
            // First: the run may end as soon as its process does, and this with it.
            *self.found.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
            if let Err(leftover) = tree.kill().await {
                (self.context.announce)(&format!("{}: {leftover}", self.attempt));
            }
            let _ = quit.send(true);
        }
        std::future::pending().await
    }

    /// What was found.
    pub(super) fn found(self) -> Option<BudgetReached> {
        self.found.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    async fn wait_for_excess(&self, allowed: u64) -> BudgetReached {
        loop {
            let (started, tree) = (Instant::now(), self.tree());
            let used = tree.memory(allowed).await;
            if used.bytes > allowed
                && let Some(used) = self.stop_and_measure(&tree, allowed).await
            {
                return self.reached(&used, allowed);
            }
            let rest = (started.elapsed() * PART_MAX).min(PERIOD_MAX);
            sleep(period(allowed.saturating_sub(used.bytes)).max(rest)).await;
        }
    }

    /// What the processes use now that they are stopped. None if it is not too much after all; then they go on.
    async fn stop_and_measure(&self, tree: &ProcessTree, allowed: u64) -> Option<TreeMemory> {
        tree.pause().await;
        let used = tree.memory(allowed).await;
        if used.bytes > allowed {
            return Some(used);
        }
        if !self.context.running.is_paused(self.attempt) {
            tree.resume().await;
        }
        None
    }

    fn reached(&self, used: &TreeMemory, allowed: u64) -> BudgetReached {
        let (used_mb, allowed_mb) = (used.bytes.div_ceil(MIB), allowed / MIB);
        let largest = used.largest.as_deref().unwrap_or("a process of it");
        (self.context.announce)(&format!(
            "{}: its processes used {used_mb} MB of memory, most of it {largest}, and are ended; {allowed_mb} MB are allowed",
            self.attempt
        ));
        let (scope, measure) = (BudgetScope::Task, BudgetMeasure::Memory);
        BudgetReached { scope, measure, used: used_mb, allowed: allowed_mb }
    }

    /// The agent's processes and those of its services, as far as they have started.
    fn tree(&self) -> ProcessTree {
        let read = |name: &str| fs::read_to_string(self.folder.join(name)).unwrap_or_default();
        let agent = serde_json::from_str(&read(PROCESS_FILE)).ok();
        let services = read(SERVICES_FILE);
        let services = services.lines().filter_map(|line| Some((line.parse().ok()?, None)));
        ProcessTree::of_attempts(std::iter::once((self.attempt, agent)).chain(services))
    }
}

/// The time until `left` more bytes could be used.
fn period(left: u64) -> Duration {
    Duration::from_millis(left.saturating_mul(1_000) / BYTES_PER_SECOND).clamp(PERIOD_MIN, PERIOD_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_looks_more_often_the_less_is_left() {
        let seconds = |left: u64| period(left).as_millis();
        assert_eq!((seconds(0), seconds(4 << 30), seconds(u64::MAX)), (250, 1_000, 2_000));
    }
}
