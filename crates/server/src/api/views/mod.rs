//! JSON views of responses. Task views are in the engine, because the command line uses them too.

pub(crate) mod conversation;
pub(crate) mod group;
pub(crate) mod health;
pub(crate) mod message;
pub(crate) mod page;
pub(crate) mod project;
pub(crate) mod recipe;
pub(crate) mod report;
pub(crate) mod routine;
pub(crate) mod transition;
