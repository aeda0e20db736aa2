//! The only loop: claim, run, settle. Rules are core's; here they happen.

pub mod asking;
pub mod attempt;
pub mod base;
pub mod cluster;
pub mod dispatch;
pub mod git;
pub mod import;
#[cfg(test)]
#[path = "../../core/tests/it/kept_page.rs"]
mod kept_page;
pub mod landing;
pub mod limits;
pub mod people;
pub mod projects;
pub mod reports;
pub mod runs;
pub mod services;
pub mod settings;
pub mod tasks;
pub mod user_tasks;

/// What clients outside read; they know the engine and not the store.
pub use baton_store::model::event::StoredEvent;

/// Starts agents inside fences and control groups and below keepers; the binary has to host these programs.
pub use baton_agents::fence;
/// Which attempt a process or a connection belongs to.
pub use baton_agents::process::peer;
/// Keeps agents out of the process that runs them.
pub use baton_agents::process::secrecy;
pub use baton_agents::process::{cgroup, keeper};

/// Who a process is, also after a restart: a server file names one.
pub use baton_agents::process::identity;
/// Ends the agents of a Baton that was killed; the binary has to host it.
pub use baton_agents::process::watchdog;
/// The commands reach agents through the engine; this one is an agent.
pub use baton_agents::scripted;
/// What the server reads rows with. It writes through the services of the engine only.
pub use baton_store::Store;
pub use baton_store::latency;
pub use baton_store::model::query;
/// The command line of Taskfiles, for a program that is called by the name of `task`.
pub use baton_taskfile::cli as task_cli;
/// YAML as a tree with positions, for the commands that read files people write.
pub mod yaml {
    pub use baton_taskfile::Value;
    pub use baton_taskfile::yaml::{Position, YamlError, YamlKind, YamlNode, parse_strict};
}
/// What a store can answer, for those who turn it into something people read.
pub mod store_error {
    pub use baton_store::StoreError;
    pub use baton_store::model::commit::Conflict;
    pub use baton_store::model::record_kind::RecordKind;
}
