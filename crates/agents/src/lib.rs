//! Drives one agent process; knows nothing of queues or stores.
//!
//! A [`driver::Driver`] is launched with a worktree and a prompt, tells what the agent does as
//! [`driver::Event`]s, and returns an [`ended::Ended`] when nothing of the agent runs any more. The process
//! tree is owned as a whole, and found again after a crash ([`tree::end_orphans`]).

pub mod acp;
pub mod asker;
pub mod command;
mod conversation;
pub mod driver;
pub mod drivers;
pub mod ended;
pub mod environment;
pub mod errand;
pub mod excerpt;
pub mod failure;
mod heard;
mod hearing;
pub mod identity;
pub mod kind;
pub mod lines;
pub mod log;
pub mod native;
mod outbox;
pub mod permission;
mod pipe;
pub mod preset;
pub mod presets;
pub mod probe;
pub mod process;
mod process_table;
mod questions;
mod record;
pub mod report;
pub mod scripted;
pub mod setup;
mod start;
pub mod stop_reason;
mod talk;
mod tongue;
pub mod tool_call;
pub mod tool_server;
pub mod tree;
pub mod usage;
mod waiting;
