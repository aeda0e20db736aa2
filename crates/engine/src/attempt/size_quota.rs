//! How large a worktree may become, and how much an agent may print, before the agent is stopped and a person is asked.

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use baton_agents::output::log::PrintedBytes;
use baton_core::base::id::TaskId;
use baton_core::limits::budget::{BudgetGrant, BudgetMeasure, BudgetReached, BudgetScope};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use crate::base::error::{EngineError, Result};
use crate::git::folder_bytes;
use crate::tasks::service::TaskService;

/// Between two looks.
const PERIOD: Duration = Duration::from_secs(5);
/// A look that takes long is taken less often: of all time, this part is spent on it at most.
const PART_MAX: u32 = 20;
const MIB: u64 = 1 << 20;

/// Watches the size of one thing.
pub(super) struct SizeQuota {
    watched: WatchedSize,
    /// None where nothing is limited.
    bytes_max: Option<u64>,
    found: Mutex<Result<Option<BudgetReached>>>,
}

enum WatchedSize {
    Worktree(PathBuf),
    Printed(PrintedBytes),
}

impl SizeQuota {
    pub(super) fn of_worktree(folder: PathBuf, max_mb: u64) -> Self {
        Self::new(WatchedSize::Worktree(folder), max_mb)
    }

    pub(super) fn of_log(printed: PrintedBytes, max_mb: u64) -> Self {
        Self::new(WatchedSize::Printed(printed), max_mb)
    }

    fn new(watched: WatchedSize, max_mb: u64) -> Self {
        let bytes_max = (max_mb > 0).then(|| max_mb.saturating_mul(MIB));
        Self { watched, bytes_max, found: Mutex::new(Ok(None)) }
    }

    /// Its size by now; counted no further than `enough`.
    async fn bytes(&self, enough: u64) -> u64 {
        match &self.watched {
            WatchedSize::Worktree(folder) => folder_bytes(folder, enough).await,
            WatchedSize::Printed(printed) => printed.get(),
        }
    }

    const fn measure(&self) -> BudgetMeasure {
        match &self.watched {
            WatchedSize::Worktree(_) => BudgetMeasure::Disk,
            WatchedSize::Printed(_) => BudgetMeasure::Log,
        }
    }

    /// Stops the run when there is too much of it. Never comes back; what it found is kept for [`SizeQuota::found`].
    pub(super) async fn watch(
        &self,
        tasks: &TaskService,
        task: TaskId,
        quit: &watch::Sender<bool>,
    ) -> Infallible {
        if let Some(bytes_max) = self.bytes_max {
            let found = self.wait_for_excess(tasks, task, bytes_max).await;
            *self.found.lock().unwrap_or_else(PoisonError::into_inner) = found.map(Some);
            let _ = quit.send(true);
        }
        std::future::pending().await
    }

    /// What was found, or what went wrong meanwhile.
    pub(super) fn found(self) -> Result<Option<BudgetReached>> {
        self.found.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    async fn wait_for_excess(
        &self,
        tasks: &TaskService,
        task: TaskId,
        bytes_max: u64,
    ) -> Result<BudgetReached, EngineError> {
        loop {
            let started = Instant::now();
            if self.bytes(bytes_max).await > bytes_max {
                // What a person has granted counts.
                let times = BudgetGrant::new(&tasks.questions_of(task).await?).times;
                let bytes_max = bytes_max.saturating_mul(times.saturating_add(1));
                let bytes = self.bytes(bytes_max.saturating_mul(2)).await;
                if bytes > bytes_max {
                    let (scope, measure) = (BudgetScope::Task, self.measure());
                    let (used, allowed) = (bytes.div_ceil(MIB), bytes_max / MIB);
                    return Ok(BudgetReached { scope, measure, used, allowed });
                }
            }
            sleep(PERIOD.max(started.elapsed() * PART_MAX)).await;
        }
    }
}
