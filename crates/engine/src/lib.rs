//! The only loop: claim, run, settle. Rules are core's; here they happen.

pub mod acceptor;
pub mod checks;
pub mod courier;
pub mod desk;
pub mod dispatcher;
pub mod engine;
pub mod error;
pub mod graph_view;
pub mod ids;
pub mod intakes;
pub mod place;
pub mod prompt;
pub mod pruner;
pub mod recycler;
pub mod repositories;
pub mod rescuer;
pub mod retention;
pub mod runner;
pub mod running;
pub mod settings;
pub mod stocker;
pub mod store_address;
pub mod view;
pub mod workshop;
pub mod worktree;

/// The commands reach agents through the engine; this one is an agent.
pub use baton_agents::scripted;
