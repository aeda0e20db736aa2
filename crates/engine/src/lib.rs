//! The only loop: claim, run, settle. Rules are core's; here they happen.

pub mod acceptor;
pub mod agent_settings;
mod asker;
pub mod asking;
pub mod attempt_log;
pub mod budgets;
pub mod checks;
pub mod code;
pub mod courier;
pub mod desk;
pub mod dispatcher;
pub mod doctor;
pub mod engine;
pub mod error;
pub mod executor;
pub mod fleet_size;
pub mod foresight;
pub mod gate;
pub mod graph_view;
pub mod handing_in;
mod head_start;
pub mod heartbeat;
pub mod holds;
pub mod http_client;
pub mod ids;
pub mod import;
pub mod intakes;
#[cfg(test)]
#[path = "../../core/tests/it/kept_page.rs"]
mod kept_page;
pub mod lineage;
pub mod log_relay;
pub mod looping;
pub mod mailbox;
pub mod new_project;
pub mod not_started;
pub mod notifier;
pub mod people;
pub mod permissions;
pub mod place;
pub mod post;
pub mod posting;
pub mod project_report;
pub mod projects_here;
pub mod prompt;
pub mod pruner;
pub mod recipes;
pub mod recycler;
pub mod redaction;
pub mod repositories;
pub mod rescuer;
pub mod retention;
pub mod runner;
pub mod running;
pub mod runs;
pub mod settings;
pub mod settings_layers;
pub mod stewardship;
pub mod stocker;
pub mod store_address;
pub mod survey;
pub mod timekeeper;
pub mod turn;
pub mod user_tasks;
pub mod view;
pub mod worker_view;
pub mod workshop;
pub mod worktree;
pub mod yaml;

/// What clients outside read; they know the engine and not the store.
pub use baton_store::recorded::Recorded;

/// Who a process is, also after a restart: a server file names one.
pub use baton_agents::identity;
/// The commands reach agents through the engine; this one is an agent.
pub use baton_agents::scripted;
/// What the server reads rows with. It writes through the desk alone.
pub use baton_store::{Store, query};
/// The command line of Taskfiles, for a program that is called by the name of `task`.
pub use baton_taskfile::cli as task_cli;
/// What a store can answer, for those who turn it into something people read.
pub mod store_error {
    pub use baton_store::StoreError;
    pub use baton_store::commit::Conflict;
}
