//! What is wrong with a YAML document before anything is decoded from it.

use thiserror::Error;

use super::node::Position;

/// A document that is no YAML, or too much of it. The text is the one go-task's parser would print;
/// the position is exact, where go-task only names a line.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("yaml: {message}")]
pub struct YamlError {
    pub message: String,
    pub position: Position,
}

impl YamlError {
    pub(super) fn at(position: Position, message: impl Into<String>) -> YamlError {
        YamlError { message: message.into(), position }
    }
}
