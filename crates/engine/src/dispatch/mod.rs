//! Claiming ready tasks and starting an attempt for each.
//!
//! The order of claims is core's; running the attempt belongs to `attempt`.

pub mod dispatcher;
pub(crate) mod head_start;
pub mod not_started;
pub(crate) mod runners;
