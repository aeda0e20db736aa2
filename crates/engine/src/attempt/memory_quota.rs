//! How much memory the processes of an attempt may use before they are ended and a person is asked.
//!
//! They are stopped first, so that they take no more while they are measured, and then killed, because a stopped process
//! keeps what it has. The work so far is kept, and the agent goes on in its session if the person says so.

use std::convert::Infallible;
use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use baton_agents::process::memory_limit::{MemoryExcess, wait_for_excess};
use baton_agents::process::tree::ProcessTree;
use baton_core::base::id::{AttemptId, TaskId};
use baton_core::limits::budget::{BudgetGrant, BudgetMeasure, BudgetReached, BudgetScope};
use tokio::sync::watch;

use crate::attempt::agent_run::PROCESS_FILE;
use crate::attempt::context::AttemptContext;
use crate::attempt::services::SERVICES_FILE;
use crate::base::error::Result;
use crate::limits::machine;

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
            let may_go_on = || !self.context.running.is_paused(self.attempt);
            let found = self.reached(wait_for_excess(bytes_max, || self.tree(), may_go_on).await);
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

    fn reached(&self, excess: MemoryExcess) -> BudgetReached {
        let MemoryExcess { used_mb, allowed_mb, largest } = excess;
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
