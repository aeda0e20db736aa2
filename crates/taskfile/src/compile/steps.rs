//! The commands, calls and dependencies of a task, with loops unrolled.

use std::time::Duration;

use crate::ast::{Action, CommandAst, Dependency, Vars};
use crate::context::{TaskRunError, TaskfileContext, VarRenderer, Variables};
use crate::go::Map;

use super::CompiledTask;
use super::items::loop_items;

/// One command or call of a task.
pub(crate) struct CompiledStep<'t> {
    pub command: &'t CommandAst,
    pub action: Action,
    /// The command as printed, if it differs from the one run.
    pub shown: Option<String>,
    pub condition: String,
}

/// A task that runs before this one.
pub(crate) struct CompiledDep {
    pub task: String,
    pub vars: Vars,
    pub silent: bool,
    pub timeout: Option<Duration>,
    pub condition: String,
}

pub(super) fn compile_steps<'e>(
    context: &TaskfileContext<'e>,
    compiled: &mut CompiledTask<'e>,
    variables: &Variables,
    masked: Option<&Map>,
    render: &mut VarRenderer<'_>,
) -> Result<(), TaskRunError> {
    for command in &compiled.task.commands {
        if command.deferred {
            // Rendered when it runs, since only then is the exit code known.
            let action = command.action.clone();
            compiled.steps.push(CompiledStep {
                command,
                action,
                shown: None,
                condition: command.condition.clone(),
            });
            continue;
        }
        let Some(iteration) = &command.iteration else {
            compiled.steps.push(step(command, render, masked.map(|m| VarRenderer::new(m, &context.host))));
            continue;
        };
        let mut data = variables.values.clone();
        let mut shown = masked.cloned();
        for item in loop_items(iteration, context, compiled, variables, render)? {
            for map in std::iter::once(&mut data).chain(&mut shown) {
                item.set(iteration.item_name(), map);
            }
            let mut with_item = VarRenderer::new(&data, &context.host);
            compiled.steps.push(step(
                command,
                &mut with_item,
                shown.as_ref().map(|m| VarRenderer::new(m, &context.host)),
            ));
            render.adopt(with_item);
        }
    }
    Ok(())
}

pub(super) fn compile_deps<'e>(
    context: &TaskfileContext<'e>,
    compiled: &mut CompiledTask<'e>,
    variables: &Variables,
    render: &mut VarRenderer<'_>,
) -> Result<(), TaskRunError> {
    for dependency in &compiled.task.deps {
        let Some(iteration) = &dependency.iteration else {
            compiled.deps.push(dep(dependency, render));
            continue;
        };
        let mut data = variables.values.clone();
        for item in loop_items(iteration, context, compiled, variables, render)? {
            item.set(iteration.item_name(), &mut data);
            let mut with_item = VarRenderer::new(&data, &context.host);
            compiled.deps.push(dep(dependency, &mut with_item));
            render.adopt(with_item);
        }
    }
    Ok(())
}

fn step<'t>(
    command: &'t CommandAst,
    render: &mut VarRenderer<'_>,
    masked: Option<VarRenderer<'_>>,
) -> CompiledStep<'t> {
    let action = render_action(&command.action, render);
    let shown = match (&command.action, masked) {
        (Action::Shell(text), Some(mut masked)) => Some(masked.text(text)),
        _ => None,
    };
    CompiledStep { command, action, shown, condition: render.text(&command.condition) }
}

pub(crate) fn render_action(action: &Action, render: &mut VarRenderer<'_>) -> Action {
    match action {
        Action::Shell(text) => Action::Shell(render.text(text)),
        Action::Call { task, vars } => Action::Call { task: render.plain(task), vars: render.vars(vars) },
    }
}

fn dep(dependency: &Dependency, render: &mut VarRenderer<'_>) -> CompiledDep {
    CompiledDep {
        task: render.plain(&dependency.task),
        vars: render.vars(&dependency.vars),
        silent: dependency.silent,
        timeout: dependency.timeout,
        condition: render.text(&dependency.condition),
    }
}
