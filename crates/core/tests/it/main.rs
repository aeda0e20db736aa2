//! Core's tests that need more than one module: the tables, the invariants, the stable forms.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod ask_cycle;
mod asking;
mod explained;
mod forms;
mod graph;
#[expect(clippy::disallowed_methods, reason = "the rules read no files; a test of the docs has to")]
mod kept_page;
mod landing;
mod phase_loop;
mod phase_work;
mod recipes;
mod reference;
mod results;
mod routines;
mod samples;
mod schedule;
mod states_doc;
mod transitions;
mod world;
mod world_properties;
