//! Template errors, in Go's words.

/// A template that failed to parse or to render.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TemplateError {
    /// Go's full message: `template: :2:8: executing "" at <.N>: …`.
    pub message: String,
    /// The line in the template's text, from 1.
    pub line: usize,
    /// The byte column in that line, from 0 as in Go; parse errors have none.
    pub column: Option<usize>,
}
