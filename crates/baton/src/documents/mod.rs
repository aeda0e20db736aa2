//! Documents a person edits in a text editor: a task, and a plan.
//!
//! Each module writes a document and parses it back, with the line of every mistake. Opening the editor is
//! `terminal::editor`'s job; what a changed document does is up to the command.

pub(crate) mod plan;
pub(crate) mod task;
