//! Taskfile.yml, parsed and run.

pub mod template;
pub mod value;
