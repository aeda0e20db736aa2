//! One attempt of one task: worktree, prompt, agent run, evidence, settlement.
//!
//! Claiming the task belongs to `dispatch`; what happens after acceptance belongs to `landing`.

pub mod agent_run;
pub(crate) mod agent_trace;
pub(crate) mod assignment;
pub(crate) mod attachments;
pub mod breakdown_prompt;
pub mod context;
pub(crate) mod drive;
pub(crate) mod ending;
pub(crate) mod environment;
pub mod error;
pub(crate) mod evidence;
pub mod executor;
pub(crate) mod fencing;
pub(crate) mod history;
mod hooks;
pub mod host;
mod instruction;
pub(crate) mod journal;
pub(crate) mod launch;
mod loop_history;
pub mod mailbox;
mod memory_quota;
mod met_changes;
pub(crate) mod progress;
mod project_hold;
pub mod prompt;
pub(crate) mod question_relay;
pub(crate) mod run_usage;
pub mod runner;
pub(crate) mod services;
pub(crate) mod settlement;
mod size_quota;
pub(crate) mod steering;
pub(crate) mod steps;
pub mod takeover;
pub(crate) mod turns;
pub(crate) mod unusable;
mod without_tools;
