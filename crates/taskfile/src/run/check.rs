//! Whether a task may run and whether it has to.

use crate::compile::Compiled;
use crate::fingerprint::Method;
use crate::shell::{Failure, Scope, Stream};

use super::engine::Engine;
use super::error::{Cause, RunError};

impl Engine<'_> {
    /// Every precondition must hold; the first that does not says why.
    pub(super) fn check_preconditions(&self, compiled: &Compiled<'_>, scope: &Scope) -> Result<(), RunError> {
        for precondition in &compiled.preconditions {
            if let Err(failure) = self.run_quietly(&precondition.sh, &compiled.dir, &compiled.env, scope) {
                if !matches!(failure, Failure::Cancelled) {
                    self.say(&format!("task: {}", precondition.message));
                }
                return Err(Cause::Precondition.into());
            }
        }
        Ok(())
    }

    /// Up to date when every status command succeeds and the sources are as they were; a task with
    /// neither never is.
    pub(crate) fn is_up_to_date(&self, compiled: &Compiled<'_>, scope: &Scope) -> Result<bool, RunError> {
        let method = self.method(compiled)?;
        let mut verdicts = Vec::new();
        if !compiled.status.is_empty() {
            verdicts.push(self.status_holds(compiled, scope));
        }
        if !compiled.sources.is_empty() {
            let lookup = self.lookup();
            verdicts.push(self.subject(compiled, &lookup).is_up_to_date(method)?);
        }
        Ok(!verdicts.is_empty() && verdicts.iter().all(|v| *v))
    }

    fn method(&self, compiled: &Compiled<'_>) -> Result<Method, RunError> {
        let named = [&compiled.method, &self.file.method].into_iter().find(|m| !m.is_empty());
        Ok(Method::parse(named.map_or("checksum", String::as_str))?)
    }

    fn status_holds(&self, compiled: &Compiled<'_>, scope: &Scope) -> bool {
        for command in &compiled.status {
            if let Err(failure) = self.run_quietly(command, &compiled.dir, &compiled.env, scope) {
                self.tell_verbose(&|| format!("task: status command {command} exited non-zero: {failure}"));
                return false;
            }
            self.tell_verbose(&|| format!("task: status command {command} exited zero"));
        }
        true
    }

    /// A task that failed has to run again.
    pub(super) fn forget(&self, compiled: &Compiled<'_>) {
        let lookup = self.lookup();
        if let Ok(method) = self.method(compiled) {
            self.subject(compiled, &lookup).forget(method);
        }
    }

    /// Asks the task's questions; anything but a yes ends the task.
    pub(super) fn ask(&self, compiled: &Compiled<'_>, called: &str) -> Result<(), RunError> {
        if self.options.dry {
            return Ok(());
        }
        for question in compiled.prompts.iter().filter(|q| !q.is_empty()) {
            if self.options.assume_yes {
                self.console.write(Stream::Out, format!("{question} [assuming yes]\n").as_bytes());
                continue;
            }
            if !self.options.may_ask {
                return Err(Cause::NoTerminal { task: called.to_owned() }.into());
            }
            self.console.write(Stream::Out, format!("{question} [y/N]: ").as_bytes());
            let mut answer = String::new();
            let read = std::io::stdin().read_line(&mut answer);
            if read.is_err() || !matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") {
                return Err(Cause::Refused { task: called.to_owned() }.into());
            }
        }
        Ok(())
    }
}
