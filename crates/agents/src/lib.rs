//! Drives one agent process; knows nothing of queues or stores.
//!
//! A [`driver::Driver`] is launched with a worktree and a prompt, tells what the agent does as
//! [`driver::Event`]s, and returns an [`ended::Ended`] when nothing of the agent runs any more. The process
//! tree is owned as a whole, and found again after a crash ([`tree::end_orphans`]).

pub mod command;
pub mod driver;
pub mod ended;
pub mod environment;
pub mod errand;
pub mod excerpt;
mod heard;
mod hearing;
pub mod identity;
pub mod lines;
pub mod log;
mod outbox;
mod process;
mod process_table;
pub mod report;
pub mod scripted;
pub mod tree;
