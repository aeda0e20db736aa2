//! Why a Taskfile could not be loaded.

use std::path::PathBuf;

use thiserror::Error;

use crate::ast::{DecodeError, SchemaVersion};
use crate::template::TemplateError;
use crate::yaml::{Position, YamlError};

use super::dotenv::DotenvError;

/// Messages are go-task's where go-task has one; [`LoadError::hint`] adds what to do next.
#[derive(Debug, Error)]
pub enum LoadError {
    #[error("{}", not_found(uri, *searched_above, *at_root))]
    NotFound { uri: String, searched_above: bool, at_root: bool },
    #[error("task: cannot read {path}: {source}", path = path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("task: Failed to parse {file}:\n{error}")]
    Yaml { file: String, path: PathBuf, error: YamlError, snippet: String },
    #[error("{error}\nfile: {path}:{line}:{column}\n{snippet}", path = path.display(), line = error.position.line, column = error.position.column)]
    Decode { path: PathBuf, error: DecodeError, snippet: String },
    #[error("task: Missing schema version in Taskfile \"{0}\"", path.display())]
    MissingVersion { path: PathBuf },
    #[error("task: Invalid schema version in Taskfile \"{location}\":\nSchema version ({version}) {reason}")]
    Version { location: String, version: SchemaVersion, reason: String },
    #[error("task: Taskfiles versions should match. First is \"{first}\" but second is \"{second}\"")]
    VersionMismatch { first: SchemaVersion, second: SchemaVersion },
    /// The files of the cycle, with the first repeated at the end.
    #[error("task: include cycle detected between {} <--> {}", path.first().map_or("", String::as_str), path.get(1).map_or("", String::as_str))]
    IncludeCycle { path: Vec<String> },
    #[error(
        "task: The checksum of the Taskfile at {path:?} does not match!\ngot: {actual:?}\nwant: {expected:?}"
    )]
    Checksum { path: String, actual: String, expected: String },
    #[error(
        "task: Download of {uri:?} failed: remote Taskfiles are not supported. Save the file in the project and include it by its path"
    )]
    Remote { uri: String },
    #[error("task: Found multiple tasks ({task}) included by \"{include}\"\"")]
    TaskClash { task: String, include: String },
    #[error(
        "task: Included Taskfiles can't have dotenv declarations. Please, move the dotenv declaration to the main Taskfile"
    )]
    IncludedDotenv,
    #[error("{0}")]
    Template(#[from] TemplateError),
    #[error("{0}")]
    Dotenv(#[from] DotenvError),
    #[error("task: output style {name:?} not recognized")]
    OutputStyle { name: String },
    #[error("task: the Taskfile at {path} exceeds a limit: {what}", path = path.display())]
    Limit { path: PathBuf, what: String },
}

impl LoadError {
    /// go-task's exit code for this error.
    pub fn code(&self) -> i32 {
        match self {
            LoadError::NotFound { .. } => 100,
            LoadError::Decode { .. } => 102,
            LoadError::Remote { .. } => 103,
            LoadError::MissingVersion { .. } | LoadError::Version { .. } => 107,
            LoadError::Yaml { .. } => 109,
            LoadError::IncludeCycle { .. } => 110,
            LoadError::Checksum { .. } => 111,
            LoadError::TaskClash { .. } => 203,
            LoadError::Read { .. }
            | LoadError::VersionMismatch { .. }
            | LoadError::IncludedDotenv
            | LoadError::Template(_)
            | LoadError::Dotenv(_)
            | LoadError::OutputStyle { .. }
            | LoadError::Limit { .. } => 1,
        }
    }

    /// The position of the error, if it has one.
    pub fn position(&self) -> Option<Position> {
        match self {
            LoadError::Yaml { error, .. } => Some(error.position),
            LoadError::Decode { error, .. } => Some(error.position),
            _ => None,
        }
    }

    /// Details beyond the message: the position in the file, the files of a cycle.
    pub fn hint(&self) -> Option<String> {
        match self {
            LoadError::Yaml { path, error, snippet, .. } => Some(format!(
                "{}:{}:{}\n{snippet}",
                path.display(),
                error.position.line,
                error.position.column
            )),
            LoadError::IncludeCycle { path } => Some(format!("include cycle: {}", path.join(" → "))),
            LoadError::OutputStyle { .. } => Some("known styles: interleaved, group, prefixed".to_owned()),
            _ => None,
        }
    }
}

fn not_found(uri: &str, searched_above: bool, at_root: bool) -> String {
    let above = if searched_above { " (or any of the parent directories)." } else { "" };
    let init = if at_root { " Run `task --init` to create a new Taskfile." } else { "" };
    format!("task: No Taskfile found at {uri:?}{above}{init}")
}
