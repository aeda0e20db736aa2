//! Merges an included Taskfile into the including one.

use std::borrow::Cow;
use std::sync::Arc;

use crate::ast::{Action, Include, TaskAst, TaskfileAst, Var, Vars};

use crate::go::path::join;

use super::error::LoadError;

/// The limit on tasks after merging; nested includes can multiply them.
const MAX_TASKS: usize = 20_000;

/// Merges variables and environment (the included file's values win) and adds the tasks under the namespace. Tasks
/// are moved, not cloned, if the file is included only once.
pub(super) fn merge(
    into: &mut TaskfileAst,
    from: Cow<'_, TaskfileAst>,
    include: &Include,
) -> Result<(), LoadError> {
    if let (Some(first), Some(second)) = (into.version, from.version)
        && first != second
    {
        return Err(LoadError::VersionMismatch { first, second });
    }
    if !from.dotenv.is_empty() {
        return Err(LoadError::IncludedDotenv);
    }
    if from.output.is_set() {
        into.output = from.output.clone();
    }
    merge_vars(&mut into.vars, &from.vars, include);
    merge_vars(&mut into.env, &from.env, include);
    if into.tasks.len() + from.tasks.len() > MAX_TASKS {
        return Err(LoadError::Limit {
            path: into.location.clone().into(),
            what: format!("more than {MAX_TASKS} tasks including its includes"),
        });
    }
    let vars = Arc::new(into.vars.clone());
    let (is_silent, has_default) = (from.silent, from.tasks.contains_key("default"));
    let tasks: Box<dyn Iterator<Item = TaskAst>> = match from {
        Cow::Owned(from) => Box::new(from.tasks.into_values()),
        Cow::Borrowed(from) => Box::new(from.tasks.values().cloned()),
    };
    for task in tasks {
        if include.excludes.iter().any(|pattern| crate::ast::match_wildcards(pattern, &task.name).is_some()) {
            continue;
        }
        let task = adapt_task(task, is_silent, include, &vars);
        if into.tasks.contains_key(&task.name) {
            return Err(LoadError::TaskClash { task: task.name, include: include.namespace.clone() });
        }
        into.tasks.insert(task.name.clone(), task);
    }
    if has_default {
        alias_default(into, include);
    }
    Ok(())
}

fn merge_vars(into: &mut Vars, from: &Vars, include: &Include) {
    for (name, var) in from {
        let has_dir = include.advanced && !include.dir.is_empty();
        let dir = if has_dir { Some(include.dir.clone()) } else { var.dir.clone() };
        into.insert(name.clone(), Var { dir, ..var.clone() });
    }
}

/// Adapts a task to the including file.
fn adapt_task(mut task: TaskAst, is_silent: bool, include: &Include, vars: &Arc<Vars>) -> TaskAst {
    task.internal = task.internal || include.internal;
    if is_silent {
        task.silent = task.silent.or(Some(true));
    }
    if !include.flatten {
        add_namespace(&mut task, include);
    }
    if include.advanced {
        if !include.dir.is_empty() {
            task.dir = join(include.dir.as_ref(), &task.dir).to_string_lossy().into_owned();
        }
        for (name, var) in &include.vars {
            task.include_vars.insert(name.clone(), var.clone());
        }
        task.included_taskfile_vars = Arc::clone(vars);
    }
    task
}

fn add_namespace(task: &mut TaskAst, include: &Include) {
    for dep in &mut task.deps {
        dep.task = qualify_name(&dep.task, &include.namespace);
    }
    for command in &mut task.commands {
        if let Action::Call { task: called, .. } = &mut command.action {
            *called = qualify_name(called, &include.namespace);
        }
    }
    let own = std::mem::take(&mut task.aliases);
    task.aliases.extend(own.iter().map(|alias| qualify_name(alias, &include.namespace)));
    for other in &include.aliases {
        task.aliases.push(qualify_name(&task.name, other));
        task.aliases.extend(own.iter().map(|alias| qualify_name(alias, other)));
    }
    task.name = qualify_name(&task.name, &include.namespace);
    task.namespace.clone_from(&include.namespace);
}

/// Makes the bare namespace an alias of the included default task, unless a task has that name.
fn alias_default(into: &mut TaskfileAst, include: &Include) {
    if include.flatten || into.tasks.contains_key(&include.namespace) {
        return;
    }
    if let Some(default) = into.tasks.get_mut(&format!("{}:default", include.namespace)) {
        default.aliases.push(include.namespace.clone());
        default.aliases.extend(include.aliases.iter().cloned());
    }
}

/// A name in a namespace; a leading colon means the root namespace.
fn qualify_name(name: &str, namespace: &str) -> String {
    match name.strip_prefix(':') {
        Some(root) => root.to_owned(),
        None => format!("{namespace}:{name}"),
    }
}
