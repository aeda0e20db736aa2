//! The rules of Baton, as values.
//!
//! Everything the product promises is decided here, and nothing is done here: no files, no network, no
//! clock, no randomness. A rule takes the state, what happened and the time, and returns the new state
//! with the events that tell of it and the effects the engine must carry out, or a refusal that says why.

pub mod ask;
pub mod base;
pub mod graph;
pub mod limits;
pub mod people;
pub mod phase;
pub mod recipe;
pub mod records;
pub mod recycle;
pub mod schedule;
pub mod task;
pub mod transition;
