//! The Plan → Execute → Review loop through the real binary, with the scripted agent in every phase.

mod breaking_off;
mod checklist;
mod racing;
pub mod round;
mod speaking;
mod staying;
mod terminal;
mod transitions;
mod ways;
