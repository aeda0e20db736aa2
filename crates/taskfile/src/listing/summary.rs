//! The summary of one task.

use std::fmt::Write;

use crate::ast::{Action, AllowedValues, Var};
use crate::compile::{CompiledTask, compile};
use crate::context::{TaskCall, TaskRunError, TaskfileContext};
use crate::go::Value;
use crate::output::Stream;
use crate::shell::reveal;

/// Predefined variables, which are not listed even if a Taskfile sets them.
#[rustfmt::skip]
const SPECIAL: &[&str] = &[
    "ALIAS", "MATCH", "ROOT_DIR", "ROOT_TASKFILE", "TASK", "TASKFILE", "TASKFILE_DIR", "TASK_DIR",
    "TASK_EXE", "TASK_VERSION", "USER_WORKING_DIR", "PATH_LIST_SEPARATOR", "FILE_PATH_SEPARATOR",
];

/// Prints the summary of each task. Runs no command.
pub(crate) fn print_summaries(
    context: &TaskfileContext<'_>,
    calls: &mut [TaskCall],
) -> Result<(), TaskRunError> {
    for (index, call) in calls.iter_mut().enumerate() {
        let compiled = compile(context, call, false)?;
        let gap = if index > 0 { "\n\n" } else { "" };
        let text = summary(context, &compiled, call);
        context.console.write(Stream::Out, format!("{gap}{}", reveal(&text)).as_bytes());
    }
    Ok(())
}

fn summary(context: &TaskfileContext<'_>, compiled: &CompiledTask<'_>, call: &TaskCall) -> String {
    let mut out = format!("task: {}\n\n", compiled.name());
    if !compiled.summary.is_empty() {
        out.push_str(compiled.summary.strip_suffix('\n').unwrap_or(&compiled.summary));
        out.push('\n');
    } else if !compiled.desc.is_empty() {
        let _ = writeln!(out, "{}", compiled.desc);
    } else {
        out.push_str("(task does not have description or summary)\n");
    }
    write_vars(context, compiled, call, &mut out);
    write_env(compiled, &mut out);
    write_requires(compiled, &mut out);
    if !compiled.deps.is_empty() {
        out.push_str("\ndependencies:\n");
        for dep in &compiled.deps {
            let _ = writeln!(out, " - {}", dep.task);
        }
    }
    if !compiled.task.aliases.is_empty() {
        out.push_str("\naliases:\n");
        for alias in &compiled.task.aliases {
            let _ = writeln!(out, " - {alias}");
        }
    }
    if !compiled.steps.is_empty() {
        out.push_str("\ncommands:\n");
        for step in &compiled.steps {
            let _ = match &step.action {
                Action::Shell(text) => writeln!(out, " - {}", step.shown.as_ref().unwrap_or(text)),
                Action::Call { task, .. } => writeln!(out, " - Task: {task}"),
            };
        }
    }
    out
}

/// The variables of the Taskfile and the task, without those that are also environment variables.
fn write_vars(context: &TaskfileContext<'_>, compiled: &CompiledTask<'_>, call: &TaskCall, out: &mut String) {
    let task = compiled.task;
    let declared =
        context.file_vars().keys().chain(task.include_vars.keys()).chain(task.included_taskfile_vars.keys());
    let mut names: Vec<&String> = Vec::new();
    for name in declared.chain(call.vars.keys()).chain(task.vars.keys()) {
        let ours = name.starts_with("CLI_") || SPECIAL.contains(&name.as_str());
        if !ours
            && !names.contains(&name)
            && !context.environment.contains(name)
            && !compiled.env_vars.contains_key(name)
        {
            names.push(name);
        }
    }
    if names.is_empty() {
        return;
    }
    out.push_str("\nvars:\n");
    for name in names {
        let _ = match (compiled.variables.pending.get(name), compiled.variables.values.get(name)) {
            (Some(sh), _) => writeln!(out, "  {name}: sh: {sh}"),
            (None, _) if compiled.variables.secrets.contains(name) => {
                writeln!(out, "  {name}: \"*****\"")
            }
            (None, Some(Value::Map(map))) => {
                let entries = map.iter().fold(String::new(), |all, (k, v)| {
                    all + &format!(
                        "    {k}: {}
",
                        v.display()
                    )
                });
                writeln!(out, "  {name}: \n{entries}")
            }
            (None, value) => writeln!(out, "  {name}: \"{}\"", value.map(display).unwrap_or_default()),
        };
    }
}

fn display(value: &Value) -> String {
    if *value == Value::Nil { String::new() } else { value.display() }
}

fn write_env(compiled: &CompiledTask<'_>, out: &mut String) {
    if compiled.env_vars.is_empty() {
        return;
    }
    out.push_str("\nenv:\n");
    for (name, var) in &compiled.env_vars {
        let _ = match var {
            Var { value: None, sh: Some(sh), .. } => writeln!(out, "  {name}: sh: {sh}"),
            Var { secret: true, .. } => writeln!(out, "  {name}: \"*****\""),
            Var { value, .. } => {
                writeln!(out, "  {name}: \"{}\"", value.as_ref().map(display).unwrap_or_default())
            }
        };
    }
}

fn write_requires(compiled: &CompiledTask<'_>, out: &mut String) {
    if compiled.task.requires.is_empty() {
        return;
    }
    out.push_str("\nrequires:\n  vars:\n");
    for required in &compiled.task.requires {
        let _ = match &required.allowed {
            AllowedValues::Values(values) if values.is_empty() => writeln!(out, "    - {}", required.name),
            AllowedValues::Values(values) => {
                let values = values.iter().fold(String::new(), |all, v| {
                    all + &format!(
                        "          - {v}
"
                    )
                });
                write!(out, "    - {}:\n        enum:\n{values}", required.name)
            }
            AllowedValues::Reference(reference) => {
                writeln!(out, "    - {}:\n        enum:\n          ref: {reference}", required.name)
            }
        };
    }
}
