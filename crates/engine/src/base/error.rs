//! The error of every engine call: whatever a folder raised, with what an edge needs to render it.
//!
//! Each folder has an error enum of its own and implements [`EngineFailure`] for it. [`EngineError`] carries any of them,
//! so that no enum has to list everything below it. Callers that branch on a case ask for the type they mean:
//! `error.get::<Refusal>()`.

use std::any::Any;
use std::fmt;
use std::path::PathBuf;

use baton_core::ask::refusal::AskRefusal;
use baton_core::base::explanation::Explanation;
use baton_core::transition::refusal::CommandRefusal;

/// The result of an engine call.
pub type Result<T, E = EngineError> = std::result::Result<T, E>;

/// What sort of failure it is. The server maps it to a status code, the command line to an exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    NotFound,
    InvalidInput,
    /// A file that the user wrote is invalid.
    InvalidSettings,
    Conflict,
    /// The state does not allow it.
    InvalidStatus,
    AlreadyAnswered,
    /// Trying again later may help.
    Unavailable,
    /// The store or a folder Baton needs cannot be used.
    Storage,
    Internal,
}

/// A failure that can be shown to a user.
pub trait EngineFailure: std::error::Error + Any + Send + Sync {
    fn kind(&self) -> ErrorKind;
    /// What to do next.
    fn hint(&self) -> String;
    fn explained(&self) -> &'static Explanation;
}

pub struct EngineError(Box<dyn EngineFailure>);

impl EngineError {
    pub fn kind(&self) -> ErrorKind {
        self.0.kind()
    }

    /// What to do next.
    pub fn hint(&self) -> String {
        self.0.hint()
    }

    pub fn explained(&self) -> &'static Explanation {
        self.0.explained()
    }

    /// The failure as this type, if it is one.
    pub fn get<F: EngineFailure>(&self) -> Option<&F> {
        let failure: &dyn Any = self.0.as_ref();
        failure.downcast_ref()
    }

    pub fn is<F: EngineFailure>(&self) -> bool {
        self.get::<F>().is_some()
    }

    /// Why an agent may not ask, if that is what failed.
    pub fn ask_refusal(&self) -> Option<&AskRefusal> {
        match self.get() {
            Some(CommandRefusal::MayNotAsk { refusal, .. }) => Some(refusal),
            _ => None,
        }
    }

    /// Whether the task moved on without the attempt that reported; its result is discarded (I16).
    pub fn is_stale(&self) -> bool {
        matches!(self.get(), Some(CommandRefusal::Stale { .. }))
    }
}

impl<F: EngineFailure> From<F> for EngineError {
    fn from(failure: F) -> Self {
        Self(Box::new(failure))
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// Something that users refer to by its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entity {
    Attempt,
    Breakdown,
    Hold,
    Loop,
    Plan,
    Project,
    Question,
    Recipe,
    Routine,
    Run,
    Session,
    Task,
    TaskGroup,
    Token,
}

impl fmt::Display for Entity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Attempt => "attempt",
            Self::Breakdown => "breakdown",
            Self::Hold => "hold",
            Self::Loop => "loop",
            Self::Plan => "plan",
            Self::Project => "project",
            Self::Question => "question",
            Self::Recipe => "recipe",
            Self::Routine => "routine",
            Self::Run => "run",
            Self::Session => "session",
            Self::Task => "task",
            Self::TaskGroup => "task group",
            Self::Token => "token",
        })
    }
}

/// Nothing has this id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no {entity} {key}")]
pub struct NotFound {
    pub entity: Entity,
    pub key: String,
}

impl NotFound {
    pub fn new(entity: Entity, key: impl fmt::Display) -> Self {
        Self { entity, key: key.to_string() }
    }

    pub const EXPLAINED: Explanation = Explanation {
        code: "not_found",
        means: "Nothing of that kind has that name or id.",
        cause: "It is mistyped, or belongs to another repository or namespace. An id may be shortened to any \
                unique prefix.",
        next: "List the existing ones: `baton task list`, `baton questions`, `baton project list`, `baton recipe list`.",
    };
}

impl EngineFailure for NotFound {
    fn kind(&self) -> ErrorKind {
        ErrorKind::NotFound
    }

    fn hint(&self) -> String {
        match self.entity {
            Entity::Question => "see the open questions: baton questions",
            Entity::Plan => "submit one: baton breakdown edit, or let an agent plan: baton breakdown run",
            Entity::Project => "list the projects: baton project list",
            Entity::Hold => "list the holds: baton hold list",
            Entity::Token => "list the tokens: baton token list",
            Entity::Recipe => "list the recipes: baton recipe list",
            Entity::Run => "list the runs: baton recipe runs",
            Entity::Routine => "list the routines: baton routine list",
            Entity::Attempt
            | Entity::Breakdown
            | Entity::Loop
            | Entity::Session
            | Entity::Task
            | Entity::TaskGroup => "list the tasks: baton task list",
        }
        .to_owned()
    }

    fn explained(&self) -> &'static Explanation {
        &Self::EXPLAINED
    }
}

/// A file or folder that Baton needs cannot be created, read or written.
#[derive(Debug, thiserror::Error)]
#[error("cannot use {}: {detail}", path.display())]
pub struct FolderError {
    pub path: PathBuf,
    pub detail: String,
}

impl FolderError {
    pub fn new(path: impl Into<PathBuf>, error: &std::io::Error) -> Self {
        Self { path: path.into(), detail: error.to_string() }
    }

    pub const EXPLAINED: Explanation = Explanation {
        code: "folder",
        means: "Baton cannot use a folder it needs.",
        cause: "The folder cannot be created, read or written: check its owner, its permissions and the disk.",
        next: "Fix the folder, or choose another one with `--state-dir`.",
    };
}

impl EngineFailure for FolderError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Storage
    }

    fn hint(&self) -> String {
        "check that it exists and that you may write there".to_owned()
    }

    fn explained(&self) -> &'static Explanation {
        &Self::EXPLAINED
    }
}
