//! JSON views of responses. Task views are in the engine, because the command line uses them too.

pub mod conversation;
pub mod group;
pub mod health;
pub mod page;
pub mod project;
pub mod recipe;
pub mod report;
pub mod transition;
