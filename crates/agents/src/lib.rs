//! Drives one agent process; knows nothing of queues or stores.
//!
//! A [`driver::Driver`] is launched with a worktree and a prompt, tells what the agent does as
//! [`driver::Event`]s, and returns an [`crate::driver::run_result::Ended`] when nothing of the agent runs any more. The process
//! tree is owned as a whole, and found again after a crash ([`crate::process::tree::end_orphans`]).

pub mod asking;
pub mod driver;
pub mod failure;
pub mod output;
pub mod presets;
pub mod probe;
pub mod process;
pub mod protocols;
pub mod report;
mod run;
pub mod scripted;
