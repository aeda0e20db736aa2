//! A call of a task, and the task it means.

use crate::ast::{TaskAst, Var, Vars, match_wildcards};
use crate::go::Value;

use super::TaskfileContext;
use super::error::TaskRunErrorKind;

/// A call of a task, by the user or by another task.
#[derive(Debug, Clone, Default)]
pub(crate) struct TaskCall {
    pub task: String,
    pub vars: Vars,
    pub silent: bool,
    /// The number of calls this one is nested in.
    pub depth: usize,
}

impl TaskCall {
    pub(crate) fn new(task: impl Into<String>) -> TaskCall {
        TaskCall { task: task.into(), ..TaskCall::default() }
    }
}

/// The largest edit distance of a suggestion.
const MAX_EDITS: usize = 2;
/// The least number of characters a suggestion must share with the name.
const MIN_COMMON: usize = 2;

impl<'e> TaskfileContext<'e> {
    /// Finds a task by name, wildcard or alias. What the wildcards matched becomes the call's `MATCH`.
    pub(crate) fn find(&self, call: &mut TaskCall) -> Result<&'e TaskAst, TaskRunErrorKind> {
        let tasks = &self.file.tasks;
        let found = match tasks.get(&call.task) {
            Some(task) => Some((task, Vec::new())),
            None => tasks
                .values()
                .filter(|t| t.name.contains('*'))
                .find_map(|t| Some((t, match_wildcards(&t.name, &call.task)?))),
        };
        if let Some((task, matched)) = found {
            call.vars.insert("MATCH".to_owned(), Var::from_value(Value::from(matched)));
            return Ok(task);
        }
        let aliased: Vec<&TaskAst> = tasks.values().filter(|t| t.aliases.contains(&call.task)).collect();
        match aliased.as_slice() {
            [task] => Ok(task),
            [] => Err(TaskRunErrorKind::NotFound {
                task: call.task.clone(),
                suggestion: self.suggest(&call.task),
            }),
            several => Err(TaskRunErrorKind::Ambiguous {
                alias: call.task.clone(),
                tasks: several.iter().map(|t| t.name.clone()).collect(),
            }),
        }
    }

    fn suggest(&self, name: &str) -> Option<String> {
        if self.options.disable_fuzzy {
            return None;
        }
        let name = name.to_lowercase();
        let tasks = self.file.tasks.values().filter(|t| !t.internal);
        let names = tasks.flat_map(|t| std::iter::once(&t.name).chain(&t.aliases));
        names
            .map(|n| (strsim::osa_distance(&name, &n.to_lowercase()), n))
            .filter(|(edits, n)| *edits <= MAX_EDITS && common(&name, &n.to_lowercase()) >= MIN_COMMON)
            .min_by_key(|(edits, _)| *edits)
            .map(|(_, n)| n.clone())
    }
}

/// The length of the longest common subsequence.
fn common(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row = vec![0_usize; b.len() + 1];
    for x in a.chars() {
        let mut diagonal = 0;
        for (i, y) in b.iter().enumerate() {
            let above = row[i + 1];
            row[i + 1] = if x == *y { diagonal + 1 } else { above.max(row[i]) };
            diagonal = above;
        }
    }
    row.last().copied().unwrap_or(0)
}
