//! Drives one agent process; knows nothing of queues or stores.
//!
//! A [`driver::Driver`] starts an agent in a worktree with a prompt, emits [`driver::AgentEvent`]s while it works, and
//! returns a [`driver::run_result::RunResult`] once its whole process tree is gone. The tree does not outlive Baton
//! ([`process::watchdog`]), and one that does is found at the next start ([`process::tree::end_orphans`]).

pub mod asking;
pub mod driver;
pub mod failure;
pub mod fence;
pub mod output;
pub mod presets;
pub mod probe;
pub mod process;
pub mod protocols;
pub mod report;
mod run;
pub mod scripted;
