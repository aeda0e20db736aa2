//! Running one agent from start to end: reading its output, enforcing limits, counting turns, summing up.
//!
//! The same for every agent. What differs between agents is a [`protocol`] and lives in `protocols`.

pub(crate) mod conversation;
pub(crate) mod dialogue;
pub(crate) mod event_queue;
mod open_calls;
pub(crate) mod output_reader;
pub(crate) mod protocol;
pub(crate) mod record;
pub(crate) mod start;
mod steering;
pub(crate) mod summary;
pub(crate) mod transcript;
