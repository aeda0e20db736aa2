//! The items of a `for:` loop.

use std::path::Path;

use crate::ast::{Iteration, MatrixRow};
use crate::context::{TaskRunError, TaskRunErrorKind, TaskfileContext, VarRenderer, Variables};
use crate::go::{Map, Value};
use crate::shell::{DataKind, conceal, has_data, reveal};

use super::CompiledTask;

/// How many iterations a loop may have; a matrix multiplies its rows.
const MAX_ITEMS: usize = 100_000;

/// One iteration of a loop.
pub(super) struct LoopItem {
    value: Value,
    key: Option<String>,
}

impl LoopItem {
    fn new(value: Value) -> LoopItem {
        LoopItem { value, key: None }
    }

    /// Sets the iteration's variables in template data.
    pub(super) fn set(&self, name: &str, data: &mut Map) {
        data.insert(name.to_owned(), self.value.clone());
        if let Some(key) = &self.key {
            data.insert("KEY".to_owned(), Value::from(key.as_str()));
        }
    }
}

/// The items of a `for:`.
pub(super) fn loop_items(
    iteration: &Iteration,
    context: &TaskfileContext<'_>,
    compiled: &CompiledTask<'_>,
    variables: &Variables,
    render: &mut VarRenderer<'_>,
) -> Result<Vec<LoopItem>, TaskRunError> {
    let items = match iteration {
        Iteration::List(values) => values.iter().cloned().map(LoopItem::new).collect(),
        Iteration::Files(which) => file_items(which, context, compiled)?,
        Iteration::Var { name, split, .. } => {
            let split = render.plain(split);
            match variables.values.get(name.as_str()) {
                Some(value) => var_items(value, &split).ok_or_else(|| {
                    loop_error(compiled, "loop var must be a delimiter-separated string, list or a map")
                })?,
                None => Vec::new(),
            }
        }
        Iteration::Matrix { rows, .. } => matrix_items(rows, compiled, render)?,
    };
    if items.len() > MAX_ITEMS {
        return Err(loop_error(
            compiled,
            &format!("loop has {} items, the limit is {MAX_ITEMS}", items.len()),
        ));
    }
    Ok(items)
}

/// The files of `sources` or `generates`, relative to the task's directory.
fn file_items(
    which: &str,
    context: &TaskfileContext<'_>,
    compiled: &CompiledTask<'_>,
) -> Result<Vec<LoopItem>, TaskRunError> {
    let lookup = context.lookup();
    let subject = compiled.subject(context, &lookup);
    let files = match which {
        "sources" => subject.source_files()?,
        "generates" => subject.generated_files()?,
        _ => Vec::new(),
    };
    Ok(files.iter().map(|f| LoopItem::new(Value::Str(relative(f, &compiled.dir)))).collect())
}

fn matrix_items(
    rows: &indexmap::IndexMap<String, MatrixRow>,
    compiled: &CompiledTask<'_>,
    render: &mut VarRenderer<'_>,
) -> Result<Vec<LoopItem>, TaskRunError> {
    let mut combinations = vec![Map::new()];
    for (name, row) in rows {
        let values = match row {
            MatrixRow::Values(values) => values.clone(),
            MatrixRow::Reference(reference) => match render.reference(reference) {
                Some(Value::List(values)) => values,
                _ => {
                    return Err(loop_error(
                        compiled,
                        &format!("matrix reference {reference:?} must resolve to a list"),
                    ));
                }
            },
        };
        if combinations.len().saturating_mul(values.len()) > MAX_ITEMS {
            return Err(loop_error(compiled, &format!("matrix has more than {MAX_ITEMS} combinations")));
        }
        let with = |combination: &Map, value: &Value| {
            let mut combination = combination.clone();
            combination.insert(name.clone(), value.clone());
            combination
        };
        combinations =
            combinations.iter().flat_map(|c| values.iter().map(|v| with(c, v)).collect::<Vec<_>>()).collect();
    }
    Ok(combinations.into_iter().map(|c| LoopItem::new(Value::Map(c))).collect())
}

/// The items of a variable; `None` when it cannot be iterated.
fn var_items(value: &Value, split: &str) -> Option<Vec<LoopItem>> {
    match value {
        Value::Str(text) if has_data(text) => {
            let plain = Value::Str(reveal(text).into_owned());
            let items = var_items(&plain, split)?.into_iter();
            Some(
                items
                    .map(|item| LoopItem::new(Value::Str(conceal(&item.value.display(), DataKind::Computed))))
                    .collect(),
            )
        }
        Value::Str(text) if split.is_empty() => {
            Some(text.split_whitespace().map(|w| LoopItem::new(Value::from(w))).collect())
        }
        Value::Str(text) => Some(text.split(split).map(|w| LoopItem::new(Value::from(w))).collect()),
        Value::List(items) => Some(items.iter().cloned().map(LoopItem::new).collect()),
        Value::Map(map) => {
            Some(map.iter().map(|(k, v)| LoopItem { value: v.clone(), key: Some(k.clone()) }).collect())
        }
        Value::Nil => Some(Vec::new()),
        _ => None,
    }
}

fn relative(path: &Path, dir: &Path) -> String {
    let (mut from, mut to) = (dir.components().peekable(), path.components().peekable());
    while from.peek().is_some() && from.peek() == to.peek() {
        from.next();
        to.next();
    }
    let up = from.map(|_| std::path::Component::ParentDir);
    up.chain(to).collect::<std::path::PathBuf>().display().to_string()
}

fn loop_error(compiled: &CompiledTask<'_>, message: &str) -> TaskRunError {
    TaskRunErrorKind::Loop { file: compiled.task.location.taskfile.clone(), message: message.to_owned() }
        .into()
}
