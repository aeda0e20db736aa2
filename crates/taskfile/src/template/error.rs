//! What was wrong with a template, and where: in Go's words, since people know them.

/// A template that cannot be read, or that failed while it was rendered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TemplateError {
    /// Go's whole line: `template: :2:8: executing "" at <.N>: …`.
    pub message: String,
    /// The line in the template's text, from 1.
    pub line: usize,
    /// The byte column in that line, from 0, as Go counts it; a text that cannot be read has none.
    pub column: Option<usize>,
}
