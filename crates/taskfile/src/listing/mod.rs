//! Tasks as they are shown: as a table, by name, as JSON, or one in full. No task is run.

mod json;
mod summary;
mod table;

use crate::ast::TaskAst;
use crate::compile::compile;
use crate::context::{TaskCall, TaskRunError, TaskfileContext, VarRenderer, Variables};
use crate::output::Stream;

pub(crate) use json::JsonLayout;
pub(crate) use summary::print_summaries;

/// The sort order of a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum ListOrder {
    /// Tasks without a namespace first, then by name.
    #[default]
    RootFirst,
    ByName,
    AsWritten,
}

/// A listed task with its texts rendered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedTask {
    pub name: String,
    /// The label, or the name if there is none.
    pub label: String,
    pub desc: String,
    pub summary: String,
    pub aliases: Vec<String>,
    pub line: usize,
    pub column: usize,
    pub taskfile: String,
    /// The names of required variables.
    pub requires: Vec<String>,
}

/// The tasks that are not internal: those with a description, or `all`.
pub(crate) fn select_tasks<'e>(
    context: &TaskfileContext<'e>,
    all: bool,
    order: ListOrder,
) -> Vec<&'e TaskAst> {
    let mut tasks: Vec<&TaskAst> =
        context.file.tasks.values().filter(|t| !t.internal && (all || !t.desc.is_empty())).collect();
    match order {
        ListOrder::AsWritten => {}
        ListOrder::ByName => tasks.sort_by(|a, b| a.name.cmp(&b.name)),
        ListOrder::RootFirst => {
            tasks.sort_by(|a, b| (a.name.contains(':'), &a.name).cmp(&(b.name.contains(':'), &b.name)));
        }
    }
    tasks
}

/// Renders tasks for a list. Runs no command.
pub(crate) fn list_tasks(
    context: &TaskfileContext<'_>,
    tasks: &[&TaskAst],
) -> Result<Vec<ListedTask>, TaskRunError> {
    let mut variables = None;
    tasks.iter().map(|task| list_task(context, &mut variables, task)).collect()
}

/// Creates variables for the first task that needs them and reuses them for the next ones.
fn list_task(
    context: &TaskfileContext<'_>,
    known: &mut Option<Variables>,
    task: &TaskAst,
) -> Result<ListedTask, TaskRunError> {
    let texts = [&task.label, &task.desc, &task.summary];
    let rendered = if texts.iter().any(|t| t.contains("{{")) {
        let variables = known.get_or_insert_with(|| Variables::with_base(context.base_values()));
        context.set_variables(variables, Some(task), Some(&TaskCall::new(&task.name)), false)?;
        let mut render = VarRenderer::new(&variables.values, &context.host);
        let rendered = texts.map(|t| render.plain(t));
        variables.reset(context.base_values());
        rendered
    } else {
        texts.map(Clone::clone)
    };
    let [label, desc, summary] = rendered;
    Ok(ListedTask {
        label: if label.is_empty() { task.name.clone() } else { label },
        name: task.name.clone(),
        desc,
        summary,
        aliases: task.aliases.clone(),
        line: task.location.position.line,
        column: task.location.position.column,
        taskfile: task.location.taskfile.clone(),
        requires: task.requires.iter().map(|r| r.name.clone()).collect(),
    })
}

/// Prints the tasks as a table and returns whether there were any.
pub(crate) fn print_table(
    context: &TaskfileContext<'_>,
    all: bool,
    order: ListOrder,
) -> Result<bool, TaskRunError> {
    let tasks = select_tasks(context, all, order);
    if tasks.is_empty() {
        let words = if all {
            "task: No tasks available\n"
        } else {
            "task: No tasks with description available. Try --list-all to list all tasks\n"
        };
        context.console.write(Stream::Out, words.as_bytes());
        return Ok(false);
    }
    let listed = list_tasks(context, &tasks)?;
    let text = format!("task: Available tasks for this project:\n{}", table::table(&listed));
    context.console.write(Stream::Out, text.as_bytes());
    Ok(true)
}

/// Prints names and aliases, one per line.
pub(crate) fn print_names(context: &TaskfileContext<'_>, all: bool, order: ListOrder) {
    let mut text = String::new();
    for task in select_tasks(context, all, order) {
        for name in std::iter::once(&task.name).chain(&task.aliases) {
            text.push_str(name.trim_end_matches(':'));
            text.push('\n');
        }
    }
    context.console.write(Stream::Out, text.as_bytes());
}

/// Prints the tasks as JSON for editors and returns whether there were any.
pub(crate) fn print_json(
    context: &TaskfileContext<'_>,
    all: bool,
    order: ListOrder,
    layout: JsonLayout,
) -> Result<bool, TaskRunError> {
    let tasks = select_tasks(context, all, order);
    let mut entries = Vec::with_capacity(tasks.len());
    for (task, listed) in tasks.iter().zip(list_tasks(context, &tasks)?) {
        let up_to_date = if layout.with_status { Some(sources_up_to_date(context, task)?) } else { None };
        entries.push((listed, up_to_date));
    }
    context.console.write(Stream::Out, json::json(&entries, &context.file.location, layout).as_bytes());
    Ok(!tasks.is_empty())
}

/// Whether a task's sources are unchanged; its `status:` commands are not run for a list.
fn sources_up_to_date(context: &TaskfileContext<'_>, task: &TaskAst) -> Result<bool, TaskRunError> {
    let compiled = compile(context, &mut TaskCall::new(&task.name), false)?;
    Ok(compiled.sources_up_to_date(context)?.unwrap_or(false))
}
