//! Runs one task from its call to its end.

use crate::compile::{CompiledStep, CompiledTask, compile};
use crate::context::{TaskCall, TaskRunError, TaskRunErrorKind, lock};
use crate::shell::CancelScope;

use super::TaskRunner;
use super::command::check_cancelled;
use super::deps::STACK_BYTES;
use super::once::ExecutionSlot;
use super::requires::{check_allowed, check_set};

/// How often one task may be called in a run; bounds call cycles.
const MAX_CALLS: u32 = 1000;
/// How many nested calls share a stack; deeper ones get a new thread.
const DEPTH_PER_STACK: usize = 50;

impl<'e> TaskRunner<'e> {
    /// Runs tasks sequentially, or concurrently with `parallel`.
    pub(crate) fn run(&self, calls: &mut [TaskCall]) -> Result<(), TaskRunError> {
        for call in calls.iter_mut() {
            self.check(call)?;
        }
        if self.context.options.parallel {
            return self.run_concurrently(calls.len(), false, &self.context.scope, &|index, scope| {
                self.run_task(&mut calls[index].clone(), scope)
            });
        }
        calls.iter_mut().try_for_each(|call| self.run_task(call, &self.context.scope))
    }

    /// Checks that a call names a task that may be called directly.
    pub(crate) fn check(&self, call: &mut TaskCall) -> Result<(), TaskRunError> {
        let task = self.context.find(call)?;
        let name = call.task.clone();
        match () {
            () if task.internal => Err(TaskRunErrorKind::Internal { task: name }.into()),
            () if task.watch && !self.context.options.dry => {
                Err(TaskRunErrorKind::Watch { task: name }.into())
            }
            () => Ok(()),
        }
    }

    pub(super) fn run_task(&self, call: &mut TaskCall, scope: &CancelScope) -> Result<(), TaskRunError> {
        if call.depth % DEPTH_PER_STACK < DEPTH_PER_STACK - 1 {
            return self.run_task_here(call, scope);
        }
        // Calls may nest up to the call limit; a fresh stack prevents overflow.
        std::thread::scope(|threads| {
            let task = call.task.clone();
            let started = std::thread::Builder::new()
                .stack_size(STACK_BYTES)
                .spawn_scoped(threads, || self.run_task_here(call, scope));
            let thread = started.map_err(|source| TaskRunErrorKind::Thread { task, source })?;
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    fn run_task_here(&self, call: &mut TaskCall, scope: &CancelScope) -> Result<(), TaskRunError> {
        let task = self.context.find(call)?;
        if !self.matches_platform(&task.platforms) {
            // go-task's own line ends in a literal `\n`; people compare outputs.
            if self.context.options.verbose {
                let line = format!("task: {:?} not for current platform - ignored\\n", call.task);
                self.context.console.write(crate::output::Stream::Out, line.as_bytes());
            }
            return Ok(());
        }
        if !task.requires.is_empty() {
            // Report a missing variable before a template fails because of it.
            check_set(&compile(self.context, call, false)?)?;
        }
        let compiled = compile(self.context, call, true)?;
        if !compiled.condition.trim().is_empty()
            && self.context.run_quietly(&compiled.condition, &compiled.dir, &compiled.env, scope).is_err()
        {
            check_cancelled(scope)?;
            self.context.print_verbose(&|| format!("task: if condition not met - skipped: {:?}", call.task));
            return Ok(());
        }
        check_set(&compiled)?;
        check_allowed(&compiled)?;
        self.count_call(&task.name)?;
        let name = compiled.name().to_owned();
        self.run_or_skip(call, &compiled, scope).map_err(|error| error.in_task(&name))
    }

    fn count_call(&self, task: &str) -> Result<(), TaskRunError> {
        let mut calls = lock(&self.calls);
        let count = calls.entry(task.to_owned()).or_default();
        *count += 1;
        if *count >= MAX_CALLS {
            return Err(TaskRunErrorKind::TooManyCalls { task: task.to_owned(), limit: MAX_CALLS }.into());
        }
        Ok(())
    }

    /// Runs the task, unless it runs once and already did.
    fn run_or_skip(
        &self,
        call: &TaskCall,
        compiled: &CompiledTask<'e>,
        scope: &CancelScope,
    ) -> Result<(), TaskRunError> {
        let _done = match self.claim_execution(compiled)? {
            ExecutionSlot::Claimed(done) => done,
            ExecutionSlot::Taken { key, first } => {
                self.context.log_verbose(&|| format!("task: skipping execution of task: {key}"));
                first.wait();
                return Ok(());
            }
        };
        self.context.log_verbose(&|| format!("task: {:?} started", call.task));
        self.execute(call, compiled, scope)
    }

    /// Dependencies, checks, prompts, commands.
    fn execute(
        &self,
        call: &TaskCall,
        compiled: &CompiledTask<'e>,
        scope: &CancelScope,
    ) -> Result<(), TaskRunError> {
        self.run_deps(compiled, call.depth, scope)?;
        if !self.context.options.force {
            check_cancelled(scope)?;
            self.check_preconditions(compiled, scope)?;
            if self.is_up_to_date(compiled, scope)? {
                if self.echoes_commands(compiled, call, false) {
                    self.context.log(&format!("task: Task {:?} is up to date", compiled.name()));
                }
                return Ok(());
            }
        }
        self.prompt(compiled, &call.task)?;
        if let Err(source) = std::fs::create_dir_all(&compiled.dir) {
            self.context
                .log(&format!("task: cannot make directory \"{}\": {source}", compiled.dir.display()));
        }
        self.run_steps(call, compiled, scope)
    }

    fn run_steps(
        &self,
        call: &TaskCall,
        compiled: &CompiledTask<'e>,
        scope: &CancelScope,
    ) -> Result<(), TaskRunError> {
        let mut deferred: Vec<&CompiledStep<'_>> = Vec::new();
        let mut result = Ok(());
        for step in &compiled.steps {
            if step.command.deferred {
                deferred.push(step);
                continue;
            }
            result = self.run_step(compiled, call, step, scope);
            if let Err(error) = &result {
                self.discard_fingerprint(compiled);
                if compiled.task.ignore_error && error.command_code().is_some() {
                    self.context.log_verbose(&|| format!("task: task error ignored: {error}"));
                    result = Ok(());
                    continue;
                }
                break;
            }
        }
        let code = result.as_ref().err().and_then(TaskRunError::command_code);
        self.context.log_verbose(&|| match &result {
            Ok(()) => format!("task: {:?} finished", call.task),
            Err(error) => format!("task: {:?} failed: {error}", call.task),
        });
        self.run_deferred(compiled, call, &deferred, code, scope);
        result
    }

    /// Fails for the first task that is not up to date.
    pub(crate) fn status(&self, calls: &mut [TaskCall]) -> Result<(), TaskRunError> {
        for call in calls {
            let compiled = compile(self.context, call, true)?;
            if !self.is_up_to_date(&compiled, &self.context.scope)? {
                return Err(TaskRunErrorKind::NotUpToDate { task: compiled.name().to_owned() }.into());
            }
        }
        Ok(())
    }
}
