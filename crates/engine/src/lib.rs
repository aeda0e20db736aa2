//! The only loop: claim, run, settle. Rules are core's; here they happen.

pub mod desk;
pub mod error;
pub mod ids;
pub mod place;
pub mod prompt;
pub mod recycler;
pub mod rescuer;
pub mod running;
pub mod settings;
pub mod view;
