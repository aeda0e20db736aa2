//! The rules of Baton, as values.
//!
//! Everything the product promises is decided here, and nothing is done here: no files, no network, no
//! clock, no randomness. A rule takes the state, what happened and the time, and returns the new state
//! with the events that tell of it and the effects the engine must carry out, or a refusal that says why.

pub mod actor;
pub mod breakdown;
pub mod exit_reason;
pub mod git_name;
pub mod graph;
pub mod id;
pub mod outcome;
pub mod outcome_parser;
pub mod priority;
pub mod project;
pub mod question;
pub mod rebreakdown;
pub mod recipe;
pub mod reminder;
pub mod run;
pub mod schedule;
pub mod task_type;
pub mod text;
pub mod time;
