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
pub struct RunError {
    pub kind: Box<RunErrorKind>,
    /// Innermost first.
    tasks: Vec<String>,
}

#[derive(Debug, Error)]
pub enum RunErrorKind {
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

impl<C: Into<RunErrorKind>> From<C> for RunError {
    fn from(kind: C) -> RunError {
        RunError { kind: Box::new(kind.into()), tasks: Vec::new() }
    }
}

impl From<CommandError> for RunError {
    fn from(failure: CommandError) -> RunError {
        RunErrorKind::Command(failure).into()
    }
}

impl RunError {
    /// Adds the calling task.
    pub(crate) fn in_task(mut self, task: &str) -> RunError {
        self.tasks.push(task.to_owned());
        self
    }

    /// go-task's exit code.
    pub fn code(&self) -> i32 {
        match self.kind.as_ref() {
            RunErrorKind::NotFound { .. } => 200,
            RunErrorKind::Internal { .. } => 202,
            RunErrorKind::Ambiguous { .. } => 203,
            RunErrorKind::TooManyCalls { .. } => 204,
            RunErrorKind::Refused { .. } | RunErrorKind::NoTerminal { .. } => 205,
            RunErrorKind::MissingVars { .. } => 206,
            RunErrorKind::WrongVars { .. } => 207,
            RunErrorKind::Timeout { .. } | RunErrorKind::TimeLimit { .. } => 208,
            RunErrorKind::Cancelled { .. } => 130,
            RunErrorKind::Loop { .. } => 109,
            RunErrorKind::Load(error) => error.code(),
            _ if self.tasks.is_empty() => 1,
            _ => 201,
        }
    }

    /// The exit code of the failed command if there is one, else go-task's.
    pub fn exit_code(&self) -> i32 {
        match self.kind.as_ref() {
            RunErrorKind::Command(CommandError::Exit(code)) => *code,
            RunErrorKind::Timeout { .. } | RunErrorKind::TimeLimit { .. } => 124,
            RunErrorKind::Cancelled { .. } => 130,
            _ => self.code(),
        }
    }

    /// The exit code of a failed or timed-out command, which `ignore_error` ignores and deferred commands see.
    pub(crate) fn command_code(&self) -> Option<i32> {
        match self.kind.as_ref() {
            RunErrorKind::Command(CommandError::Exit(code)) => Some(*code),
            RunErrorKind::Timeout { .. } => Some(self.exit_code()),
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
            RunErrorKind::TooManyCalls { task, .. } => {
                let way: Vec<&str> =
                    self.tasks.iter().take_while(|t| *t != task).map(String::as_str).collect();
                let round: Vec<&str> = std::iter::once(task.as_str())
                    .chain(way.into_iter().rev())
                    .chain([task.as_str()])
                    .collect();
                Some(format!("call cycle: {}", round.join(" → ")))
            }
            RunErrorKind::TaskTemplate { error, task, location } => {
                let column = error.column.map_or(String::new(), |c| format!(", column {}", c + 1));
                let (file, at) = (&location.taskfile, location.position);
                Some(format!(
                    "{file}:{}:{}: in a template of task {task:?}, line {}{column} of it",
                    at.line, at.column, error.line
                ))
            }
            RunErrorKind::Load(error) => error.hint(),
            _ => None,
        }
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for task in self.tasks.iter().rev() {
            write!(f, "task: Failed to run task {task:?}: ")?;
        }
        write!(f, "{}", self.kind)
    }
}

impl std::error::Error for RunError {}

fn not_found(task: &str, suggestion: Option<&str>) -> String {
    match suggestion {
        Some(near) => format!("task: Task {task:?} does not exist. Did you mean {near:?}?"),
        None => format!("task: Task {task:?} does not exist"),
    }
}
