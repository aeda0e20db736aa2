//! Why a run failed.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

use crate::ast::TaskLocation;
use crate::fingerprint::FingerprintError;
use crate::go::time::format_timeout;
use crate::load::{DotenvError, LoadError};
use crate::shell::CommandError;
use crate::template::TemplateError;

/// An error, and the tasks it propagated through.
#[derive(Debug)]
pub struct TaskRunError {
    pub kind: Box<TaskRunErrorKind>,
    /// Innermost first.
    tasks: Vec<String>,
}

#[derive(Debug, Error)]
pub enum TaskRunErrorKind {
    #[error("{}", not_found(task, suggestion.as_deref()))]
    NotFound { task: String, suggestion: Option<String> },
    #[error("task: Task \"{task}\" is internal")]
    Internal { task: String },
    #[error("task: Found multiple tasks ({}) that match {alias:?}", tasks.join(", "))]
    Ambiguous { alias: String, tasks: Vec<String> },
    #[error(
        "task: Maximum task call exceeded ({limit}) for task {task:?}: probably an cyclic dep or infinite loop"
    )]
    TooManyCalls { task: String, limit: u32 },
    #[error("task: Task {task:?} cancelled by user")]
    Refused { task: String },
    #[error(
        "task: Task {task:?} cancelled because it has a prompt and the environment is not a terminal. Use --yes (-y) to run anyway."
    )]
    NoTerminal { task: String },
    #[error("task: Task {task:?} cancelled because it is missing required variables: {}", missing.join(", "))]
    MissingVars { task: String, missing: Vec<String> },
    #[error("task: Task {task:?} cancelled because it is missing required variables:\n{}", wrong.concat())]
    WrongVars { task: String, wrong: Vec<String> },
    #[error("task: [{task}] command timeout exceeded ({})", format_timeout(*limit))]
    Timeout { task: String, limit: Duration },
    #[error("task: Task {task:?} took longer than {} and was cancelled", format_timeout(*limit))]
    TimeLimit { task: String, limit: Duration },
    #[error("task: Task {task:?} was cancelled")]
    Cancelled { task: String },
    #[error("task: precondition not met")]
    Precondition,
    #[error("task: Command \"{command}\" failed: {failure}")]
    Dynamic { command: String, failure: CommandError },
    #[error("task: invalid run {run:?}")]
    InvalidRun { run: String },
    #[error("task: Failed to parse {file}:\n{message}")]
    Loop { file: String, message: String },
    #[error("enum reference {reference:?} must resolve to a list")]
    EnumReference { reference: String },
    #[error("task: Task {task:?} is not up-to-date")]
    NotUpToDate { task: String },
    #[error(
        "task: watching for changes (task {task:?}) is not supported. Run it without --watch and `watch: true`, or start it from a file watcher such as `watchexec -- task {task}`"
    )]
    Watch { task: String },
    #[error("task: cannot make directory {dir:?}: {source}", dir = dir.display())]
    Directory { dir: PathBuf, source: std::io::Error },
    #[error("task: cannot start a thread for {task:?}: {source}")]
    Thread { task: String, source: std::io::Error },
    #[error("{0}")]
    Command(CommandError),
    #[error("{0}")]
    Template(#[from] TemplateError),
    /// An invalid template of a task, with the task's location.
    #[error("{error}")]
    TaskTemplate { error: TemplateError, task: String, location: TaskLocation },
    #[error("{0}")]
    Fingerprint(#[from] FingerprintError),
    #[error("{0}")]
    Dotenv(#[from] DotenvError),
    #[error("{0}")]
    Load(#[from] LoadError),
}

impl<C: Into<TaskRunErrorKind>> From<C> for TaskRunError {
    fn from(kind: C) -> TaskRunError {
        TaskRunError { kind: Box::new(kind.into()), tasks: Vec::new() }
    }
}

impl From<CommandError> for TaskRunError {
    fn from(failure: CommandError) -> TaskRunError {
        TaskRunErrorKind::Command(failure).into()
    }
}

impl TaskRunError {
    /// Adds the calling task.
    pub(crate) fn in_task(mut self, task: &str) -> TaskRunError {
        self.tasks.push(task.to_owned());
        self
    }

    /// go-task's exit code.
    pub fn code(&self) -> i32 {
        match self.kind.as_ref() {
            TaskRunErrorKind::NotFound { .. } => 200,
            TaskRunErrorKind::Internal { .. } => 202,
            TaskRunErrorKind::Ambiguous { .. } => 203,
            TaskRunErrorKind::TooManyCalls { .. } => 204,
            TaskRunErrorKind::Refused { .. } | TaskRunErrorKind::NoTerminal { .. } => 205,
            TaskRunErrorKind::MissingVars { .. } => 206,
            TaskRunErrorKind::WrongVars { .. } => 207,
            TaskRunErrorKind::Timeout { .. } | TaskRunErrorKind::TimeLimit { .. } => 208,
            TaskRunErrorKind::Cancelled { .. } => 130,
            TaskRunErrorKind::Loop { .. } => 109,
            TaskRunErrorKind::Load(error) => error.code(),
            _ if self.tasks.is_empty() => 1,
            _ => 201,
        }
    }

    /// The exit code of the failed command if there is one, else go-task's.
    pub fn exit_code(&self) -> i32 {
        match self.kind.as_ref() {
            TaskRunErrorKind::Command(CommandError::Exit(code)) => *code,
            TaskRunErrorKind::Timeout { .. } | TaskRunErrorKind::TimeLimit { .. } => 124,
            TaskRunErrorKind::Cancelled { .. } => 130,
            _ => self.code(),
        }
    }

    /// The exit code of a failed or timed-out command, which `ignore_error` ignores and deferred commands see.
    pub(crate) fn command_code(&self) -> Option<i32> {
        match self.kind.as_ref() {
            TaskRunErrorKind::Command(CommandError::Exit(code)) => Some(*code),
            TaskRunErrorKind::Timeout { .. } => Some(self.exit_code()),
            _ => None,
        }
    }

    /// The requested task, if the error came from running it.
    pub fn task(&self) -> Option<&str> {
        self.tasks.last().map(String::as_str)
    }

    /// Details beyond the message, such as the tasks of a call cycle.
    pub fn hint(&self) -> Option<String> {
        match self.kind.as_ref() {
            TaskRunErrorKind::TooManyCalls { task, .. } => {
                let way: Vec<&str> =
                    self.tasks.iter().take_while(|t| *t != task).map(String::as_str).collect();
                let round: Vec<&str> = std::iter::once(task.as_str())
                    .chain(way.into_iter().rev())
                    .chain([task.as_str()])
                    .collect();
                Some(format!("call cycle: {}", round.join(" → ")))
            }
            TaskRunErrorKind::TaskTemplate { error, task, location } => {
                let column = error.column.map_or(String::new(), |c| format!(", column {}", c + 1));
                let (file, at) = (&location.taskfile, location.position);
                Some(format!(
                    "{file}:{}:{}: in a template of task {task:?}, line {}{column} of it",
                    at.line, at.column, error.line
                ))
            }
            TaskRunErrorKind::Load(error) => error.hint(),
            _ => None,
        }
    }
}

impl fmt::Display for TaskRunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for task in self.tasks.iter().rev() {
            write!(f, "task: Failed to run task {task:?}: ")?;
        }
        write!(f, "{}", self.kind)
    }
}

impl std::error::Error for TaskRunError {}

fn not_found(task: &str, suggestion: Option<&str>) -> String {
    match suggestion {
        Some(near) => format!("task: Task {task:?} does not exist. Did you mean {near:?}?"),
        None => format!("task: Task {task:?} does not exist"),
    }
}
