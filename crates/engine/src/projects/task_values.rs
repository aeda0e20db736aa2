//! Which values of the machine a project's work has, and when they are free again.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use baton_core::base::id::TaskId;
use baton_core::task::state::QueueName;

use crate::base::error::EngineError;
use crate::projects::Projects;
use crate::projects::leased_values::{LeasedValues, ValueOwner, Values};
use crate::settings::ValueWish;

/// Numbers the runs of the checks of this process.
static RUNS: AtomicU64 = AtomicU64::new(0);

/// The values of one run of the checks; dropped, they are free.
pub(crate) struct CheckValues {
    pub values: Values,
    owner: ValueOwner,
    leased: LeasedValues,
}

impl Drop for CheckValues {
    fn drop(&mut self) {
        if self.values.is_empty() {
            return;
        }
        // What stays is free once this process has ended.
        if let Err(error) = self.leased.release(&self.owner) {
            tracing::warn!(%error, "cannot release the values of a run of the checks");
        }
    }
}

impl Projects {
    /// For checks of accepted work, which may be of several tasks.
    pub(crate) fn lease_for_checks(
        &self,
        wishes: &BTreeMap<String, ValueWish>,
    ) -> Result<CheckValues, EngineError> {
        let number = RUNS.fetch_add(1, Ordering::Relaxed);
        let owner = ValueOwner::Checks { process: std::process::id(), number };
        let values = self.values.lease(&owner, wishes)?;
        Ok(CheckValues { values, owner, leased: self.values.clone() })
    }

    /// Frees what a task has, if the task is over.
    pub(crate) async fn release_values(&self, task: TaskId) -> Result<(), EngineError> {
        let queue = self.tasks.task(task).await?.value.state().queue();
        if is_over(queue) { self.values.release(&ValueOwner::Task(task)) } else { Ok(()) }
    }

    /// Frees what tasks have that ended while nobody looked.
    pub(crate) async fn release_finished(&self) -> Result<(), EngineError> {
        for task in self.values.tasks()? {
            match self.tasks.store.task(task).await? {
                Some(stored) if !is_over(stored.value.state().queue()) => {}
                Some(_) | None => self.values.release(&ValueOwner::Task(task))?,
            }
        }
        Ok(())
    }
}

/// A failed task is not over, because it can be retried.
const fn is_over(queue: QueueName) -> bool {
    matches!(queue, QueueName::Done | QueueName::Rejected | QueueName::Recycled)
}
