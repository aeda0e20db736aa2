//! Tasks that run once per run, or once per set of variables.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::compile::CompiledTask;
use crate::context::{TaskRunError, TaskRunErrorKind, lock};

use super::TaskRunner;

/// Started executions, by key.
#[derive(Default)]
pub(super) struct Executions {
    started: Mutex<HashMap<String, Arc<Execution>>>,
}

/// One execution others may wait for.
#[derive(Default)]
pub(super) struct Execution {
    done: Mutex<bool>,
    changed: Condvar,
}

/// Whether a task runs or waits for an earlier execution.
pub(super) enum ExecutionSlot {
    /// First to run; the guard reports completion.
    Claimed(Option<ExecutionGuard>),
    /// Already running or done.
    Taken { key: String, first: Arc<Execution> },
}

/// Wakes the waiting tasks when dropped.
pub(super) struct ExecutionGuard(Arc<Execution>);

impl Drop for ExecutionGuard {
    fn drop(&mut self) {
        *self.0.done.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.changed.notify_all();
    }
}

impl Execution {
    pub(super) fn wait(&self) {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        while !*done {
            done = self.changed.wait(done).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl TaskRunner<'_> {
    pub(super) fn claim_execution(&self, compiled: &CompiledTask<'_>) -> Result<ExecutionSlot, TaskRunError> {
        let Some(key) = self.execution_key(compiled)? else { return Ok(ExecutionSlot::Claimed(None)) };
        let mut started = lock(&self.executions.started);
        if let Some(first) = started.get(&key) {
            return Ok(ExecutionSlot::Taken { key, first: Arc::clone(first) });
        }
        let execution = Arc::new(Execution::default());
        started.insert(key, Arc::clone(&execution));
        Ok(ExecutionSlot::Claimed(Some(ExecutionGuard(execution))))
    }

    fn execution_key(&self, compiled: &CompiledTask<'_>) -> Result<Option<String>, TaskRunError> {
        let run = [compiled.run.as_str(), self.context.file.run.as_str(), "always"]
            .into_iter()
            .find(|r| !r.is_empty())
            .unwrap_or("always");
        let task = compiled.task;
        let local = compiled.full_name.strip_prefix(&task.namespace).unwrap_or(&compiled.full_name);
        let name = format!("{}:{}", task.location.taskfile, local.strip_prefix(':').unwrap_or(local));
        match run {
            "always" => Ok(None),
            "once" => Ok(Some(name)),
            "when_changed" => {
                let sum = xxhash_rust::xxh3::xxh3_64(
                    format!("{:?}{:?}", compiled.variables.values, compiled.env).as_bytes(),
                );
                Ok(Some(format!("{name}:{sum}")))
            }
            other => Err(TaskRunErrorKind::InvalidRun { run: other.to_owned() }.into()),
        }
    }
}
