//! What the store writes: rows, events and effects, and the change that commits them together.
//!
//! Rows with rules of their own live with those rules (tasks, questions, holds …); here are the rest. Nothing here
//! decides: decisions are in [`transition`](crate::transition).

pub mod attachment;
pub mod change;
pub mod effect;
pub mod event;
pub mod project;
pub mod receipt;
pub mod session;
pub mod transition;
