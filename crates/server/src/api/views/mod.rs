//! What answers look like. A task's own shapes are the engine's, because the command line prints the same.

pub mod conversation;
pub mod group;
pub mod health;
pub mod page;
pub mod project;
pub mod recipe;
pub mod report;
pub mod transition;
