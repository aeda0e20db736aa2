//! The Plan → Execute → Review loop through the real binary, with the scripted agent in every phase.

mod checklist;
mod dependencies;
mod entry_points;
pub(crate) mod fixture;
mod interrupts;
mod messages;
mod one_place;
mod queue;
mod records;
mod remarks;
pub(crate) mod stopping;
mod terminal;
mod transitions;
mod within_a_phase;
