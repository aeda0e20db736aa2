//! Runs tasks concurrently.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::compile::CompiledTask;
use crate::context::{TaskCall, TaskRunError, TaskRunErrorKind, lock};
use crate::shell::{CancelScope, CancelToken};

use super::TaskRunner;

/// How many dependencies of one task run concurrently; the others wait.
const MAX_CONCURRENT: usize = 64;
/// The stack size of a thread, enough for `DEPTH_PER_STACK` nested calls. It is only reserved.
pub(crate) const STACK_BYTES: usize = 8 * 1024 * 1024;

impl TaskRunner<'_> {
    /// Runs a task's dependencies concurrently and waits for all; returns the first failure.
    pub(super) fn run_deps(
        &self,
        compiled: &CompiledTask<'_>,
        depth: usize,
        scope: &CancelScope,
    ) -> Result<(), TaskRunError> {
        let jobs = &compiled.deps;
        self.run_concurrently(jobs.len(), compiled.task.failfast, scope, &|index, scope| {
            let dep = &jobs[index];
            if !dep.condition.trim().is_empty()
                && self.context.run_quietly(&dep.condition, &compiled.dir, &compiled.env, scope).is_err()
            {
                self.context
                    .print_verbose(&|| format!("task: if condition not met - skipped: {:?}", dep.task));
                return Ok(());
            }
            let mut call = TaskCall {
                task: dep.task.clone(),
                vars: dep.vars.clone(),
                silent: dep.silent,
                depth: depth + 1,
            };
            match dep.timeout {
                None => self.run_task(&mut call, scope),
                Some(limit) => super::command::run_with_timeout(scope, limit, &dep.task, |scope| {
                    self.run_task(&mut call, scope)
                }),
            }
        })
    }

    /// Runs jobs concurrently and returns the first failure, which with `failfast` cancels the others.
    pub(super) fn run_concurrently(
        &self,
        jobs: usize,
        failfast: bool,
        scope: &CancelScope,
        job: &(dyn Fn(usize, &CancelScope) -> Result<(), TaskRunError> + Sync),
    ) -> Result<(), TaskRunError> {
        if jobs <= 1 {
            return if jobs == 1 { job(0, scope) } else { Ok(()) };
        }
        let failfast = failfast || self.context.options.failfast;
        let switch = if failfast { CancelToken::new().ok() } else { None };
        let scope = match &switch {
            Some(switch) => scope.clone().with_token(switch.clone()),
            None => scope.clone(),
        };
        let next = AtomicUsize::new(0);
        let first: Mutex<Option<TaskRunError>> = Mutex::new(None);
        let work = || {
            loop {
                let turn = next.fetch_add(1, Ordering::SeqCst);
                if turn >= jobs {
                    return;
                }
                // Start with the last one: go-task's scheduler mostly does, and people compare outputs.
                let index = if turn == 0 { jobs - 1 } else { turn - 1 };
                if let Err(error) = job(index, &scope) {
                    lock(&first).get_or_insert(error);
                    if let Some(switch) = &switch {
                        switch.cancel();
                    }
                }
            }
        };
        std::thread::scope(|threads| -> Result<(), TaskRunError> {
            for _ in 0..jobs.min(MAX_CONCURRENT) {
                let started = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(threads, work);
                started
                    .map_err(|source| TaskRunErrorKind::Thread { task: "a dependency".to_owned(), source })?;
            }
            Ok(())
        })?;
        let first = lock(&first).take();
        first.map_or(Ok(()), Err)
    }
}
