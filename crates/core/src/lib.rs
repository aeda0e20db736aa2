//! The rules of Baton, as values.
//!
//! Everything the product promises is decided here, and nothing is done here: no files, no network, no clock, no
//! randomness. A rule takes the state, an input and the time, and returns the new state with its events and the effects
//! the engine must perform, or a refusal that says why not.
//!
//! The folders form a DAG, lowest first: [`base`]; [`people`], [`graph`], [`schedule`]; [`ask`]; [`recycle`]; [`task`],
//! [`phase`], [`recipe`]; [`landing`], [`limits`], [`routine`]; [`records`]; [`transition`].

pub mod ask;
pub mod base;
pub mod graph;
pub mod landing;
pub mod limits;
pub mod people;
pub mod phase;
pub mod recipe;
pub mod records;
pub mod recycle;
pub mod routine;
pub mod schedule;
pub mod task;
pub mod transition;
