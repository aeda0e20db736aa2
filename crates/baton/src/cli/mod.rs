//! The command line: every command, its arguments, its help, and its shell completion.
//!
//! Definitions only. What a command does is in `commands`.

pub mod breakdowns;
pub mod chat;
mod command;
pub(crate) mod completion;
pub mod demo;
pub mod edit;
pub mod export;
pub mod holds;
pub mod loops;
pub mod projects;
pub mod questions;
pub mod recipes;
pub mod shell;
pub mod store;
pub mod tasks;
pub mod tokens;
pub mod transfer;
pub mod up;
pub mod verdicts;
pub mod workers;

use clap::Parser;

use crate::options::GlobalOptions;

pub use crate::cli::command::CliCommand;

/// A durable orchestrator for coding agents.
#[derive(Debug, Parser)]
#[command(
    name = "baton",
    version,
    about,
    arg_required_else_help = true,
    after_help = "Examples:\n  baton demo                          a two-minute tour in your browser\n  baton init                          \
                  set up this repository\n  baton task add \"Fix the login\"       add a task\n  baton up                            \
                  run agents and the web UI until Ctrl-C\n\nRun baton COMMAND --help for examples. Errors name a code: baton explain CODE."
)]
pub struct Cli {
    #[command(flatten)]
    pub common: GlobalOptions,
    #[command(subcommand)]
    pub command: CliCommand,
}
