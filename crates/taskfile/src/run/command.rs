//! Runs one step of a task: a command or a call of another task.

use std::time::Duration;

use crate::ast::Action;
use crate::compile::{CompiledStep, CompiledTask, render_action};
use crate::context::{TaskCall, TaskRunError, TaskRunErrorKind, VarRenderer};
use crate::go::Value;
use crate::output::{CommandOutput, GroupedOutput, OutputMode, PrefixedOutput};
use crate::shell::{CancelScope, reveal};
use crate::template::Host;

use super::TaskRunner;

/// The time limit for deferred commands after the run was cancelled.
const DEFERRED_LIMIT: Duration = Duration::from_secs(10);

impl TaskRunner<'_> {
    pub(super) fn run_step(
        &self,
        compiled: &CompiledTask<'_>,
        call: &TaskCall,
        step: &CompiledStep<'_>,
        scope: &CancelScope,
    ) -> Result<(), TaskRunError> {
        match step.command.timeout {
            None => self.run_step_now(compiled, call, step, scope),
            Some(limit) => run_with_timeout(scope, limit, compiled.name(), |scope| {
                self.run_step_now(compiled, call, step, scope)
            }),
        }
    }

    fn run_step_now(
        &self,
        compiled: &CompiledTask<'_>,
        call: &TaskCall,
        step: &CompiledStep<'_>,
        scope: &CancelScope,
    ) -> Result<(), TaskRunError> {
        if !step.condition.trim().is_empty() {
            let held = self.context.run_quietly(&step.condition, &compiled.dir, &compiled.env, scope);
            check_cancelled(scope)?;
            if held.is_err() {
                self.context
                    .print_verbose(&|| format!("task: [{}] if condition not met - skipped", compiled.name()));
                return Ok(());
            }
        }
        match &step.action {
            Action::Call { task, vars } if !task.is_empty() => {
                let mut inner = TaskCall {
                    task: task.clone(),
                    vars: vars.clone(),
                    silent: step.command.silent,
                    depth: call.depth + 1,
                };
                let result = self.run_task(&mut inner, scope);
                self.ignore_error(result, step, |error| {
                    format!("task: [{}] task error ignored: {error}", compiled.name())
                })
            }
            Action::Shell(text) if !text.is_empty() => {
                let result = self.run_shell(compiled, call, step, text, scope);
                self.ignore_error(result, step, |error| {
                    format!("task: [{}] command error ignored: {error}", compiled.name())
                })
            }
            _ => Ok(()),
        }
    }

    fn ignore_error(
        &self,
        result: Result<(), TaskRunError>,
        step: &CompiledStep<'_>,
        words: impl Fn(&TaskRunError) -> String,
    ) -> Result<(), TaskRunError> {
        match result {
            Err(error) if step.command.ignore_error && error.command_code().is_some() => {
                self.context.log_verbose(&|| words(&error));
                Ok(())
            }
            other => other,
        }
    }

    fn run_shell(
        &self,
        compiled: &CompiledTask<'_>,
        call: &TaskCall,
        step: &CompiledStep<'_>,
        text: &str,
        scope: &CancelScope,
    ) -> Result<(), TaskRunError> {
        let command = step.command;
        let shown = reveal(step.shown.as_deref().unwrap_or(text));
        if !self.matches_platform(&command.platforms) {
            self.context.print_verbose(&|| {
                format!("task: [{}] {shown} not for current platform - ignored", compiled.name())
            });
            return Ok(());
        }
        if self.echoes_commands(compiled, call, command.silent) {
            self.context.log(&format!("task: [{}] {shown}", compiled.name()));
        }
        if self.context.options.dry {
            return Ok(());
        }
        let set = merge_options(&[&self.context.file.set, &compiled.task.set, &command.set]);
        let shopt = merge_options(&[&self.context.file.shopt, &compiled.task.shopt, &command.shopt]);
        let mut request = self.context.command_request(text, &compiled.dir, &compiled.env, &set, &shopt);
        request.stdin = self.context.options.stdin;
        let output = self.command_output(compiled)?;
        Ok(output.run(self.context.console, |sink| crate::shell::run(&request, scope, sink))?)
    }

    fn command_output(&self, compiled: &CompiledTask<'_>) -> Result<CommandOutput, TaskRunError> {
        Ok(match &self.context.output_mode {
            _ if compiled.task.interactive => CommandOutput::Interleaved,
            OutputMode::Interleaved => CommandOutput::Interleaved,
            OutputMode::Prefixed => CommandOutput::Prefixed(PrefixedOutput::new(&compiled.prefix)),
            OutputMode::Group { begin, end, error_only } => {
                let mut render = VarRenderer::new(&compiled.variables.values, &self.context.host);
                let (begin, end) = (render.plain(begin), render.plain(end));
                render.finish()?;
                CommandOutput::Group(GroupedOutput::new(begin, end, *error_only))
            }
        })
    }

    /// Whether commands are shown before they run.
    pub(super) fn echoes_commands(&self, compiled: &CompiledTask<'_>, call: &TaskCall, silent: bool) -> bool {
        let quiet = silent
            || call.silent
            || compiled.task.silent == Some(true)
            || self.context.file.silent
            || self.context.options.silent;
        self.context.options.verbose || !quiet
    }

    pub(super) fn matches_platform(&self, platforms: &[crate::ast::Platform]) -> bool {
        platforms.is_empty()
            || platforms.iter().any(|p| p.matches(self.context.host.os(), self.context.host.arch()))
    }

    /// Runs deferred commands in reverse order and ignores their failures.
    pub(super) fn run_deferred(
        &self,
        compiled: &CompiledTask<'_>,
        call: &TaskCall,
        deferred: &[&CompiledStep<'_>],
        exit_code: Option<i32>,
        scope: &CancelScope,
    ) {
        let scope = if scope.cancel_reason().is_some() {
            CancelScope::default().with_timeout(DEFERRED_LIMIT)
        } else {
            scope.clone()
        };
        for step in deferred.iter().rev() {
            let mut data = compiled.variables.values.clone();
            if let Some(code) = exit_code {
                data.insert("EXIT_CODE".to_owned(), Value::Str(code.to_string()));
            }
            let mut render = VarRenderer::new(&data, &self.context.host);
            let action = render_action(&step.action, &mut render);
            let shown = compiled
                .variables
                .mask_secrets()
                .map(|m| VarRenderer::new(&m, &self.context.host).text(shell_text(&step.action)));
            let step =
                CompiledStep { command: step.command, action, shown, condition: step.condition.clone() };
            if let Err(error) = self.run_step(compiled, call, &step, &scope) {
                self.context.log_verbose(&|| format!("task: ignored error in deferred cmd: {error}"));
            }
        }
    }
}

fn shell_text(action: &Action) -> &str {
    match action {
        Action::Shell(text) => text,
        Action::Call { .. } => "",
    }
}

/// Runs something with its own timeout, and reports that timeout if it expires.
pub(super) fn run_with_timeout(
    scope: &CancelScope,
    limit: Duration,
    task: &str,
    run: impl FnOnce(&CancelScope) -> Result<(), TaskRunError>,
) -> Result<(), TaskRunError> {
    let limited = scope.with_timeout(limit);
    match run(&limited) {
        Err(_) if limited.cancel_reason().is_some() && scope.cancel_reason().is_none() => {
            Err(TaskRunErrorKind::Timeout { task: task.to_owned(), limit }.into())
        }
        other => other,
    }
}

/// Fails if the run was cancelled.
pub(super) fn check_cancelled(scope: &CancelScope) -> Result<(), TaskRunError> {
    use crate::shell::{CancelReason, CommandError};
    match scope.cancel_reason() {
        None => Ok(()),
        Some(CancelReason::Cancelled) => Err(CommandError::Cancelled.into()),
        Some(CancelReason::DeadlinePassed) => Err(CommandError::DeadlinePassed.into()),
    }
}

/// Merges the options of several levels without duplicates.
fn merge_options(levels: &[&Vec<String>]) -> Vec<String> {
    let mut options: Vec<String> = Vec::new();
    for option in levels.iter().flat_map(|l| l.iter()) {
        if !options.contains(option) {
            options.push(option.clone());
        }
    }
    options
}
