//! Checks before a task runs: preconditions, up-to-date state, prompts.

use crate::compile::CompiledTask;
use crate::context::{TaskRunError, TaskRunErrorKind};
use crate::output::Stream;
use crate::shell::{CancelScope, CommandError};

use super::TaskRunner;

impl TaskRunner<'_> {
    /// Fails with the message of the first precondition that does not hold.
    pub(super) fn check_preconditions(
        &self,
        compiled: &CompiledTask<'_>,
        scope: &CancelScope,
    ) -> Result<(), TaskRunError> {
        for precondition in &compiled.preconditions {
            if let Err(failure) =
                self.context.run_quietly(&precondition.sh, &compiled.dir, &compiled.env, scope)
            {
                if !matches!(failure, CommandError::Cancelled) {
                    self.context.log(&format!("task: {}", precondition.message));
                }
                return Err(TaskRunErrorKind::Precondition.into());
            }
        }
        Ok(())
    }

    /// Whether every status command succeeds and the sources are unchanged; a task with neither is never
    /// up to date.
    pub(super) fn is_up_to_date(
        &self,
        compiled: &CompiledTask<'_>,
        scope: &CancelScope,
    ) -> Result<bool, TaskRunError> {
        compiled.fingerprint_method(self.context)?;
        let status = (!compiled.status.is_empty()).then(|| self.status_holds(compiled, scope));
        let sources = compiled.sources_up_to_date(self.context)?;
        Ok(status.or(sources).is_some() && status.unwrap_or(true) && sources.unwrap_or(true))
    }

    fn status_holds(&self, compiled: &CompiledTask<'_>, scope: &CancelScope) -> bool {
        for command in &compiled.status {
            if let Err(failure) = self.context.run_quietly(command, &compiled.dir, &compiled.env, scope) {
                self.context
                    .print_verbose(&|| format!("task: status command {command} exited non-zero: {failure}"));
                return false;
            }
            self.context.print_verbose(&|| format!("task: status command {command} exited zero"));
        }
        true
    }

    /// Makes a failed task run again next time.
    pub(super) fn discard_fingerprint(&self, compiled: &CompiledTask<'_>) {
        if let Ok(method) = compiled.fingerprint_method(self.context) {
            compiled.subject(self.context, &self.context.lookup()).forget(method);
        }
    }

    /// Asks the task's prompts; anything but yes cancels the task.
    pub(super) fn prompt(&self, compiled: &CompiledTask<'_>, called: &str) -> Result<(), TaskRunError> {
        if self.context.options.dry {
            return Ok(());
        }
        for question in compiled.prompts.iter().filter(|q| !q.is_empty()) {
            if self.context.options.assume_yes {
                self.context.console.write(Stream::Out, format!("{question} [assuming yes]\n").as_bytes());
                continue;
            }
            if !self.context.options.may_ask {
                return Err(TaskRunErrorKind::NoTerminal { task: called.to_owned() }.into());
            }
            self.context.console.write(Stream::Out, format!("{question} [y/N]: ").as_bytes());
            let mut answer = String::new();
            let read = std::io::stdin().read_line(&mut answer);
            if read.is_err() || !matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") {
                return Err(TaskRunErrorKind::Refused { task: called.to_owned() }.into());
            }
        }
        Ok(())
    }
}
