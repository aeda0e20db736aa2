//! Where code lives: repositories of projects, clones of remotes, and pushing work to them.
//!
//! Git commands themselves belong to `git`.

pub mod availability;
pub mod error;
pub mod new_project;
pub mod push;
pub mod repositories;
pub mod source;
