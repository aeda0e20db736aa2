//! Errors in a YAML document itself.

use thiserror::Error;

use super::node::Position;

/// Invalid or oversized YAML. The message is the one go-task prints; the position is exact, where go-task only names
/// a line.
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
