//! Small helpers without rules of their own: ids, redaction, YAML with positions.

pub mod error;
pub mod ids;
pub mod redaction;
pub mod refusals;
