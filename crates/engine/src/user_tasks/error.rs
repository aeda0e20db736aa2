//! Why a user task was not run at all. A task that ran and failed is no error here.

use crate::base::error::ErrorKind;
use crate::base::refusals::failure;
use baton_taskfile::LoadError;

use crate::user_tasks::TASKFILE;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UserTaskError {
    #[error("there is no {TASKFILE} here")]
    NoTaskfile,
    #[error("{0}")]
    Unreadable(String),
    #[error("{}; {}", unknown(name), available(names))]
    Unknown { name: String, names: Vec<String> },
    #[error("a quote in args does not end")]
    OpenQuote,
    #[error("args cannot contain a NUL character")]
    NulInArgs,
    /// Each with its place in the file.
    #[error("{TASKFILE} has keys that are not known:\n{}", .0.join("\n"))]
    UnknownKeys(Vec<String>),
    #[error("{TASKFILE} is new or has changed, and nobody has said yet that it may run")]
    Untrusted,
    #[error("{path} cannot be used: {detail}")]
    Folder { path: String, detail: String },
    #[error("the fence of the user task was not built: {0}")]
    NotFenced(String),
    #[error("the run was lost: {0}")]
    Lost(String),
}

impl UserTaskError {
    pub fn hint(&self) -> String {
        match self {
            Self::NoTaskfile => format!("write your commands into {TASKFILE} (https://taskfile.dev)"),
            Self::Unreadable(_) => format!("fix {TASKFILE} and try again"),
            Self::Unknown { .. } => "see what there is: baton tasks".to_owned(),
            Self::OpenQuote => "close it, or put a backslash before it".to_owned(),
            Self::NulInArgs => "leave it out: no program can receive it as an argument".to_owned(),
            Self::UnknownKeys(_) => format!("fix the keys in {TASKFILE}, or begin them with x-"),
            Self::Untrusted => "a person reads the file and then says: baton tasks --trust".to_owned(),
            Self::Folder { .. } => "check that it exists and that you may write there".to_owned(),
            Self::NotFenced(_) => {
                "baton doctor says what is missing; fence = \"auto\" does with what there is".to_owned()
            }
            Self::Lost(_) => "try again".to_owned(),
        }
    }
}

impl From<LoadError> for UserTaskError {
    fn from(error: LoadError) -> Self {
        Self::Unreadable(error.to_string())
    }
}

fn unknown(name: &str) -> String {
    if name.is_empty() { "no task is named".to_owned() } else { format!("there is no user task '{name}'") }
}

fn available(names: &[String]) -> String {
    if names.is_empty() {
        format!("{TASKFILE} has no task with a description")
    } else {
        format!("the tasks are {}", names.join(", "))
    }
}

failure! {
    UserTaskError { |it|
        kind: match it {
            Self::NoTaskfile | Self::Unknown { .. } => ErrorKind::NotFound,
            Self::OpenQuote | Self::NulInArgs => ErrorKind::InvalidInput,
            Self::Unreadable(_) | Self::UnknownKeys(_) | Self::Untrusted => ErrorKind::Conflict,
            Self::Folder { .. } | Self::NotFenced(_) | Self::Lost(_) => ErrorKind::Internal,
        },
        hint: it.hint(),
        explained: it.explained(),
    }
}
